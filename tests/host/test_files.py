"""Kept-open files, within their limit."""

import os
from pathlib import Path

import pytest

from slackwater.host.files import OpenFiles, TooManyFiles, most_files, read_once


def made(folder: Path, count: int) -> list[str]:
    paths = [folder / str(number) for number in range(count)]
    for path in paths:
        path.write_text(path.name)
    return [str(path) for path in paths]


def open_now() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_what_does_not_exist_reads_as_empty(tmp_path: Path) -> None:
    files = OpenFiles()
    kept = files.keep([*made(tmp_path, 1), str(tmp_path / "missing"), ""])
    assert [os.pread(file, 10, 0) for file in kept] == [b"0", b"", b""]
    files.close_all([kept])


def test_beyond_the_limit_nothing_of_a_group_is_kept(tmp_path: Path) -> None:
    files, paths = OpenFiles(limit=5), made(tmp_path, 8)
    before = open_now()
    kept = files.keep(paths[:4])
    with pytest.raises(TooManyFiles):
        files.keep(paths[4:])
    assert open_now() == before + 4
    files.close(kept)
    assert len(files.keep(paths[3:])) == 5
    files.close_all([])


def test_the_process_may_hold_as_many_files_as_the_machine_lets_it() -> None:
    assert most_files() >= 1024


def test_reading_once_leaves_nothing_open(tmp_path: Path) -> None:
    before = open_now()
    assert read_once(made(tmp_path, 1)[0]) == b"0"
    assert read_once(str(tmp_path)) == b""
    assert read_once(str(tmp_path / "missing")) == b""
    assert open_now() == before
