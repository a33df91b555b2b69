"""
What a group's weight file holds for given shares: arithmetic that the runtimes have fixed, one rule for each cgroup version.

Shares are cgroup v1's unit and the one the house counts in. For v2 this is the linear rule that kubelet and runc have used for years; runtimes since runc 1.3.2 use another
one, and then what was found in the file is remembered in the mark, not computed here.
"""

from slackwater.api.units import HIGHEST_SHARES, LOWEST_SHARES, Shares

LOWEST_WEIGHT, HIGHEST_WEIGHT = 1, 10_000
"""Of cgroup v2."""


def v1_weight(shares: Shares) -> int:
    """The kernel clamps, silently."""
    return max(LOWEST_SHARES, min(HIGHEST_SHARES, shares))


def v2_weight(shares: Shares) -> int:
    span = HIGHEST_SHARES - LOWEST_SHARES
    return LOWEST_WEIGHT + (v1_weight(shares) - LOWEST_SHARES) * (HIGHEST_WEIGHT - LOWEST_WEIGHT) // span
