"""
The journal's file: its tables, and how it is opened for writing.

Three tables. A tick has its moment, its sample and the agent's memory; it refers to the view that was in force, which is stored once for all the ticks that share
it. A decision belongs to the tick that made it and is JSON, so that it can be read with nothing but `sqlite3`. Ids only ever grow, so the oldest of everything has
the smallest.

The file is in WAL mode: readers never wait for the agent, nor the agent for them. What is committed outlives the agent; a power cut may cost the last ticks, never
the file.
"""

import os
import sqlite3
from pathlib import Path

VERSION = 1
BUSY_SECONDS = 0.1  # a tick would rather lose its record than wait for a lock
PAGE = 4096
_WAL_BYTES = 4 << 20
_CACHE_KIB = 512  # a tick touches a few pages at the end of each table

_TABLES = """
CREATE TABLE views (id INTEGER PRIMARY KEY AUTOINCREMENT, block BLOB NOT NULL);
CREATE TABLE ticks (
  id INTEGER PRIMARY KEY AUTOINCREMENT, wall REAL NOT NULL, instant REAL NOT NULL,
  view INTEGER NOT NULL, sample BLOB, memory BLOB NOT NULL);
CREATE INDEX ticks_by_wall ON ticks (wall);
CREATE TABLE decisions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, tick INTEGER NOT NULL, wall REAL NOT NULL, body TEXT NOT NULL);
CREATE INDEX decisions_by_id ON decisions (id);
CREATE INDEX decisions_by_tick ON decisions (tick);
"""


class Torn(Exception):
    """The file says that it is a journal and is none."""


class Foreign(Exception):
    """A file that is sound and not ours to write: another program's, or a newer Slackwater's."""


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Makes what is missing: folder, file, tables. Raises OSError, sqlite3.Error, Torn or Foreign."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Pods' labels are nobody's business: the file, and with it the log beside it, is the owner's and the group's.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o640))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check(connection: sqlite3.Connection) -> None:
    """Raises Torn or Foreign where the file is not a journal that this version knows."""
    version = number(connection, "user_version")
    if version > VERSION:
        raise Foreign(
            f"was written by a newer Slackwater (layout {version}, this one knows {VERSION}); upgrade, or move the file away"
        )
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version == VERSION and not {"views", "ticks", "decisions"} <= tables:
        raise Torn("its tables are missing")
    if version < VERSION and tables:
        raise Foreign("is another program's database; choose another path")


def number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _prepare(connection: sqlite3.Connection) -> None:
    check(connection)
    # A file that is torn where no tick writes would take every tick and tell none. 40 ms for 160 MB, once.
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise Torn(" ".join(str(found).split()))
    connection.execute("PRAGMA shrink_memory")
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute(
        "PRAGMA auto_vacuum = INCREMENTAL"
    )  # holds only if said before the first page is written, so before WAL
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    if number(connection, "user_version") == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
