"""The catalogue: what each metric is, and what can be done about it. Values and pure functions."""
