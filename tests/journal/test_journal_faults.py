"""What the journal does when its file is torn, gone, read-only, locked, foreign, or the disk is full: a sentence, and the next tick goes on."""

import contextlib
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from journal_ticks import decision, entry, pod, view
from msgspec.structs import replace

from slackwater.api.units import Bytes, Instant, Seconds, Wall
from slackwater.journal import schema
from slackwater.journal.edge import Unwritable
from slackwater.journal.reading import Absent, Reader, Unreadable
from slackwater.journal.store import SqliteJournal


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> Wall:
        return Wall(self.now)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def journal(path: Path, clock: Clock | None = None) -> SqliteJournal:
    return SqliteJournal(path, max_age=Seconds(1e9), max_bytes=Bytes(1 << 30), wall=clock or Clock())


def filled(path: Path, ticks: int = 20, *, close: bool = True) -> SqliteJournal:
    kept = journal(path)
    for at in range(ticks):
        kept.commit(entry(at, decision(str(at), at)))
    if close:
        kept.close()
    return kept


def instants(path: Path) -> list[float]:
    with Reader(path) as reader:
        return [tick.instant for tick in reader.entries()]


@given(at=st.integers(0, 60_000), log_at=st.none() | st.integers(0, 200_000))
@example(at=57_350, log_at=None)  # six bytes of a page, the rest of which reads as zeros
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_journal_torn_anywhere_opens_and_takes_the_next_tick(tmp_path: Path, at: int, log_at: int | None) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        path = torn(Path(folder), at, log_at)
        kept = journal(path)
        kept.last()
        kept.commit(entry(500, decision("new", 500)))
        kept.commit(entry(501))
        kept.close()
        assert instants(path)[-2:] == [500, 501]


@given(content=st.binary(min_size=2, max_size=5000))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_anything_is_moved_aside_and_kept(tmp_path: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        path = Path(folder) / "journal.db"
        path.write_bytes(content)
        kept = journal(path)
        assert kept.last() is None
        kept.commit(entry(500))
        kept.close()
        (aside,) = Path(folder).glob("journal.db.broken-*")
        assert aside.read_bytes() == content


@given(start=st.integers(4096, 57_344), length=st.integers(1, 8192))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_hole_in_the_file_is_found_at_the_start_or_in_the_block(tmp_path: Path, start: int, length: int) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        path = torn(Path(folder), 1 << 30, None)
        with path.open("r+b") as file:
            file.seek(start)
            file.write(b"\0" * min(length, path.stat().st_size - start))
        kept = journal(path)
        kept.last()
        kept.commit(entry(500))
        kept.close()
        with Reader(path) as reader:
            assert [float(tick.instant) for tick in reader.entries(first=Wall(500))] == [500.0]


def torn(folder: Path, at: int, log_at: int | None) -> Path:
    """A journal cut off at `at`; with `log_at` the agent was killed, and its log is cut as well."""
    whole, path = folder / "whole.db", folder / "journal.db"
    writer = filled(whole, close=log_at is None)
    for suffix in ("",) if log_at is None else ("", "-wal"):
        shutil.copy(f"{whole}{suffix}", f"{path}{suffix}")
    writer.close()
    os.truncate(path, min(at, path.stat().st_size))
    if log_at is not None:
        log = Path(f"{path}-wal")
        os.truncate(log, min(log_at, log.stat().st_size))
    return path


def test_a_journal_that_breaks_while_it_is_open_is_replaced_within_the_tick(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(path)
    kept = journal(path)
    kept.last()
    with path.open("r+b") as file:
        file.write(b"\xff" * path.stat().st_size)
    kept.commit(entry(500))
    kept.close()
    assert instants(path) == [500]
    assert "a new one is begun" in caplog.text


def test_only_the_newest_broken_files_are_kept(path: Path) -> None:
    clock = Clock()
    for _ in range(5):
        clock.now += 10
        path.write_bytes(b"not a journal at all")
        kept = journal(path, clock)
        kept.commit(entry(500))
        kept.close()
    assert [file.name for file in sorted(path.parent.glob("*broken*"))] == [
        "journal.db.broken-1040",
        "journal.db.broken-1050",
    ]


def test_a_journal_that_is_removed_under_the_agent_is_begun_anew(path: Path) -> None:
    kept = filled(path, close=False)
    path.unlink()
    kept.commit(entry(500))
    assert instants(path) == [500]
    shutil.rmtree(path.parent)
    kept.commit(entry(501))
    kept.close()
    assert instants(path) == [501]


def test_a_full_disk_is_said_and_the_journal_goes_on_when_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = Mock(wraps=schema.open_for_writing)
    monkeypatch.setattr(schema, "open_for_writing", opening)
    clock = Clock()
    kept = journal(path, clock)
    kept.commit(entry(1))
    with files_no_larger_than(Path(f"{path}-wal").stat().st_size), pytest.raises(Unwritable, match="the disk"):
        kept.commit(entry(2))
    clock.now += 10
    kept.commit(entry(3))
    kept.close()
    assert instants(path) == [1, 3]
    assert opening.call_count == 2  # what failed with an I/O error is not trusted again


def test_a_read_only_journal_still_tells_what_the_last_tick_left() -> None:
    with unprivileged_folder() as folder:
        path = folder / "journal.db"
        filled(path)
        path.chmod(0o644)
        with nobody():
            kept = journal(path)
            last = kept.last()
            assert last is not None
            assert last.instant == Instant(19)
            with pytest.raises(Unwritable, match="see the owner and mode"):
                kept.commit(entry(500))


def test_a_journal_that_was_left_by_a_killed_agent_is_readable_where_nothing_may_be_written() -> None:
    with unprivileged_folder() as folder:
        writer = filled(folder / "whole.db", close=False)
        for suffix in ("", "-wal"):
            shutil.copy(folder / f"whole.db{suffix}", folder / f"journal.db{suffix}")
            (folder / f"journal.db{suffix}").chmod(0o644)
        writer.close()
        with nobody():
            assert len(instants(folder / "journal.db")) == 20


def test_a_journal_that_nobody_may_open_is_said_so() -> None:
    with unprivileged_folder() as folder:
        filled(folder / "journal.db")
        (folder / "journal.db").chmod(0o600)
        with nobody(), pytest.raises(Unreadable, match="owner and mode"):
            Reader(folder / "journal.db").decisions()


def test_a_journal_that_cannot_be_opened_is_tried_again_less_and_less_often(path: Path) -> None:
    path.mkdir()
    clock = Clock()
    kept = journal(path, clock)
    for wait in (1.0, 2.0):
        with pytest.raises(Unwritable, match="Is a directory"):
            kept.commit(entry(1))
        clock.now += wait
    path.rmdir()
    clock.now -= 0.5
    with pytest.raises(Unwritable, match="Is a directory"):
        kept.commit(entry(2))
    clock.now += 0.5
    kept.commit(entry(3))
    kept.close()
    assert instants(path) == [3]


def test_a_clock_that_goes_back_does_not_keep_the_journal_shut(path: Path) -> None:
    path.mkdir()
    clock = Clock()
    kept = journal(path, clock)
    with pytest.raises(Unwritable):
        kept.commit(entry(1))
    path.rmdir()
    clock.now -= 3600
    kept.commit(entry(2))
    kept.close()


def test_another_writer_does_not_hold_the_tick_up_for_ever(path: Path) -> None:
    kept = filled(path, close=False)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unwritable, match="another process"):
        kept.commit(entry(500))
    other.execute("ROLLBACK")
    other.close()
    kept.commit(entry(501))
    kept.close()
    assert instants(path)[-1] == 501


def test_a_reader_in_the_middle_of_its_reading_does_not_hold_the_tick_up(path: Path) -> None:
    kept = filled(path, ticks=100, close=False)
    with Reader(path) as reader:
        ticks = reader.entries()
        next(ticks)
        kept.commit(entry(500))
        assert len(list(ticks)) == 100
    kept.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [("PRAGMA user_version = 99", "newer Slackwater"), ("CREATE TABLE theirs (a)", "another program")],
)
def test_a_sound_file_that_is_not_ours_is_refused_and_left_alone(path: Path, statement: str, words: str) -> None:
    other = sqlite3.connect(path)
    other.execute(statement)
    other.close()
    before = path.read_bytes()
    with pytest.raises(Unwritable, match=words):
        journal(path).commit(entry(1))
    assert path.read_bytes() == before
    assert journal(path).last() is None


