"""Rules and their states: what is bad, for how long, and what that makes of a rule. Pure."""
