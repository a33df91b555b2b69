"""
Whether a lab runs in a folder, and as which process: a lock that the kernel lets go of when its holder dies, however it dies.

The supervisor holds the lock for its life and writes into it who it is; everybody else only looks. What the file says counts only while the lock is held.
"""

import fcntl
import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.cluster.ledger import replace, state_folder

_TRIES, _PAUSE = 5, 0.02  # who only looks holds the lock for a moment too


class Held(Exception):
    """Somebody else has the lock."""


class State(Struct, frozen=True, kw_only=True):
    """What the supervisor says of itself."""

    pid: int
    root: str  # below every hierarchy
    layout: str
    version: int  # of cgroups
    seen: str = ""  # the fingerprint of the manifests it has acted on


def lock_file(cluster: Path) -> Path:
    return state_folder(cluster) / "lab.lock"


def state_file(cluster: Path) -> Path:
    return state_folder(cluster) / "lab.json"


def output_file(cluster: Path) -> Path:
    """What the supervisor itself has to say when all else fails."""
    return state_folder(cluster) / "lab.log"


def acquire(cluster: Path) -> int:
    """A descriptor that holds the lock until it is closed, in this process and in its forks. Raises Held."""
    path = lock_file(cluster)
    path.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(_TRIES):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        # A file that its last holder took away with it locks nothing: try the new one.
        if _lock(handle) and _same(handle, path):
            os.ftruncate(handle, 0)  # a pid that an earlier holder left may be anybody's by now
            return handle
        os.close(handle)
        time.sleep(_PAUSE)
    raise Held(f"the lab in {cluster} is locked by another process")


def holder(cluster: Path) -> int | None:
    """The supervisor's pid; None: no lab runs here. 0: one is just starting and has not said its pid yet."""
    try:
        handle = os.open(lock_file(cluster), os.O_RDONLY)  # who may not hold a lab may still look whether one runs
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(os.pread(handle, 32, 0).strip() or b"0")
    finally:
        os.close(handle)
    return None


def sign(handle: int) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)


def say(cluster: Path, state: State) -> None:
    replace(state_file(cluster), msgspec.json.encode(state))


def said(cluster: Path) -> State | None:
    """The last that a supervisor said here, alive or not; None: nothing, or nothing legible."""
    try:
        return msgspec.json.decode(state_file(cluster).read_bytes(), type=State)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def stands(handle: int, cluster: Path) -> bool:
    """Whether the lock that is held is still the one that others would find."""
    return _same(handle, lock_file(cluster))


def _same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
