"""
Starting one process inside its groups.

The child enters every group before it becomes the program, so not a microsecond of the program is accounted elsewhere; it tells through a pipe what went wrong, and the
pipe's closing at exec tells that nothing did. For a parent with one thread only: between fork and exec the child runs Python.
"""

import os
import signal
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

_FAILED = b"!"  # before a message: the program was not started
_REFUSED = b"?"  # before a message: it was, without this


class CannotStart(Exception):
    """The program could not be run; the message says why."""


class Launch(Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    environment: dict[str, str]
    folder: Path  # where it is run
    doors: tuple[Path, ...]  # cgroup.procs files
    log: Path
    oom_score_adj: int


class Started(Struct, frozen=True):
    pid: int
    refused: tuple[str, ...]  # what the kernel did not grant


def start(launch: Launch) -> Started:
    """Raises CannotStart, and OSError where not even a fork is possible."""
    launch.log.parent.mkdir(parents=True, exist_ok=True)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(launch, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().splitlines()
    failures = [line[1:].decode() for line in told if line.startswith(_FAILED)]
    if failures:
        os.waitpid(pid, 0)
        raise CannotStart(failures[0])
    return Started(pid, tuple(line[1:].decode() for line in told if line.startswith(_REFUSED)))


def ended(pid: int) -> int | None:
    """The exit code, as a shell has it, of a child that has ended (and is forgotten by this); None: it goes on."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if not found:
        return None
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _become(launch: Launch, pipe: int) -> NoReturn:
    try:
        _enter(launch, pipe)
        os.execvpe(launch.argv[0], launch.argv, launch.environment)  # noqa: S606 - no shell is wanted
    except OSError as failure:
        where = failure.filename if isinstance(failure.filename, str) else launch.argv[0]
        os.write(pipe, _FAILED + f"{where}: {failure.strerror}".encode())
    except ValueError as failure:  # a NUL in an argument or a variable
        os.write(pipe, _FAILED + f"{launch.argv[0]}: {failure}".encode())
    finally:
        os._exit(127)


def _enter(launch: Launch, pipe: int) -> None:
    os.setsid()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, and inherited over exec
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for door in launch.doors:
        _tell(door, b"0")
    try:
        _tell(Path("/proc/self/oom_score_adj"), str(launch.oom_score_adj).encode())
    except OSError as refusal:
        os.write(
            pipe,
            _REFUSED
            + f"oom_score_adj {launch.oom_score_adj}: {refusal.strerror} (lowering it takes CAP_SYS_RESOURCE)\n".encode(),
        )
    log = os.open(launch.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.chdir(launch.folder)


def _tell(file: Path, value: bytes) -> None:
    handle = os.open(file, os.O_WRONLY)
    try:
        os.write(handle, value)
    finally:
        os.close(handle)
