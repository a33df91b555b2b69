"""
What a command's exit code says. Scripts are written against these four, so nothing ever leaves with another one.

Python would answer an unexpected exception with 1, which here means "what you asked does not hold"; `cli.main` therefore turns it into `NOT_POSSIBLE` and says how to
see the traceback.
"""

DONE = 0
DOES_NOT_HOLD = 1
"""What was asked is not so: a bad manifest, a drift, another agent that runs."""
USED_WRONGLY = 2
"""An unknown flag or key, a value out of its range, a file that is not there."""
NOT_POSSIBLE = 3
"""The machine does not permit it: no root, no cgroups, a full disk."""

MEANINGS = {
    DONE: "done",
    DOES_NOT_HOLD: "what was asked does not hold (a bad manifest, a drift, another agent runs)",
    USED_WRONGLY: "used wrongly (an unknown flag or key, a value out of its range)",
    NOT_POSSIBLE: "the machine does not permit it, or something unexpected happened",
}
