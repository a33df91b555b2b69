"""The record: what was seen, judged, decided and done, and why; bounded, and readable while the agent runs."""
