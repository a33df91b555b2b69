"""
What SQLite and the machine say when the journal cannot be written, in words that say what to do.

Only two kinds matter to the store: a file that is broken (it is moved aside and a new one begun) and everything else (the tick goes on without its record, and the
next one tries again).
"""

import sqlite3
from pathlib import Path

_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PRIMARY = 0xFF  # extended codes keep the primary one in their low byte
_WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space, or give the journal less",
    sqlite3.SQLITE_IOERR: "the disk answers with an error, or is full; look at the kernel's log",
    sqlite3.SQLITE_READONLY: "it is read-only; see its owner, its mode and how the file system is mounted",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see the owner and mode of its folder",
    sqlite3.SQLITE_PERM: "it may not be opened; see its owner and mode",
    sqlite3.SQLITE_BUSY: "another process is writing to it; find it with fuser",
    sqlite3.SQLITE_LOCKED: "another process is writing to it; find it with fuser",
}


def code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & _PRIMARY


def is_broken(error: sqlite3.Error) -> bool:
    return code(error) in _BROKEN


def is_passing(error: sqlite3.Error) -> bool:
    """Nothing is wrong with the open file: the same connection may simply try again."""
    return code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL}


def sentence(path: Path, error: Exception) -> str:
    if isinstance(error, sqlite3.Error):
        why = _WORDS.get(code(error), str(error))
    elif isinstance(error, OSError):
        why = f"{error.strerror or error}; see the owner and mode of {error.filename or path.parent}"
    else:
        why = str(error)
    return f"the journal {path} cannot be written: {why}"
