"""What the table says is what was measured."""

import pytest
from demo_results import one_round, reading, requests_of
from hypothesis import given
from hypothesis import strategies as st

from slackwater.demo import figures


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([1.0], 0.5, 1.0),
        ([1.0, 2.0], 0.5, 1.0),
        ([1.0, 2.0, 3.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.9, 90.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([1.0, 2.0], 1.0, 2.0),
    ],
)
def test_a_percentile_is_the_smallest_value_that_so_many_are_not_above(
    values: list[float], share: float, expected: float
) -> None:
    assert figures.percentile(values, share) == expected


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1.0))
def test_a_percentile_is_one_of_the_values_and_enough_are_not_above_it(values: list[float], share: float) -> None:
    ordered = sorted(values)
    found = figures.percentile(ordered, share)
    assert found in ordered
    assert sum(value <= found for value in ordered) >= share * len(ordered) - 1e-6


def test_only_requests_that_were_due_within_the_round_count() -> None:
    requests = requests_of(*([1.0] * 10), every=1.0)
    measured = figures.measured("alone", reading(2.0), reading(5.0), requests)
    assert measured.requests == 3


def test_the_wait_is_what_the_kernel_counted_between_the_first_and_the_last_request() -> None:
    requests = requests_of(5.0, 5.0, 5.0, 5.0, wait_each=0.7)
    measured = figures.measured("unmanaged", reading(0.0), reading(4.0), requests)
    assert measured.wait_ms == pytest.approx(0.7)


def test_work_cpu_and_steal_are_rates_between_the_two_ends() -> None:
    before, after = reading(0.0, used=10.0, stolen=1.0, work=100), reading(4.0, used=16.0, stolen=2.0, work=900)
    measured = figures.measured("unmanaged", before, after, requests_of(1.0, 1.0, 1.0))
    assert (measured.work, measured.cpu_cores, measured.steal_cores) == (200.0, 1.5, 0.25)


def test_what_is_not_ours_is_somebody_elses() -> None:
    before = figures.Reading(at=0.0, used=10.0, stolen=0.0, work=0, ours=3.0)
    after = figures.Reading(at=4.0, used=16.0, stolen=0.0, work=0, ours=7.0)
    assert figures.measured("alone", before, after, requests_of(1.0, 1.0)).others_cores == 0.5


def test_a_round_in_which_nothing_was_answered_is_refused() -> None:
    with pytest.raises(figures.TooFew, match="answered 0: this machine is too busy"):
        figures.measured("alone", reading(0.0), reading(4.0), [])


def test_a_phase_speaks_as_the_median_of_its_rounds_and_shows_their_range() -> None:
    rounds = [one_round("unmanaged", wait=wait) for wait in (9.0, 1.0, 2.0)] + [one_round("alone", wait=0.0)]
    phase = figures.phase_figures("unmanaged", rounds)
    assert phase.wait_ms == figures.Spread(2.0, 1.0, 9.0)
    assert phase.requests == 4500


def test_the_typical_squeeze_is_one_that_really_was() -> None:
    squeezes = [figures.Squeeze(gap=gap, released=gap, actual=gap) for gap in (300.0, 100.0, 200.0, 400.0)]
    assert figures.typical_squeeze(squeezes) == squeezes[2]
    assert figures.typical_squeeze([]) is None


def test_a_bucket_counts_the_wait_since_the_last_request_before_it() -> None:
    requests = requests_of(1.0, 1.0, 1.0, 1.0, every=1.0, wait_each=0.5)
    readings = [reading(0.0), reading(2.0, work=10), reading(4.0, work=30)]
    first, second = figures.buckets(readings, requests, 2.0)
    assert second.wait_ms == pytest.approx(0.5)
    assert (first.work, second.work) == (5.0, 10.0)


def test_a_bucket_without_requests_says_nothing_about_the_service() -> None:
    silent = figures.buckets([reading(0.0), reading(1.0)], [], 1.0)
    assert [bucket.wait_ms for bucket in silent] == [None]


@given(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=60), st.floats(0.1, 3.0))
def test_every_request_is_in_one_bucket_at_most(gaps: list[float], width: float) -> None:
    times = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    requests = [figures.Request(at, 1.0, float(number)) for number, at in enumerate(times)]
    readings = [reading(step * 0.25) for step in range(int(times[-1] / 0.25) + 2)]
    made = figures.buckets(readings, requests, width)
    assert len([bucket for bucket in made if bucket.wait_ms is not None]) <= len(requests)
