"""
The journal as the agent writes it: one transaction a tick, in a SQLite file that never holds the agent up and never outgrows its bounds.

It is opened at its first use, not before: a journal that cannot be opened costs a sentence, never the agent's start. A file that is broken is moved aside and a new
one begun; one that was removed under us is begun anew; one that cannot be written is tried again, less and less often. The view is encoded only when it is another
one than at the tick before.

Nothing is read back here but what the last tick left; `journal.reading` reads the rest, also while this writes.
"""

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from slackwater.api.units import Bytes, Seconds, Wall
from slackwater.decide.plan import Decision, Measurement
from slackwater.journal import blocks, bounds, faults, reading, schema
from slackwater.journal.edge import Entry, Kept, Unwritable
from slackwater.journal.measuring import folded
from slackwater.snapshot.view import View

log = logging.getLogger(__name__)

T = TypeVar("T")

_FIRST_WAIT = Seconds(1.0)
_LONGEST_WAIT = Seconds(60.0)
_BROKEN_KEPT = 2  # files moved aside; older ones go
_decision = msgspec.json.Decoder(Decision)


class SqliteJournal:
    def __init__(self, path: Path, *, max_age: Seconds, max_bytes: Bytes, wall: Callable[[], Wall]) -> None:
        self._path = path
        self._max_age = max_age
        self._max_bytes = max_bytes
        self._wall = wall
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._view: tuple[View, int] | None = None  # the last one that was kept, and its row
        self._retry = _Retry()

    def last(self) -> Kept | None:
        try:
            return self._transact("BEGIN", reading.last)
        except Unwritable as error:
            log.warning("%s", error)
        return self._last_read_only()

    def commit(self, entry: Entry) -> None:
        sample = None if entry.sample is None else self._packed(entry.sample)
        memory = blocks.wrap(entry.memory)
        bodies = [(decision.id, decision.at, self._json(decision)) for decision in entry.decisions]
        limit = Wall(self._wall() - self._max_age)

        def write(connection: sqlite3.Connection) -> int:
            view = self._view_row(connection, entry.view)
            tick = connection.execute(
                "INSERT INTO ticks (wall, instant, view, sample, memory) VALUES (?, ?, ?, ?, ?)",
                (entry.at, entry.instant, view, sample, memory),
            ).lastrowid
            connection.executemany(f"INSERT INTO decisions (id, tick, wall, body) VALUES (?, {tick}, ?, ?)", bodies)  # noqa: S608 - a number
            _fold(connection, entry.measurements)
            bounds.keep(connection, oldest=limit, at_most=self._max_bytes, newest=tick or 0)
            return view

        row = self._transact("BEGIN IMMEDIATE", write)
        self._view = (entry.view, row)

    def amend(self, measurements: tuple[Measurement, ...]) -> None:
        if measurements:
            self._transact("BEGIN IMMEDIATE", lambda connection: _fold(connection, measurements))

    def close(self) -> None:
        self._view = self._inode = None
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except sqlite3.Error as error:
            # What was committed is in the file or its log; the next opening finds it there.
            log.warning("closing: %s", faults.sentence(self._path, error))

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._attempt(begin, work)
        except _Broken as broken:
            self._move_aside(str(broken))
        try:
            return self._attempt(begin, work)
        except _Broken as broken:
            raise Unwritable(f"the journal {self._path} cannot be written: {broken}") from broken

    def _attempt(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._opened()
        try:
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            if faults.is_broken(error):
                raise _Broken(str(error)) from error
            if not faults.is_passing(error):
                self.close()
            raise Unwritable(faults.sentence(self._path, error)) from error
        return result

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._inode != _inode(self._path):
            log.warning("the journal %s was removed or replaced while it was open; a new one is begun", self._path)
            self.close()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self._retry.refuse_before_its_time(self._wall())
        try:
            connection = schema.open_for_writing(self._path)
        except schema.Torn as torn:
            raise _Broken(str(torn)) from torn
        except (OSError, sqlite3.Error, schema.Foreign) as error:
            if isinstance(error, sqlite3.Error) and faults.is_broken(error):
                raise _Broken(str(error)) from error
            raise self._retry.failed(self._wall(), faults.sentence(self._path, error)) from error
        self._retry = _Retry()
        self._inode = _inode(self._path)
        return connection

    def _move_aside(self, why: str) -> None:
        self.close()
        aside = self._path.with_name(f"{self._path.name}.broken-{int(self._wall())}")
        try:
            for suffix in ("", "-wal"):
                with suppress(FileNotFoundError):
                    Path(f"{self._path}{suffix}").replace(f"{aside}{suffix}")
            Path(f"{self._path}-shm").unlink(missing_ok=True)
            _forget_old_broken_ones(self._path)
        except OSError as error:
            raise Unwritable(
                f"the journal {self._path} is broken ({why}) and cannot be moved aside: {error.strerror}; remove it"
            ) from error
        log.error("the journal %s is broken (%s); it is kept as %s and a new one is begun", self._path, why, aside.name)

    def _view_row(self, connection: sqlite3.Connection, view: View) -> int:
        if self._view is not None and _same(self._view[0], view):
            return self._view[1]
        row = connection.execute("INSERT INTO views (block) VALUES (?)", (self._packed(view),)).lastrowid
        return row or 0

    def _packed(self, value: object) -> bytes:
        try:
            return blocks.pack(value)
        except blocks.Unkeepable as error:
            raise Unwritable(f"the journal {self._path} cannot hold this tick: {error}") from error

    def _json(self, decision: Decision) -> str:
        try:
            return _json(decision)
        except UnicodeEncodeError as error:
            raise Unwritable(f"the journal {self._path} cannot hold this tick: {error}") from error

    def _last_read_only(self) -> Kept | None:
        try:
            with reading.Reader(self._path) as reader:
                return reader.last()
        except reading.Unreadable as error:
            log.warning("%s", error)
        return None


class _Broken(Exception):
    """The file must be replaced."""


class _Retry:
    """When a journal that could not be opened is tried again. A wall clock that went back does not make it wait longer."""

    def __init__(self) -> None:
        self._failed_at: Wall | None = None
        self._wait = _FIRST_WAIT
        self._message = ""

    def refuse_before_its_time(self, now: Wall) -> None:
        if self._failed_at is not None and self._failed_at <= now < self._failed_at + self._wait:
            raise Unwritable(self._message)

    def failed(self, now: Wall, message: str) -> Unwritable:
        if self._failed_at is not None:
            self._wait = min(Seconds(2 * self._wait), _LONGEST_WAIT)
        self._failed_at, self._message = now, message
        return Unwritable(message)


def _fold(connection: sqlite3.Connection, measurements: tuple[Measurement, ...]) -> None:
    """A decision that is gone already, or that another version wrote otherwise, takes no measurement."""
    for measurement in measurements:
        query = "SELECT number, body FROM decisions WHERE id = ? ORDER BY number DESC LIMIT 1"
        for number, body in connection.execute(query, (measurement.decision,)).fetchall():
            try:
                decision = folded(_decision.decode(body), measurement)
            except msgspec.MsgspecError as error:
                log.warning("decision %s in the journal takes no measurement: %s", measurement.decision, error)
                continue
            connection.execute("UPDATE decisions SET body = ? WHERE number = ?", (_json(decision), number))


def _json(decision: Decision) -> str:
    return msgspec.json.encode(decision).decode()


def _same(kept: View, view: View) -> bool:
    return kept is view or (kept.generation == view.generation and kept == view)


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)  # noqa: PTH116 - every tick, and half as dear as Path.stat
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _forget_old_broken_ones(path: Path) -> None:
    broken = sorted(file for file in path.parent.glob(f"{path.name}.broken-*") if not file.name.endswith("-wal"))
    for file in broken[:-_BROKEN_KEPT]:
        file.unlink(missing_ok=True)
        Path(f"{file}-wal").unlink(missing_ok=True)
