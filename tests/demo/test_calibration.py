"""A strong machine must show something, and a weak one must not stall."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.units import Millicores, Seconds
from slackwater.demo import calibration
from slackwater.demo.calibration import Load, Reached, Workers

LOAD = Load(rate=250.0, turns=40_000, cpu_ms=1.0)


def test_the_loop_is_timed_by_its_best_trial() -> None:
    durations = itertools.chain([0.004, 0.002, 0.003], itertools.repeat(0.009))
    moments = iter([moment for duration in itertools.islice(durations, 40) for moment in (0.0, duration)])
    turns = calibration.turns_per_ms(clock=lambda: next(moments), work=lambda turns: turns)
    assert turns == pytest.approx(calibration.TRIAL_TURNS / 2)


def test_a_request_costs_what_makes_the_service_take_a_quarter_of_a_cpu() -> None:
    load = calibration.load_for(turns_a_ms=20_000, measured=Seconds(18.0))
    assert load.rate * load.cpu_ms / 1000 == pytest.approx(0.25)
    assert load.turns == round(load.cpu_ms * 20_000)


def test_a_faster_machine_gets_more_work_a_request_and_not_more_requests() -> None:
    slow, fast = (calibration.load_for(turns, Seconds(18.0)) for turns in (10_000, 40_000))
    assert (slow.rate, slow.cpu_ms) == (fast.rate, fast.cpu_ms)
    assert fast.turns == 4 * slow.turns


def test_there_are_enough_requests_a_phase_at_the_defaults() -> None:
    assert calibration.load_for(20_000, Seconds(18.0)).rate * 18 >= calibration.REQUESTS_A_PHASE


def test_a_short_run_gets_more_and_smaller_requests_but_never_so_many_that_timers_are_measured() -> None:
    assert calibration.load_for(20_000, Seconds(12.0)).rate > calibration.USUAL_RATE
    assert calibration.load_for(20_000, Seconds(1.0)).rate == calibration.HIGHEST_RATE


@given(st.integers(1, 512))
def test_there_are_two_workers_a_cpu_in_no_more_pods_than_a_node_takes(cpus: int) -> None:
    workers = calibration.workers_for(cpus)
    assert workers.count >= 2 * cpus
    assert workers.pods <= calibration.MOST_PODS


@given(st.integers(1, 512))
def test_service_and_workers_ask_for_no_more_than_the_machine_has(cpus: int) -> None:
    workers = calibration.workers_for(cpus)
    assert calibration.request_for(cpus, workers, guaranteed=False) * (workers.count + 1) <= cpus * 1000


def test_a_guaranteed_service_asks_for_a_whole_cpu_so_that_its_limit_never_throttles_it() -> None:
    assert calibration.request_for(2, Workers(pods=4, per_pod=1), guaranteed=True) == 1000


def test_the_waterline_lies_below_what_this_machine_really_reaches() -> None:
    stolen_from = Reached(quiet=0.3, service=0.25, full=1.5, steal=0.4)
    assert calibration.waterline_for(stolen_from) == Millicores(1280)


@pytest.mark.parametrize(
    ("reached", "seconds", "said"),
    [
        (Reached(quiet=0.27, service=0.25, full=1.9, steal=0.0), 18.0, ""),
        (Reached(quiet=0.27, service=0.25, full=1.4, steal=0.5), 18.0, "steals 0.50 cores"),
        (Reached(quiet=0.27, service=0.25, full=0.5, steal=0.0), 18.0, "little to squeeze"),
        (Reached(quiet=2.0, service=0.25, full=1.99, steal=0.0), 18.0, "reaches only 0.00 cores more"),
        (Reached(quiet=0.27, service=0.25, full=1.9, steal=0.0), 2.0, "about 500 requests"),
    ],
)
def test_what_makes_the_figures_doubtful_is_said(reached: Reached, seconds: float, said: str) -> None:
    warnings = calibration.warnings_for(2, LOAD, reached, Seconds(seconds))
    assert (said in warnings[0]) if said else not warnings
