"""What is seen while it runs, at a terminal and in a log."""

import io

import pytest
from demo_results import calibration, one_round, performance, reading, requests_of, throttle
from rich.console import Console

from slackwater.decide import sentence
from slackwater.demo.figures import PHASES, Bucket
from slackwater.demo.performance import Act
from slackwater.demo.terminal import LivePicture, PlainLines, figures_of, print_result, sparkline

ACT = Act("batch beside it, Slackwater off", "unmanaged", 2, measuring=True)


def console(*, terminal: bool, width: int = 100) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=terminal, width=width, color_system=None), out


def test_the_live_picture_shows_what_goes_on_how_the_service_fares_and_what_was_done() -> None:
    screen, out = console(terminal=True)
    with LivePicture(screen, sentence.brief, about=100.0) as picture:
        picture.act(ACT)
        picture.calibrated(performance().facts, calibration())
        picture.decided(throttle())
        requests = requests_of(*([3.0] * 20), every=0.1, wait_each=1.4)
        for quarter in range(9):
            picture.moment(reading(quarter / 4, used=quarter / 2, work=quarter * 1000), requests)
    shown = out.getvalue()
    for part in ("Slackwater off (round 2), measuring", "1.40 ms", "3.00 ms", "4k/s", "2.00 cores"):
        assert part in shown
    assert "batch-0" in shown


def test_while_nobody_is_answered_the_figures_of_batch_and_node_are_still_shown() -> None:
    silent = Bucket(at=0.0, wait_ms=None, p90_ms=None, work=4000.0, cpu_cores=2.0, steal_cores=0.0)
    assert figures_of(silent) == ("-", "-", "4k/s", "2.00 cores")
    slow = Bucket(at=0.0, wait_ms=1.4, p90_ms=21_000.0, work=0.0, cpu_cores=2.0, steal_cores=0.0)
    assert figures_of(slow)[:2] == ("1.40 ms", "21.0 s")


def test_the_sparkline_says_what_its_columns_are_and_does_not_take_no_answer_for_no_wait() -> None:
    screen, out = console(terminal=True)
    screen.print(sparkline([("alone", 0.0), ("unmanaged", 2.5), ("unmanaged", None), ("slackwater", 0.2)]))
    shown = out.getvalue()
    assert "wait  ▁█·▂" in shown
    for part in ("alone", "off", "it looks", "on", "no answer yet", "a column a second, the highest 2.50 ms"):
        assert part in shown


def test_warnings_are_said_once_and_at_the_end() -> None:
    doubtful = calibration(warnings=("the host steals",))
    screen, out = console(terminal=False)
    lines = PlainLines(screen, sentence.brief)
    lines.calibrated(performance().facts, doubtful)
    print_result(screen, performance(calibration=doubtful))
    assert out.getvalue().count("the host steals") == 1
    assert "others use 0.05 cores" in out.getvalue()


def test_the_result_is_a_tree_and_not_a_wall() -> None:
    screen, out = console(terminal=False)
    print_result(screen, performance())
    lines = out.getvalue().splitlines()
    assert "throttle" in lines
    assert any(line.startswith("├── node CPU 1.9 cores") for line in lines)


def test_the_live_picture_has_nothing_to_say_before_the_first_answer() -> None:
    screen, out = console(terminal=True)
    with LivePicture(screen, sentence.brief, about=100.0) as picture:
        picture.moment(reading(0.0), [])
        picture.moment(reading(0.25), [])
    assert "wait/request" in out.getvalue()


def test_in_a_log_every_change_is_one_line() -> None:
    screen, out = console(terminal=False)
    lines = PlainLines(screen, sentence.brief)
    lines.act(ACT)
    lines.act(ACT)
    lines.moment(reading(5.0), [])
    lines.moment(reading(7.5), [])
    lines.decided(throttle())
    assert len(out.getvalue().splitlines()) == 2
    assert "2.5 s" in out.getvalue()


@pytest.mark.parametrize("wait", [0.05, 12.3, 1999.4])
def test_the_table_fits_into_eighty_columns(wait: float) -> None:
    screen, out = console(terminal=False, width=80)
    print_result(screen, performance(rounds=tuple(one_round(name, wait=wait, work=9e5) for name in PHASES)))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "…" not in out.getvalue()
    assert "unmanaged" in out.getvalue()
