"""
The clock a host stamps its samples with.

It is handed in, so that tests and the simulator keep time themselves. The host only reads it; keeping it from running backwards across a restart is its owner's business.
"""

from typing import Protocol

from slackwater.api.units import Instant, Wall


class Clock(Protocol):
    def instant(self) -> Instant: ...

    def wall(self) -> Wall: ...
