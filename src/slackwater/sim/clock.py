"""
Time in a simulation: it goes on only when it is told to.

The machine's monotonic clock and the calendar are two, as on a real machine: a simulation may set the calendar forward or back, and nothing may come of it. Each life of the
agent has a clock of its own made of them, exactly as the real one; the host stamps its samples with that of the life that runs.
"""

from slackwater.agent.clock import AgentClock
from slackwater.api.units import Instant, Seconds, Wall

SINCE_BOOT = 1_000.0


class SimulatedClock:
    """Implements the clock of the edges."""

    def __init__(self, start: Wall) -> None:
        self._monotonic = SINCE_BOOT
        self._calendar = float(start)
        self._of_agent = self.begin_life()

    @property
    def elapsed(self) -> Seconds:
        """Since the simulation began."""
        return Seconds(self._monotonic - SINCE_BOOT)

    def advance(self, by: Seconds) -> None:
        self._monotonic += by
        self._calendar += by

    def jump(self, by: Seconds) -> None:
        """The calendar alone; either way."""
        self._calendar += by

    def begin_life(self) -> AgentClock:
        """What an agent that starts now tells time by."""
        self._of_agent = AgentClock(lambda: self._monotonic, lambda: self._calendar)
        return self._of_agent

    def instant(self) -> Instant:
        return self._of_agent.instant()

    def wall(self) -> Wall:
        return Wall(self._calendar)
