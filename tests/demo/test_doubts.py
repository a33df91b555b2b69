"""A result that shows nothing says so; one that is only disturbed says it once."""

import pytest
from demo_results import REACHED, calibration, one_round, performance

from slackwater.demo import doubts, wording
from slackwater.demo.calibration import Reached
from slackwater.demo.figures import Round
from slackwater.demo.performance import Performance


def played(alone: Round, off: Round) -> Performance:
    return performance(rounds=(alone, off, one_round("slackwater", wait=0.05, work=7e5)))


def alone(*, wait: float = 0.01, others: float = 0.05) -> Round:
    return one_round("alone", wait=wait, others=others)


def off(*, wait: float = 1.5, work: float = 9e5, others: float = 0.05) -> Round:
    return one_round("unmanaged", wait=wait, work=work, others=others)


def test_a_result_of_a_quiet_machine_is_conclusive() -> None:
    assert not doubts.not_conclusive(played(alone(), off()))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (alone(others=1.76), off(), "too busy, others use 1.76 of its 2 cores"),
        (alone(), off(others=0.6), "too busy, others use 0.60 of its 2 cores"),
        (alone(wait=11_000.0), off(wait=60_000.0), "cannot keep up with its requests even alone"),
        (alone(), off(work=0.0), "got no CPU"),
        (alone(wait=1.0), off(wait=1.5), "no more than 2 times what it waits alone"),
    ],
)
def test_figures_that_show_nothing_get_no_headline_of_success(first: Round, second: Round, said: str) -> None:
    headline = wording.headline(played(first, second))
    assert headline.startswith("Not conclusive: ")
    assert said in headline
    assert "with Slackwater" not in headline


def test_one_disturbed_round_of_three_does_not_spoil_the_others() -> None:
    rounds = (alone(others=1.7), *[alone()] * 2, *[off()] * 3, *[one_round("slackwater", work=7e5)] * 3)
    assert not doubts.not_conclusive(performance(rounds=rounds))


def test_others_before_and_meanwhile_are_one_warning() -> None:
    busy = Reached(quiet=0.95, service=0.25, full=1.9, steal=0.0)
    disturbed = performance(calibration=calibration(reached=busy), rounds=(alone(others=1.2), *performance().rounds))
    (warning,) = doubts.warnings(disturbed)
    assert "used 0.70 of its 2 cores before it was measured, and up to 1.20 meanwhile" in warning


def test_a_quiet_machine_gets_no_warning() -> None:
    assert doubts.warnings(performance(calibration=calibration(reached=REACHED))) == ()
