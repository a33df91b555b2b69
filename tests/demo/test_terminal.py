"""What is seen while it runs, at a terminal and in a log."""

import io

import pytest
from demo_results import calibration, one_round, performance, reading, requests_of, throttle
from rich.console import Console

from slackwater.decide import sentence
from slackwater.demo.figures import PHASES
from slackwater.demo.performance import Act
from slackwater.demo.terminal import LivePicture, PlainLines, print_result

ACT = Act("batch beside it, Slackwater off", "unmanaged", 2, measuring=True)


def console(*, terminal: bool, width: int = 100) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=terminal, width=width, color_system=None), out


def test_the_live_picture_shows_what_goes_on_how_the_service_fares_and_what_was_done() -> None:
    screen, out = console(terminal=True)
    with LivePicture(screen, sentence.brief, about=100.0) as picture:
        picture.act(ACT)
        picture.calibrated(performance().facts, calibration(warnings=("busy already",)))
        picture.decided(throttle())
        requests = requests_of(*([3.0] * 20), every=0.1, wait_each=1.4)
        for quarter in range(9):
            picture.moment(reading(quarter / 4, used=quarter / 2, work=quarter * 1000), requests)
    shown = out.getvalue()
    for part in ("Slackwater off (round 2), measuring", "1.40 ms", "3.00 ms", "4k/s", "2.00 cores", "busy already"):
        assert part in shown
    assert "batch-0" in shown


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
