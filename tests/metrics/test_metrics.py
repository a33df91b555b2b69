"""What the metrics are, and how they are read."""

import pytest
from msgspec.structs import replace

from slackwater.api.units import Amount, Bytes, Instant, Millicores, Nanoseconds, Seconds, Wall
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.cpu import CPU_TOTAL_USAGE, CPU_TOTAL_UTILIZATION
from slackwater.metrics.metric import Catalogue
from slackwater.metrics.reading import Element, Reading, is_fresh
from slackwater.metrics.samples import SampleReadings
from slackwater.metrics.scene import Scene
from slackwater.snapshot.counters import CpuTimes, HostSample, NodeCounters
from slackwater.snapshot.usage import Capacity, Frames

CAPACITY = Capacity(Millicores(8000), Bytes(1))
NAMES = frozenset(BUILTIN.metrics)
TICK = Seconds(10)


def sample(at: float, used: int | None) -> HostSample:
    zero = Nanoseconds(0)
    times = None if used is None else CpuTimes(Nanoseconds(used * 10**9), *[zero] * 7)
    return HostSample(at=Instant(at), wall=Wall(at), node=NodeCounters(cpu=times))


def read(*samples: HostSample) -> SampleReadings:
    """After each of these in turn."""
    readings, frames = SampleReadings(), Frames()
    for one in samples:
        frames = frames.with_sample(one, keep=8)
        readings = readings.with_scene(Scene(frames=frames, capacity=CAPACITY), BUILTIN, NAMES, TICK)
    return readings


def test_usage_is_in_millicores_and_utilization_in_percent_of_the_node() -> None:
    readings = read(sample(0, 0), sample(10, 40))
    usage, utilization = (readings.read(name) for name in ("cpu_total_usage", "cpu_total_utilization"))
    assert usage is not None
    assert utilization is not None
    assert (usage.elements[0].value, utilization.elements[0].value) == (Amount(4000), Amount(50))


def test_a_metric_that_nobody_asks_for_is_not_read() -> None:
    frames = Frames((sample(0, 0), sample(10, 40)))
    readings = SampleReadings().with_scene(
        Scene(frames=frames, capacity=CAPACITY), BUILTIN, frozenset({"cpu_total_usage"}), TICK
    )
    assert readings.read("cpu_total_utilization") is None


def test_what_cannot_be_read_any_more_keeps_its_last_value_and_its_age() -> None:
    reading = read(sample(0, 0), sample(10, 40), sample(20, None)).read("cpu_total_usage")
    assert reading is not None
    assert (reading.at, reading.elements[0].value) == (Instant(10), Amount(4000))


def test_what_never_could_be_read_is_nothing() -> None:
    assert read(sample(0, None), sample(10, None)).read("cpu_total_usage") is None
    assert read().read("cpu_total_usage") is None


@pytest.mark.parametrize(
    ("age", "cache", "fresh"),
    [(25, None, True), (25.1, None, False), (60, 60, True), (60.1, 60, False), (25, 1, True)],
)
def test_a_reading_is_fresh_for_two_and_a_half_intervals_or_for_the_policys_own_patience(
    age: float, cache: float | None, fresh: bool
) -> None:
    reading = Reading((Element(Amount(1)),), Instant(100), TICK)
    patience = None if cache is None else Seconds(cache)
    assert is_fresh(reading, Instant(100 + age), patience) is fresh


def test_metrics_rank_by_their_priority_and_then_by_name() -> None:
    first = replace(CPU_TOTAL_UTILIZATION, name="zzz", priority=10)
    catalogue = Catalogue.of([CPU_TOTAL_UTILIZATION, CPU_TOTAL_USAGE, first])
    ranked = [metric.name for metric in catalogue.by_rank(["cpu_total_utilization", "cpu_total_usage", "zzz", "none"])]
    assert ranked == ["zzz", "cpu_total_usage", "cpu_total_utilization"]


@pytest.mark.parametrize("metric", [CPU_TOTAL_USAGE, CPU_TOTAL_UTILIZATION], ids=lambda metric: metric.name)
def test_quotas_move_both_cpu_metrics_and_both_actions_are_exact(metric: object) -> None:
    assert isinstance(metric, type(CPU_TOTAL_USAGE))
    assert metric.moved_by_quota
    assert metric.throttle.able
    assert metric.throttle.quantified
    assert metric.evict.quantified
