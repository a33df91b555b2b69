"""A tick that hangs ends the agent, and the next one knows in whose function it hung."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from slackwater.agent.hanging import Hangs, LeftOut, left_out_file, read_left_out
from slackwater.agent.watchdog import ENDED_BY_WATCHDOG, Watchdog
from slackwater.api.units import Seconds, Wall

HANGS = """
import sys, time
from pathlib import Path
from slackwater.agent import watchdog
from slackwater.agent.hanging import Hangs
from slackwater.api.units import Seconds, Wall

watchdog.BEHIND = Seconds(0.2)
hangs = Hangs(Path(sys.argv[1]))
hangs.settle(Wall(0.0))
dog = watchdog.Watchdog(time.monotonic, hangs.trace, longest=Seconds(0.2))
dog.start()
with dog.watched():
    {how}
"""
ASKS = "hangs.says('queue-metric 1.0')"
WAITS = "time.sleep(600)"
HANGS_IN_IT = f"{ASKS}; {WAITS}"
LETS_NOBODY_RUN = f"{ASKS}; sum(range(10 ** 15))"
KILLED_IN_IT = f"{ASKS}; import os; os.kill(os.getpid(), 9)"


def ended(journal: Path, how: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", HANGS.format(how=how), str(journal)], check=False, timeout=90, capture_output=True
    ).returncode


def next_life(journal: Path, at: float = 0.0) -> dict[str, LeftOut]:
    """Whom the next agent leaves out; it then ends well."""
    hangs = Hangs(journal)
    left_out = hangs.settle(Wall(at))
    hangs.close()
    return left_out


@pytest.mark.parametrize("how", [HANGS_IN_IT, LETS_NOBODY_RUN], ids=["waits for ever", "lets no other thread run"])
def test_an_agent_that_hangs_ends_and_the_next_one_leaves_that_package_out(tmp_path: Path, how: str) -> None:
    journal = tmp_path / "journal.db"
    assert ended(journal, how) != 0
    left_out = next_life(journal, 100.0)
    assert left_out.keys() == {"queue-metric"}
    one = left_out["queue-metric"]
    assert (one.version, one.at) == ("1.0", 100.0)
    assert "line" in one.trace
    # It stays left out in every later life, and whoever looks finds it in the file.
    assert next_life(journal, 200.0) == left_out
    assert read_left_out(left_out_file(journal)) == left_out


def test_removing_the_file_lets_it_in_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    ended(journal, HANGS_IN_IT)
    next_life(journal)
    left_out_file(journal).unlink()
    assert next_life(journal) == {}


def test_a_hang_in_nobodys_function_leaves_nobody_out(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    ended(journal, WAITS)
    assert next_life(journal) == {}


def test_an_agent_that_was_killed_in_a_function_blames_nobody(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    assert ended(journal, KILLED_IN_IT) == -9
    assert next_life(journal) == {}


def test_nor_is_it_blamed_for_what_hangs_in_a_later_life(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    ended(journal, KILLED_IN_IT)
    ended(journal, WAITS)
    assert next_life(journal) == {}


def test_an_agent_that_ends_well_leaves_no_file_behind(tmp_path: Path) -> None:
    well = Hangs(tmp_path / "journal.db")
    well.settle(Wall(0.0))
    well.says("queue-metric 1.0")
    well.says("")
    well.close()
    assert list(tmp_path.iterdir()) == []


def test_one_that_comes_in_another_version_is_no_longer_in_the_file(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    both = {name: LeftOut(version="1.0", at=Wall(0.0)) for name in ("queue-metric", "other")}
    Hangs(journal).readmit({"queue-metric"}, both)
    assert next_life(journal).keys() == {"other"}


def test_without_a_place_for_its_files_an_agent_works_as_well(tmp_path: Path) -> None:
    (tmp_path / "no-folder").write_text("")
    hangs = Hangs(tmp_path / "no-folder" / "journal.db")
    assert hangs.settle(Wall(0.0)) == {}
    hangs.says("queue-metric 1.0")
    hangs.close()


def test_a_left_out_file_that_cannot_be_read_leaves_nobody_out(tmp_path: Path) -> None:
    file = left_out_file(tmp_path / "journal.db")
    file.write_text("{")
    assert read_left_out(file) == {}


def test_a_tick_that_ends_in_time_is_left_alone_and_so_is_the_time_between() -> None:
    bitten: list[int] = []
    dog = Watchdog(time.monotonic, longest=Seconds(0.2), end=bitten.append)
    dog.start()
    for _ in range(3):
        with dog.watched():
            time.sleep(0.01)
        time.sleep(0.3)
    dog.close()
    assert bitten == []


def test_one_that_does_not_is_ended_with_a_code_of_its_own() -> None:
    bitten: list[int] = []
    over = threading.Event()

    def end(code: int) -> None:
        bitten.append(code)
        over.set()

    dog = Watchdog(time.monotonic, longest=Seconds(0.05), end=end)
    dog.start()
    with dog.watched():
        assert over.wait(60)
    dog.close()
    assert bitten == [ENDED_BY_WATCHDOG]
