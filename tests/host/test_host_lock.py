"""One agent for each cgroup root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slackwater.host.lock import Held, Lock

_HOLD = "import fcntl,os,sys; fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX); print(1, flush=True); sys.stdin.read()"


def holder(directory: Path) -> subprocess.Popen[str]:
    """A process that has the lock, until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", _HOLD, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    process.stdout.readline()
    return process


def test_the_second_agent_is_refused_and_told_who_has_the_root(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        with pytest.raises(Held, match=f"process {first.pid}") as refused:
            Lock(str(tmp_path))
        first.kill()
    assert refused.value.pid == first.pid


def test_a_holder_that_dies_leaves_no_lock(tmp_path: Path) -> None:
    with holder(tmp_path) as first:
        first.kill()
    with Lock(str(tmp_path)):
        pass


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    lock = Lock(str(tmp_path))
    with pytest.raises(Held) as refused:
        Lock(str(tmp_path))
    assert refused.value.pid == os.getpid()
    lock.release()
    lock.release()
    with Lock(str(tmp_path)):
        pass


def test_a_holder_that_cannot_be_seen_is_said_to_be_so(tmp_path: Path) -> None:
    root, proc = tmp_path / "root", tmp_path / "proc"
    root.mkdir()
    proc.mkdir()
    with Lock(str(root)), pytest.raises(Held, match="not visible from here") as refused:
        Lock(str(root), str(proc))
    assert refused.value.pid is None


def test_a_root_that_does_not_exist_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Lock(str(tmp_path / "nowhere"))