def test_text_that_cannot_be_kept_costs_that_tick_alone(path: Path) -> None:
    kept = journal(path)
    odd = replace(view(2), pods=(replace(pod(1), labels={"a": "\ud800"}),))
    for bad in (entry(1, seen=odd), entry(1, replace(decision(), reason="\ud800"))):
        with pytest.raises(Unwritable, match="cannot hold this tick"):
            kept.commit(bad)
    kept.commit(entry(2))
    kept.close()
    assert instants(path) == [2]


def test_a_damaged_block_is_named_and_does_not_break_the_start(path: Path) -> None:
    filled(path)
    other = sqlite3.connect(path)
    other.execute("UPDATE ticks SET memory = x'00', sample = x'53574202'")
    other.commit()
    other.close()
    kept = journal(path)
    assert kept.last() is None
    kept.close()
    with Reader(path) as reader, pytest.raises(Unreadable, match="version 02"):
        next(reader.entries())


def test_no_journal_is_a_case_of_its_own(path: Path) -> None:
    with pytest.raises(Absent, match="there is no journal"):
        Reader(path)


WRITER = """
import sys
from pathlib import Path
from journal_ticks import decision, entry
from slackwater.journal.store import SqliteJournal
journal = SqliteJournal(Path(sys.argv[1]), max_age=1e9, max_bytes=1 << 30, wall=lambda: 0.0)
for at in range(10**9):
    journal.commit(entry(at, decision(str(at), at)))
    print(at, flush=True)
"""


def test_a_killed_agent_loses_no_tick_that_was_committed(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as writer:
        assert writer.stdout is not None
        for _ in range(200):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        committed = 199 + len(writer.stdout.read().split())
    found = instants(path)
    assert found == list(range(len(found)))
    assert len(found) >= committed
    kept = journal(path).last()
    assert kept is not None
    assert float(kept.instant) == found[-1]


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As a full disk: a write beyond it fails. Python ignores the signal that comes with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def unprivileged_folder() -> Iterator[Path]:
    """A folder that everybody may look into and only we may change."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Root reads and writes everything, so it becomes somebody else; anybody else loses the right to write into the folder by its mode."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
