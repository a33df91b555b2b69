"""
What every pod of a lab stands on: its folder, its place in the hierarchies, and the record of what happened.

A value handed down from the supervisor; the only thing in it that changes is the list of events, which is bounded.
"""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.units import Instant, Wall
from slackwater.cluster.edge import Event
from slackwater.cluster.ledger import replace, state_folder
from slackwater.host.layout import Layout
from slackwater.lab.lifecycle import BackOff
from slackwater.lab.limits import Capacity
from slackwater.lab.trees import Trees

_KEPT_EVENTS = 500


class Clock(Struct, frozen=True):
    now: Callable[[], Instant] = lambda: Instant(time.monotonic())
    wall: Callable[[], Wall] = lambda: Wall(time.time())


def events_file(cluster: Path) -> Path:
    """One JSON Event a line, as in the cluster's own file; written by the lab only."""
    return state_folder(cluster) / "lab-events.jsonl"


def read_events(file: Path) -> list[Event]:
    """Nothing where there is no such file. Raises msgspec.MsgspecError on one that is not ours."""
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    return [msgspec.json.decode(line, type=Event) for line in lines if line]


def _earlier(file: Path) -> list[Event]:
    try:
        return read_events(file)
    except msgspec.MsgspecError:  # a file that nobody can read is not worth a lab that does not start
        return []


class Events:
    """The newest events; written out when there is something new."""

    def __init__(self, cluster: Path, clock: Clock) -> None:
        self._file = events_file(cluster)
        self._clock = clock
        self._kept: deque[Event] = deque(_earlier(self._file), maxlen=_KEPT_EVENTS)
        self._written = True

    def tell(self, about: str, reason: str, message: str, *, warning: bool = False) -> None:
        self._kept.append(Event(at=self._clock.wall(), reason=reason, message=message, object=about, warning=warning))
        self._written = False

    def write(self) -> None:
        if not self._written:
            replace(self._file, b"".join(msgspec.json.encode(event) + b"\n" for event in self._kept))
            self._written = True


class Ground(Struct, frozen=True, kw_only=True):
    cluster: Path
    trees: Trees
    layout: Layout
    root: str  # below every hierarchy
    capacity: Capacity
    events: Events
    clock: Clock = Clock()
    back_off: BackOff = BackOff()

    def group(self, path: str) -> str:
        return f"{self.root}/{path}"
