"""
A journal in memory: what the agent commits is what the next life of it finds.

It can be lost as a file can be deleted, and refuse to be written as a full disk does. It keeps the decisions with what was measured of them, and the last tick; not the
samples, for days are simulated.
"""

from slackwater.decide.plan import Decision, Measurement
from slackwater.journal.edge import Entry, Kept, Unwritable
from slackwater.journal.measuring import folded


class MemoryJournal:
    """Implements Journal."""

    def __init__(self) -> None:
        self.refuses = False
        self.commits = 0
        self._kept: Kept | None = None
        self._decisions: dict[str, Decision] = {}

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Oldest first."""
        return tuple(self._decisions.values())

    def lose(self) -> None:
        self._kept = None
        self._decisions = {}

    def last(self) -> Kept | None:
        return self._kept

    def commit(self, entry: Entry) -> None:
        self._answer()
        self.commits += 1
        self._kept = Kept(entry.at, entry.instant, entry.memory, entry.view)
        self._decisions.update((decision.id, decision) for decision in entry.decisions)
        self._measured(entry.measurements)

    def amend(self, measurements: tuple[Measurement, ...]) -> None:
        self._answer()
        self._measured(measurements)

    def close(self) -> None:
        pass

    def _answer(self) -> None:
        if self.refuses:
            raise Unwritable("the journal's disk is full; the agent goes on without it")

    def _measured(self, measurements: tuple[Measurement, ...]) -> None:
        for measurement in measurements:
            decision = self._decisions.get(measurement.decision)
            if decision is not None:
                self._decisions[decision.id] = folded(decision, measurement)
