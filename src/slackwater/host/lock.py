"""
One agent for each cgroup root: a lock on the directory itself.

The kernel drops it with the process that holds it, however that ends, and it needs no file of ours. Who holds it is asked of the kernel too, so that the one that is
refused can say whom to stop.
"""

import fcntl
import os
from types import TracebackType
from typing import Self

from slackwater.host.files import read_once


class Held(Exception):
    """Somebody else has the lock."""

    def __init__(self, directory: str, pid: int | None) -> None:
        who = "a process that is not visible from here" if pid is None else f"process {pid}"
        super().__init__(f"{directory} is held by {who}")
        self.directory = directory
        self.pid = pid


class Lock:
    """Held from its making until `release`. Raises Held, or OSError where the directory does not exist."""

    def __init__(self, directory: str, proc: str = "/proc") -> None:
        self._file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as refusal:
            holder = holder_of(self._file, proc)
            self.release()
            raise Held(directory, holder) from refusal

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder(directory: str, proc: str = "/proc") -> int | None:
    """Who holds a directory's lock, without taking it."""
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return holder_of(file, proc)
    finally:
        os.close(file)


def holder_of(file: int, proc: str = "/proc") -> int | None:
    """The process that holds a lock on what is open here; None: the kernel does not say."""
    status = os.fstat(file)
    wanted = (os.major(status.st_dev), os.minor(status.st_dev), status.st_ino)
    for line in read_once(f"{proc}/locks").decode().splitlines():
        words = line.split()
        # "1: FLOCK  ADVISORY  WRITE 4711 00:1b:12 0 EOF"; one that waits has "->" behind the number.
        if "->" not in words and words[1] == "FLOCK" and _file_named(words[5]) == wanted:
            return int(words[4]) if int(words[4]) > 0 else None
    return None


def _file_named(text: str) -> tuple[int, int, int]:
    major, minor, inode = text.split(":")
    return int(major, 16), int(minor, 16), int(inode)
