"""One lab a folder, known by a lock that ends with its holder."""

import os
from pathlib import Path

import pytest

from slackwater.lab import presence


def test_nobody_is_there_before_anybody_came(tmp_path: Path) -> None:
    assert presence.holder(tmp_path) is None
    assert presence.said(tmp_path) is None


def test_the_holder_is_known_by_its_pid_as_long_as_it_holds(tmp_path: Path) -> None:
    handle = presence.acquire(tmp_path)
    presence.sign(handle)
    assert presence.holder(tmp_path) == os.getpid()
    os.close(handle)
    assert presence.holder(tmp_path) is None


def test_a_second_one_is_refused(tmp_path: Path) -> None:
    handle = presence.acquire(tmp_path)
    with pytest.raises(presence.Held, match="locked by another process"):
        presence.acquire(tmp_path)
    os.close(handle)


def test_a_lock_whose_file_was_taken_away_locks_nothing(tmp_path: Path) -> None:
    old = presence.acquire(tmp_path)
    presence.lock_file(tmp_path).unlink()
    new = presence.acquire(tmp_path)
    assert not os.path.sameopenfile(old, new)
    os.close(old)
    os.close(new)
