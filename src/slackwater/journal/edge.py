"""
What the agent hands to its journal, and what it gets back at the next start.

A tick is committed *before* it acts, with everything its decisions can be computed from again; what was measured of earlier decisions goes with it. The agent's own state is
opaque bytes here. A commit that fails raises `Unwritable`; the tick goes on, and the agent says so.
"""

from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Instant, Wall
from slackwater.decide.plan import Decision, Measurement
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.view import View


class Unwritable(Exception):
    """The journal could not be written; the message says why and what to do."""


class Entry(Struct, frozen=True, kw_only=True):
    """One tick."""

    at: Wall
    instant: Instant
    sample: HostSample | None  # None: the host could not be read
    view: View  # kept only when it differs from the one before
    memory: bytes  # what the agent carries from this tick to the next
    decisions: tuple[Decision, ...] = ()
    measurements: tuple[Measurement, ...] = ()


class Kept(Struct, frozen=True):
    """What the last committed tick left."""

    at: Wall
    instant: Instant
    memory: bytes
    view: View | None  # the last one that was kept


class Journal(Protocol):
    def last(self) -> Kept | None: ...

    def commit(self, entry: Entry) -> None:
        """Durable against a crash of the agent when it returns. Raises Unwritable."""

    def amend(self, measurements: tuple[Measurement, ...]) -> None:
        """What came of the acting itself (refusals), after the commit. Raises Unwritable."""

    def close(self) -> None: ...
