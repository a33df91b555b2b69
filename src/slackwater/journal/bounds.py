"""
How the journal stays small: the oldest ticks go, with their decisions and the views that nobody refers to any more, by age and by size.

The tick just written always stays: it holds what the agent needs at its next start. Little is removed at a time, so that no single tick pays for many; a file that is much too
large (its bound was lowered) shrinks over some ticks.
"""

import sqlite3

from slackwater.api.units import Bytes, Wall
from slackwater.journal import schema

_AT_A_TIME = 32
_ROUNDS = 16  # of removals for size in one tick
_SPARE_PAGES = 256  # free pages that are kept for the next ticks instead of being handed back
_PAGES_AT_A_TIME = 1024


def keep(connection: sqlite3.Connection, *, oldest: Wall, at_most: Bytes, newest: int) -> None:
    """Inside the caller's transaction; `newest` is the tick that stays whatever happens."""
    _remove(connection, "SELECT id FROM ticks WHERE wall < ? AND id < ? ORDER BY wall LIMIT ?", oldest, newest)
    for _ in range(_ROUNDS):
        if _used(connection) <= at_most:
            break
        _remove(connection, "SELECT id FROM ticks WHERE id > ? AND id < ? ORDER BY id LIMIT ?", 0, newest)
    _hand_back(connection)


def _remove(connection: sqlite3.Connection, which: str, bound: float, newest: int) -> None:
    ticks = connection.execute(which, (bound, newest, _AT_A_TIME)).fetchall()
    if not ticks:
        return
    connection.executemany("DELETE FROM decisions WHERE tick = ?", ticks)
    connection.executemany("DELETE FROM ticks WHERE id = ?", ticks)
    connection.execute("DELETE FROM views WHERE id < (SELECT view FROM ticks ORDER BY id LIMIT 1)")


def _used(connection: sqlite3.Connection) -> int:
    pages = schema.number(connection, "page_count") - schema.number(connection, "freelist_count")
    return pages * schema.number(connection, "page_size")


def _hand_back(connection: sqlite3.Connection) -> None:
    spare = schema.number(connection, "freelist_count") - _SPARE_PAGES
    # One execution frees one page: the module takes a single step of a statement that returns no rows.
    for _ in range(min(spare, _PAGES_AT_A_TIME)):
        connection.execute("PRAGMA incremental_vacuum")
