"""
The journal as others read it: `explain`, replay, and the agent itself at its start.

A reader changes nothing, needs no agent, and disturbs none: it holds no transaction open between two calls, so the agent's log can always be folded back into its
file. Where the folder may not be written, a file that was closed properly is read as it stands; one with a log beside it is copied away and read there.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from slackwater.api.units import Instant, Wall
from slackwater.decide.plan import Decision
from slackwater.journal import blocks, faults, schema
from slackwater.journal.edge import Entry, Kept
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.view import View

_READ_SECONDS = 2.0
_BATCH = 64
_ALWAYS = Wall(float("-inf"))
_FOREVER = Wall(float("inf"))
_TICK = "ticks.id, ticks.wall, instant, sample, memory, ticks.view"
_decision = msgspec.json.Decoder(Decision)
_sample = msgspec.msgpack.Decoder(HostSample)
_view = msgspec.msgpack.Decoder(View)

T = TypeVar("T")


class Unreadable(Exception):
    """The journal could not be read; the message says why."""


class Absent(Unreadable):
    """There is no journal there."""


class Reader:
    """Raises Unreadable from every method, and Absent at once where there is no file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._connection = self._open()

    def decisions(self, since: Wall | None = None, pod: str | None = None) -> list[Decision]:
        """Oldest first. A pod is a name or namespace/name; a decision is about all the pods it looked at."""
        rows = self._ask(
            lambda connection: connection.execute(
                "SELECT body FROM decisions WHERE wall >= ? ORDER BY number", (_ALWAYS if since is None else since,)
            ).fetchall()
        )
        try:
            told = [_decision.decode(body) for (body,) in rows]
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Unreadable(
                f"the journal {self._path} cannot be read: a decision in it is damaged ({error})"
            ) from error
        return [decision for decision in told if pod is None or concerns(decision, pod)]

    def entries(self, first: Wall | None = None, last: Wall | None = None) -> Iterator[Entry]:
        """The ticks between two moments, both included, oldest first, each with its decisions as they stand now."""
        bounds = (_ALWAYS if first is None else first, _FOREVER if last is None else last)
        newest, views = 0, _Views(self)
        while rows := self._ticks(newest, bounds):
            for row in rows:
                yield self._entry(row, views)
            newest = rows[-1][0]

    def last(self) -> Kept | None:
        return self._ask(last)

    def newest(self) -> Wall | None:
        """When the newest tick was recorded."""
        row = self._ask(
            lambda connection: connection.execute("SELECT wall FROM ticks ORDER BY id DESC LIMIT 1").fetchone()
        )
        return None if row is None else Wall(row[0])

    def close(self) -> None:
        self._connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def view(self, row: int) -> View:
        query = "SELECT block FROM views WHERE id = ?"
        found = self._ask(lambda connection: connection.execute(query, (row,)).fetchone())
        if found is None:
            raise Unreadable(f"the journal {self._path} lacks a view that it refers to")
        return self._unpacked(found[0], _view)

    def _ticks(self, after: int, bounds: tuple[Wall, Wall]) -> list[tuple[int, float, float, bytes | None, bytes, int]]:
        query = f"SELECT {_TICK} FROM ticks WHERE id > ? AND wall BETWEEN ? AND ? ORDER BY id LIMIT {_BATCH}"  # noqa: S608 - constants
        return self._ask(lambda connection: connection.execute(query, (after, *bounds)).fetchall())

    def _entry(self, row: tuple[int, float, float, bytes | None, bytes, int], views: "_Views") -> Entry:
        tick, wall, instant, sample, memory, view = row
        query = "SELECT body FROM decisions WHERE tick = ? ORDER BY number"
        bodies = self._ask(lambda connection: connection.execute(query, (tick,)).fetchall())
        return Entry(
            at=Wall(wall),
            instant=Instant(instant),
            sample=None if sample is None else self._unpacked(sample, _sample),
            view=views.at(view),
            memory=self._unwrapped(memory),
            decisions=tuple(_decision.decode(body) for (body,) in bodies),
        )

    def _unpacked(self, block: bytes, decoder: "msgspec.msgpack.Decoder[T]") -> T:
        try:
            return blocks.unpack(block, decoder)
        except blocks.Damaged as error:
            raise Unreadable(f"a block of the journal {self._path} cannot be read: {error}") from error

    def _unwrapped(self, block: bytes) -> bytes:
        try:
            return blocks.unwrap(block)
        except blocks.Damaged as error:
            raise Unreadable(f"a block of the journal {self._path} cannot be read: {error}") from error

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return question(self._connection)
        except (sqlite3.Error, blocks.Damaged) as error:
            raise self._unreadable(error) from error

    def _open(self) -> sqlite3.Connection:
        if not self._path.exists():
            raise Absent(f"there is no journal at {self._path}")
        try:
            return _connected(f"{self._path.absolute().as_uri()}?mode=ro")
        except sqlite3.Error as error:
            if faults.code(error) not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
                raise self._unreadable(error) from error
        except (schema.Torn, schema.Foreign) as error:
            raise self._unreadable(error) from error
        return self._open_where_nothing_may_be_written()

    def _open_where_nothing_may_be_written(self) -> sqlite3.Connection:
        try:
            return _connected(f"{self._readable_copy().as_uri()}?{'mode=ro' if self._copy else 'immutable=1'}")
        except (sqlite3.Error, OSError, schema.Torn, schema.Foreign) as error:
            raise self._unreadable(error) from error

    def _readable_copy(self) -> Path:
        log = Path(f"{self._path}-wal")
        if not log.exists() or not log.stat().st_size:
            return self._path.absolute()
        self._copy = tempfile.TemporaryDirectory(prefix="slackwater-journal-")
        for file in (self._path, log):
            shutil.copyfile(file, Path(self._copy.name) / file.name)
        return Path(self._copy.name) / self._path.name

    def _unreadable(self, error: Exception) -> Unreadable:
        why = "it cannot be opened; see its owner and mode" if _forbidden(error) else str(error)
        return Unreadable(f"the journal {self._path} cannot be read: {why}")


class _Views:
    """The view of one tick is mostly that of the tick before: it is decoded once, and stays one object."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._last: tuple[int, View] | None = None

    def at(self, row: int) -> View:
        if self._last is None or self._last[0] != row:
            self._last = (row, self._reader.view(row))
        return self._last[1]


def concerns(decision: Decision, pod: str) -> bool:
    keys = [considered.pod for considered in decision.candidates] + [operation.pod for operation in decision.operations]
    return any(pod in (key, key.partition("/")[2]) for key in keys)


def last(connection: sqlite3.Connection) -> Kept | None:
    """What the newest tick left; nothing where it cannot be read any more: then the agent begins as on its first day. Its view alone may be lost."""
    query = "SELECT ticks.wall, instant, memory, block FROM ticks LEFT JOIN views ON views.id = ticks.view ORDER BY ticks.id DESC LIMIT 1"
    row = connection.execute(query).fetchone()
    if row is None:
        return None
    wall, instant, memory, block = row
    try:
        return Kept(Wall(wall), Instant(instant), blocks.unwrap(memory), _view_or_none(block))
    except blocks.Damaged:
        return None


def _view_or_none(block: bytes | None) -> View | None:
    try:
        return None if block is None else blocks.unpack(block, _view)
    except blocks.Damaged:
        return None


def _connected(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=_READ_SECONDS, isolation_level=None)
    try:
        schema.check(connection)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _forbidden(error: Exception) -> bool:
    return isinstance(error, PermissionError) or (
        isinstance(error, sqlite3.Error) and faults.code(error) == sqlite3.SQLITE_CANTOPEN
    )
