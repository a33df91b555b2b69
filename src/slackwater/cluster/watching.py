"""
Noticing that a folder's manifests changed, so that a tick need not be waited for.

A thread of its own sleeps in the kernel (inotify) and costs nothing while nothing happens. Where that cannot be had (another kernel, no watches left) it compares the folder
every two seconds instead. It only ever says "look": what changed is found out by whoever reads, so a missed or needless call does no harm.
"""

import ctypes
import os
import select
import struct
import threading
from collections.abc import Callable
from pathlib import Path

SUFFIXES = (".yaml", ".yml", ".json")
SETTLING = 0.1  # seconds in which a burst of changes becomes one call
LOOKING = 2.0  # seconds between two comparisons where the kernel does not tell

_WRITTEN_OR_MOVED = 0x8 | 0x40 | 0x80 | 0x200  # IN_CLOSE_WRITE, MOVED_FROM, MOVED_TO, DELETE
_NONBLOCK = os.O_NONBLOCK | os.O_CLOEXEC
_EVENT = struct.Struct("iIII")


class Watch:
    """Calls `wake` from a thread of its own until it is closed."""

    def __init__(self, folder: Path, wake: Callable[[], None]) -> None:
        self._folder = folder
        self._wake = wake
        self._inotify = _inotify(folder)
        self._stop_read, self._stop_write = os.pipe2(_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="folder-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.write(self._stop_write, b"x")
        self._thread.join()
        for descriptor in (self._stop_read, self._stop_write, self._inotify):
            if descriptor is not None:
                os.close(descriptor)

    def _run(self) -> None:
        before = None if self._inotify is not None else signature(self._folder)
        while not self._stopped(LOOKING if self._inotify is None else None):
            if self._inotify is not None:
                changed = _concerns_manifests(os.read(self._inotify, 65536))
            else:
                now = signature(self._folder)
                changed, before = now != before, now
            if changed and not self._settle():
                self._wake()

    def _settle(self) -> bool:
        """Lets a burst pass. Whether it is time to stop."""
        stopped = bool(select.select([self._stop_read], [], [], SETTLING)[0])
        if self._inotify is not None and select.select([self._inotify], [], [], 0)[0]:
            os.read(self._inotify, 65536)
        return stopped

    def _stopped(self, timeout: float | None) -> bool:
        sources = [self._stop_read] if self._inotify is None else [self._stop_read, self._inotify]
        return self._stop_read in select.select(sources, [], [], timeout)[0]


def is_manifest(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith(".")


def signature(folder: Path) -> frozenset[tuple[str, int, int, int]]:
    """What changes when a manifest in the folder does. Empty where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if is_manifest(entry.name)]
    except OSError:
        return frozenset()
    return frozenset((name, stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in found)


def _inotify(folder: Path) -> int | None:
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "inotify_init1"):
        return None
    descriptor: int = libc.inotify_init1(_NONBLOCK)
    if descriptor < 0:
        return None
    if libc.inotify_add_watch(descriptor, os.fsencode(folder), _WRITTEN_OR_MOVED) < 0:
        os.close(descriptor)
        return None
    return descriptor


def _concerns_manifests(raw: bytes) -> bool:
    offset = 0
    while offset < len(raw):
        *_, length = _EVENT.unpack_from(raw, offset)
        offset += _EVENT.size
        name = os.fsdecode(raw[offset : offset + length].rstrip(b"\0"))
        offset += length
        # Without a name it is the folder itself, or the queue overflowed.
        if not name or is_manifest(name):
            return True
    return False
