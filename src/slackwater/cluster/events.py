"""
Events of a folder cluster: the newest thousand, one JSON object a line.

The same thing said again within a few minutes is said once: a tick repeats itself every few seconds, and a file of a thousand equal lines tells nothing. An event that
cannot be written is counted and never raised, for nothing the agent does may hang on being able to say so.
"""

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from slackwater.api.units import Instant, Seconds, Wall
from slackwater.cluster.edge import Event
from slackwater.cluster.ledger import replace

KEPT = 1000
QUIET = Seconds(300.0)  # how long a repetition is not worth a line
BETWEEN_WRITES = Seconds(1.0)  # a burst of events is written once


class EventLog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._events: deque[Event] = deque(_read(path), maxlen=KEPT)
        self._said: dict[tuple[str, str, str], Wall] = {}
        self._unwritten = False
        self._written_at: Instant | None = None
        self.failures = 0  # writes that did not succeed, since the start

    def add(self, event: Event, now: Instant) -> None:
        if self._repeats(event):
            return
        self._events.append(event)
        self._unwritten = True
        if self._written_at is None or now - self._written_at >= BETWEEN_WRITES:
            self.flush(now)

    def flush(self, now: Instant) -> None:
        if not self._unwritten:
            return
        self._written_at = now
        try:
            replace(self._path, b"".join(msgspec.json.encode(event) + b"\n" for event in self._events))
        except OSError:
            self.failures += 1  # what is kept in memory goes out with the next one
        else:
            self._unwritten = False

    def _repeats(self, event: Event) -> bool:
        key = (event.object, event.reason, event.message)
        last = self._said.get(key)
        # A calendar that ran backwards makes the difference negative: then it is news again.
        if last is not None and 0 <= event.at - last < QUIET:
            return True
        if len(self._said) >= KEPT:
            del self._said[next(iter(self._said))]
        self._said[key] = event.at
        return False


def _read(path: Path) -> Iterator[Event]:
    """What an earlier agent left; a line that is none of ours is dropped."""
    try:
        lines = path.read_bytes().splitlines()[-KEPT:]
    except OSError:
        return
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Event)
        except msgspec.MsgspecError:
            continue
