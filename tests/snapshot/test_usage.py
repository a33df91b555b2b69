"""What the counters of two samples say of the time between them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.api.objects import Container, Pod
from slackwater.api.units import Instant, Nanoseconds, Wall
from slackwater.snapshot.counters import CpuTimes, GroupCounters, HostSample, NodeCounters
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.usage import Frames, container_cpu, mean_cpu, node_cpu, pod_cpu, starved

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too

GROUP = GroupId("uid", "id")
SECOND = 1_000_000_000


def cpu_times(**spent: int) -> CpuTimes:
    modes = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    return CpuTimes(**{mode: Nanoseconds(spent.get(mode, 0)) for mode in modes})


def sample(at: float, node: CpuTimes | None = None, **groups: int | None) -> HostSample:
    counters = {
        GroupId("uid", name): GroupCounters(cpu=None if cpu is None else Nanoseconds(cpu))
        for name, cpu in groups.items()
    }
    return HostSample(at=Instant(at), wall=Wall(at), node=NodeCounters(cpu=node), groups=counters)


def frames(*samples: HostSample) -> Frames:
    return Frames(samples)


def test_the_machines_usage_leaves_out_waiting_idling_and_what_the_host_steals() -> None:
    spent = dict.fromkeys(("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal"), SECOND)
    assert node_cpu(frames(sample(0, cpu_times()), sample(10, cpu_times(**spent)))) == 500


def test_one_sample_says_nothing() -> None:
    assert node_cpu(frames(sample(0, cpu_times()))) is None
    assert container_cpu(frames(sample(0, id=0)), GROUP) is None
    assert node_cpu(frames()) is None


def test_a_counter_that_ran_backwards_is_no_reading() -> None:
    back = frames(sample(0, cpu_times(user=SECOND), id=SECOND), sample(10, cpu_times(), id=0))
    assert node_cpu(back) is None
    assert container_cpu(back, GROUP) is None


def test_time_that_stood_still_is_no_reading() -> None:
    assert node_cpu(frames(sample(5, cpu_times()), sample(5, cpu_times(user=SECOND)))) is None


def test_a_container_that_was_not_there_before_has_no_reading_yet() -> None:
    assert container_cpu(frames(sample(0), sample(10, id=SECOND)), GROUP) is None
    assert container_cpu(frames(sample(0, id=None), sample(10, id=SECOND)), GROUP) is None


def test_a_mean_is_over_so_many_samples_or_over_as_many_as_there_are() -> None:
    seen = frames(*(sample(10.0 * n, id=cpu * SECOND) for n, cpu in enumerate((0, 10, 40, 100))))
    assert mean_cpu(seen, GROUP, 1) == 6000
    assert mean_cpu(seen, GROUP, 2) == 4500
    assert mean_cpu(seen, GROUP, 9) == 3333
    assert mean_cpu(frames(sample(0), *seen.samples[1:]), GROUP, 9) == 4500


def test_half_a_pods_usage_is_no_pods_usage() -> None:
    pod = Pod(namespace="n", name="p", uid="uid", containers=(Container(name="a", id="a"), Container(name="b", id="b")))
    assert pod_cpu(frames(sample(0, a=0, b=0), sample(10, a=SECOND, b=SECOND)), pod) == 200
    assert pod_cpu(frames(sample(0, a=0, b=0), sample(10, a=SECOND, b=None)), pod) is None


def test_a_container_that_does_not_run_is_not_asked() -> None:
    pod = Pod(
        namespace="n",
        name="p",
        uid="uid",
        containers=(Container(name="a", id="a"), Container(name="b", id="b", running=False), Container(name="c")),
    )
    assert pod_cpu(frames(sample(0, a=0), sample(10, a=SECOND)), pod) == 100


@pytest.mark.parametrize(
    ("periods", "throttled", "hungry"), [(10, 6, True), (10, 5, False), (0, 0, False), (None, 6, False), (-5, 6, False)]
)
def test_starved_is_who_ran_out_in_most_periods(periods: int | None, throttled: int, hungry: bool) -> None:
    def at(when: float, passed: int | None, ran_out: int) -> HostSample:
        counters = GroupCounters(periods=passed, throttled=ran_out)
        return HostSample(at=Instant(when), wall=Wall(when), node=NodeCounters(), groups={GROUP: counters})

    seen = frames(at(0, 100, 100), at(10, None if periods is None else 100 + periods, 100 + throttled))
    assert starved(seen, GROUP) is hungry


@PATIENT
@given(st.integers(0, 10**15), st.integers(-(10**12), 10**12), st.floats(-10, 100))
def test_usage_is_never_negative(start: int, more: int, elapsed: float) -> None:
    usage = container_cpu(frames(sample(0, id=start), sample(elapsed, id=start + more)), GROUP)
    assert usage is None or usage >= 0


def test_only_the_newest_frames_are_kept() -> None:
    seen = Frames()
    for n in range(10):
        seen = seen.with_sample(sample(float(n)), keep=3)
    assert [one.at for one in seen.samples] == [Instant(7), Instant(8), Instant(9)]
