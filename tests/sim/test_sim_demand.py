"""Demands over time."""

from statistics import fmean, stdev

import pytest

from slackwater.api.units import Millicores, Seconds
from slackwater.sim.demand import constant, day, noisy, steps

HOUR = 3600.0


def test_steps_hold_from_their_moment_to_the_next_ones() -> None:
    demand = steps([(Seconds(60), Millicores(4000)), (Seconds(10), Millicores(1000))])
    assert [demand(Seconds(at)) for at in (0, 10, 59, 60, 1e6)] == [0, 1000, 1000, 4000, 4000]


def test_a_day_peaks_at_its_hour_and_is_lowest_half_a_day_from_there() -> None:
    demand = day(Millicores(500), Millicores(4500), Seconds(14 * HOUR))
    assert demand(Seconds(14 * HOUR)) == pytest.approx(4500)
    assert demand(Seconds(2 * HOUR)) == pytest.approx(500)
    assert demand(Seconds(38 * HOUR)) == pytest.approx(4500)


def test_noise_has_its_deviation_and_no_trend() -> None:
    demand = noisy(constant(Millicores(4000)), Millicores(120), 1, "service")
    values = [demand(Seconds(10.0 * tick)) for tick in range(8640)]
    assert fmean(values) == pytest.approx(4000, abs=5)
    assert stdev(values) == pytest.approx(120, rel=0.05)
    ahead = [value - 4000 for value in values[1:]]
    assert abs(fmean(a * b for a, b in zip((v - 4000 for v in values), ahead, strict=False))) < 0.05 * 120**2


def test_the_same_seed_says_the_same_in_whatever_order_it_is_asked() -> None:
    one, other = (noisy(constant(Millicores(1000)), Millicores(50), 7, "a") for _ in range(2))
    moments = [Seconds(10.0 * tick) for tick in range(100)]
    assert [one(at) for at in moments] == [other(at) for at in reversed(moments)][::-1]


@pytest.mark.parametrize(("seed", "name"), [(8, "a"), (7, "b")])
def test_another_seed_or_name_is_another_noise(seed: int, name: str) -> None:
    one = noisy(constant(Millicores(1000)), Millicores(50), 7, "a")
    other = noisy(constant(Millicores(1000)), Millicores(50), seed, name)
    assert one(Seconds(0)) != other(Seconds(0))


def test_a_demand_is_never_below_zero() -> None:
    demand = noisy(constant(Millicores(10)), Millicores(500), 1, "a")
    assert min(demand(Seconds(10.0 * tick)) for tick in range(100)) == 0
