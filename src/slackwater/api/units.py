"""
Units are types: a number that crosses a function boundary says what it counts.

The types cost nothing at run time. Times come in two kinds that must never be mixed: an `Instant` is on the agent's own clock, which never runs
backwards and goes on across restarts; a `Wall` is what a calendar says, and may jump.
"""

from typing import NewType

Millicores = NewType("Millicores", int)
Bytes = NewType("Bytes", int)
Nanoseconds = NewType("Nanoseconds", int)
Microseconds = NewType("Microseconds", int)
Seconds = NewType("Seconds", float)
Instant = NewType("Instant", float)
"""Seconds on the agent's clock."""
Wall = NewType("Wall", float)
"""Seconds since the epoch, UTC."""
Percent = NewType("Percent", float)
"""0-100, of whatever the name beside it says."""
Amount = NewType("Amount", float)
"""So much of a metric, in that metric's own unit."""
Shares = NewType("Shares", int)
"""A CPU weight as cgroup v1 counts it, 2 to 262144; a v2 driver converts."""

LOWEST_SHARES = Shares(2)
HIGHEST_SHARES = Shares(262144)
