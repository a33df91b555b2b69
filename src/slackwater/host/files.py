"""
Files that stay open from tick to tick, within what the process may hold.

Walking a path costs more than reading what lies at its end, so a counter's file is opened once and read at its beginning ever after. What cannot be kept open (the limit on
open files is reached) is left to the caller to open for each read; what does not exist reads as empty, through /dev/null, so that a reader needs no case for it.
"""

import contextlib
import errno
import os
import resource
from collections.abc import Iterable

_TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE})
GONE = frozenset({errno.ENOENT, errno.ENODEV, errno.ENOTDIR})
"""How the kernel says that a group is not there (any more)."""
_CHUNK = 1 << 14
_SPARE = 256  # for everything else the process opens


class TooManyFiles(Exception):
    """No further file can be kept open."""


class OpenFiles:
    def __init__(self, limit: int | None = None) -> None:
        """`limit` None: as many as the process may hold, after its soft limit is raised to the hard one."""
        self.nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._limit = (most_files() - _SPARE) if limit is None else limit
        self._held = 0

    def keep(self, paths: Iterable[str]) -> tuple[int, ...]:
        """Opens all or none; one that does not exist, or may not be read, is `nothing`. Raises TooManyFiles."""
        kept: list[int] = []
        try:
            for path in paths:
                kept.append(self._open(path))  # noqa: PERF401 - what is open so far must be known when one fails
        except TooManyFiles:
            self.close(kept)
            raise
        return tuple(kept)

    def close(self, files: Iterable[int]) -> None:
        for file in files:
            if file != self.nothing:
                self._held -= 1
                os.close(file)

    def close_all(self, groups_of_files: Iterable[Iterable[int]]) -> None:
        for files in groups_of_files:
            self.close(files)
        os.close(self.nothing)

    def _open(self, path: str) -> int:
        if not path:
            return self.nothing
        if self._held >= self._limit:
            raise TooManyFiles(path)
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as failure:
            if failure.errno in _TOO_MANY:
                raise TooManyFiles(path) from failure
            return self.nothing
        self._held += 1
        return file


def most_files() -> int:
    """Raises the soft limit on open files to the hard one; the limit in force afterwards."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard
    return soft


def read_whole(file: int) -> bytes:
    """From the beginning to the end. A procfs file with a line for each of many things gives a page at a time, whatever is asked for. Raises OSError."""
    text = os.pread(file, _CHUNK, 0)
    while more := os.pread(file, _CHUNK, len(text)):
        text += more
    return text


def read_once(path: str) -> bytes:
    """Opens, reads all, closes. What is not there, or cannot be read, is empty."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return read_whole(file)
    except OSError:
        return b""
    finally:
        os.close(file)
