"""
The agent's own clock: it never runs backwards, and it goes on across restarts.

The machine's monotonic clock begins anew with the machine and a calendar jumps, so neither can carry a cool-down over a
restart. This one begins where the journal says it was, plus the time the agent was away by the calendar; a calendar
that ran backwards meanwhile counts as no time at all.
"""

import time
from collections.abc import Callable

from slackwater.api.units import Instant, Wall


class AgentClock:
    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, calendar: Callable[[], float] = time.time
    ) -> None:
        self._monotonic = monotonic
        self._calendar = calendar
        self._offset = calendar() - monotonic()

    def go_on_from(self, instant: Instant, wall: Wall) -> None:
        """As the last tick before this start had them."""
        away = max(0.0, self._calendar() - wall)
        self._offset = instant + away - self._monotonic()

    def instant(self) -> Instant:
        return Instant(self._offset + self._monotonic())

    def wall(self) -> Wall:
        return Wall(self._calendar())
