"""What the journal keeps, folds in and forgets."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from journal_ticks import decision, entry, view
from msgspec.structs import replace

from slackwater.api.units import Bytes, Instant, Seconds, Wall
from slackwater.decide.plan import Decision, Measurement, Outcome
from slackwater.journal.edge import Journal, Kept
from slackwater.journal.reading import Reader
from slackwater.journal.store import SqliteJournal

Begin = Callable[..., SqliteJournal]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    opened: list[SqliteJournal] = []

    def journal(max_age: float = 1e6, max_bytes: int = 1 << 30, now: float = 0.0) -> SqliteJournal:
        path = tmp_path / "state" / "journal.db"
        opened.append(SqliteJournal(path, max_age=Seconds(max_age), max_bytes=Bytes(max_bytes), wall=lambda: Wall(now)))
        return opened[-1]

    yield journal
    for each in opened:
        each.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


def test_a_new_journal_remembers_nothing(begin: Begin) -> None:
    journal: Journal = begin()
    assert journal.last() is None


def test_the_last_tick_is_there_at_the_next_start(begin: Begin) -> None:
    first = begin()
    first.commit(entry(10, memory=b"one"))
    first.commit(entry(20, memory=b"two"))
    first.close()
    kept = begin().last()
    assert kept is not None
    assert kept == Kept(Wall(20), Instant(20), b"two", view())


def test_what_is_committed_can_be_read_again_equal_while_the_agent_runs(begin: Begin, path: Path) -> None:
    journal = begin()
    ticks = [entry(10, decision("1", 10)), entry(20), entry(30, decision("2", 30), decision("3", 30))]
    for tick in ticks:
        journal.commit(tick)
    with Reader(path) as reader:
        assert list(reader.entries()) == ticks


def test_a_tick_without_a_sample_is_kept_as_such(begin: Begin, path: Path) -> None:
    begin().commit(replace(entry(10), sample=None))
    with Reader(path) as reader:
        assert [tick.sample for tick in reader.entries()] == [None]


def test_a_view_is_stored_once_for_all_the_ticks_that_share_it(begin: Begin, path: Path) -> None:
    journal = begin()
    for at in (10, 20, 30):
        journal.commit(entry(at, seen=view(1)))
    journal.commit(entry(40, seen=view(2)))
    assert count(path, "views") == 2


def test_a_view_of_the_same_generation_that_differs_is_stored_all_the_same(begin: Begin, path: Path) -> None:
    journal = begin()
    journal.commit(entry(10, seen=view(1, pods=1)))
    journal.commit(entry(20, seen=view(1, pods=2)))
    with Reader(path) as reader:
        assert [len(tick.view.pods) for tick in reader.entries()] == [1, 2]


def test_a_measurement_is_folded_into_its_decision(begin: Begin, path: Path) -> None:
    journal = begin()
    journal.commit(entry(10, decision("1")))
    journal.commit(entry(20, measured=(Measurement(decision="1", actual=(850.0, None), outcome=Outcome(True, 10.0)),)))
    journal.amend((Measurement(decision="1", refused=("", "EINVAL")),))
    (told,) = decisions(path)
    assert [operation.actual for operation in told.operations] == [850.0, None]
    assert [operation.refused for operation in told.operations] == ["", "EINVAL"]
    assert told.outcome == Outcome(True, 10.0)


def test_a_later_measurement_that_knows_nothing_takes_nothing_back(begin: Begin, path: Path) -> None:
    journal = begin()
    journal.commit(entry(10, decision("1"), measured=(Measurement(decision="1", actual=(850.0,)),)))
    journal.amend((Measurement(decision="1", actual=(None, None, 3.0)), Measurement(decision="unknown")))
    assert [operation.actual for operation in decisions(path)[0].operations] == [850.0, None]


def test_ticks_older_than_the_age_go_with_their_decisions_and_views(begin: Begin, path: Path) -> None:
    old, young = begin(max_age=100, now=0), begin(max_age=100, now=1000)
    old.commit(entry(0, decision("1", 0), seen=view(1)))
    old.commit(entry(950, decision("2", 950), seen=view(2)))
    young.commit(entry(1000, seen=view(2)))
    assert [told.id for told in decisions(path)] == ["2"]
    assert (count(path, "ticks"), count(path, "views")) == (2, 2)


def test_a_clock_that_jumps_costs_little_of_the_past(begin: Begin, path: Path) -> None:
    steady, jumped = begin(max_age=100, now=100), begin(max_age=100, now=1e9)
    for at in range(100):
        steady.commit(entry(at))
    jumped.commit(entry(1e9))
    assert count(path, "ticks") > 60


def test_the_newest_tick_stays_whatever_the_bounds(begin: Begin) -> None:
    journal = begin(max_age=1, max_bytes=1, now=1000)
    journal.commit(entry(10, memory=b"one"))
    journal.commit(entry(20, memory=b"two"))
    kept = journal.last()
    assert kept is not None
    assert kept.memory == b"two"


def test_the_file_stays_within_its_size(begin: Begin, path: Path) -> None:
    journal, limit = begin(max_bytes=400_000), 400_000
    for at in range(300):
        journal.commit(entry(at, groups=100))
    journal.close()
    assert path.stat().st_size < limit + 257 * 4096
    assert 5 < count(path, "ticks") < 300


def test_a_smaller_bound_hands_the_space_back(begin: Begin, path: Path) -> None:
    journal = begin()
    for at in range(600):
        journal.commit(entry(at, groups=100))
    journal.close()
    before = path.stat().st_size
    smaller = begin(max_bytes=100_000)
    for at in range(1000, 1010):
        smaller.commit(entry(at))
    smaller.close()
    assert path.stat().st_size < min(before / 2, 100_000 + 257 * 4096)


def decisions(path: Path) -> list[Decision]:
    with Reader(path) as reader:
        return reader.decisions()


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608
    finally:
        connection.close()
