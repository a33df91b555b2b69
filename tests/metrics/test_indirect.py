"""Load, disks, network and pressure: what they read, and when they read nothing."""

import pytest

from slackwater.api.objects import Container, Pod
from slackwater.api.units import Bytes, Instant, Microseconds, Millicores, Wall
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.scene import Scene
from slackwater.snapshot.counters import DeviceIo, GroupCounters, HostSample, NodeCounters, Pressure
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.usage import Capacity, Frames

CAPACITY = Capacity(Millicores(8000), Bytes(16 << 30))
QUIET = {"cpu": Pressure(Microseconds(0), Microseconds(0), 0.0, 0.0)}
PRESSURE = "cpu_pressure_some_10s"


def device(read: int = 0, written: int = 0, busy_ms: int = 0) -> DeviceIo:
    return DeviceIo(Bytes(read), Bytes(written), Microseconds(busy_ms * 1000))


def sample(at: float, node: NodeCounters, groups: dict[GroupId, GroupCounters] | None = None) -> HostSample:
    return HostSample(at=Instant(at), wall=Wall(at), node=node, groups=groups or {})


def scene(*samples: HostSample, pods: tuple[Pod, ...] = (), squeezed: tuple[str, ...] = ()) -> Scene:
    return Scene(frames=Frames(samples), capacity=CAPACITY, pods=pods, squeezed=frozenset(squeezed))


def value(metric: str, seen: Scene) -> float | None:
    known = BUILTIN.get(metric)
    assert known is not None
    elements = known.elements(seen)
    return float(max(element.value for element in elements)) if elements else None


def disks(before: dict[str, DeviceIo], after: dict[str, DeviceIo], seconds: float = 10) -> Scene:
    return scene(sample(0, NodeCounters(disks=before)), sample(seconds, NodeCounters(disks=after)))


def networks(before: dict[str, DeviceIo], after: dict[str, DeviceIo]) -> Scene:
    return scene(sample(0, NodeCounters(networks=before)), sample(10, NodeCounters(networks=after)))


# Load.


@pytest.mark.parametrize(("metric", "load"), [("cpu_load_1m", 3.0), ("cpu_load_5m", 2.0), ("cpu_load_15m", 1.0)])
def test_load_is_the_kernels_own_average_and_needs_one_sample(metric: str, load: float) -> None:
    assert value(metric, scene(sample(0, NodeCounters(load=(3.0, 2.0, 1.0))))) == load
    assert value(metric, scene(sample(0, NodeCounters()))) is None
    assert value(metric, scene()) is None


# Rates.


def test_a_rate_is_of_all_devices_together_in_bytes_per_second() -> None:
    seen = disks({"a": device(0, 100), "b": device(50, 0)}, {"a": device(1000, 300), "b": device(150, 1000)})
    assert (value("disk_read_rate", seen), value("disk_write_rate", seen)) == (110, 120)


def test_received_and_sent_are_told_apart() -> None:
    seen = networks({"eth0": device()}, {"eth0": device(1000, 2000)})
    assert (value("network_receive_rate", seen), value("network_transmit_rate", seen)) == (100, 200)


def test_a_device_that_comes_or_goes_counts_in_neither_sample() -> None:
    seen = disks({"a": device(0), "gone": device(10**9)}, {"a": device(100), "new": device(10**9)})
    assert value("disk_read_rate", seen) == 10


def test_where_no_device_was_there_both_times_there_is_no_rate() -> None:
    for metric in ("disk_read_rate", "disk_write_rate", "disk_busy"):
        assert value(metric, disks({"gone": device()}, {"new": device(100)})) is None
        assert value(metric, disks({}, {})) is None


def test_a_counter_that_ran_backwards_is_no_reading_even_beside_one_that_did_not() -> None:
    seen = disks({"a": device(100), "b": device()}, {"a": device(0), "b": device(1000)})
    assert value("disk_read_rate", seen) is None
    assert value("disk_write_rate", seen) == 0


def test_one_sample_or_no_time_between_two_gives_no_rate() -> None:
    assert value("disk_read_rate", scene(sample(0, NodeCounters(disks={"a": device(100)})))) is None
    for metric in ("disk_read_rate", "disk_busy"):
        assert value(metric, disks({"a": device()}, {"a": device(100)}, seconds=0)) is None
        assert value(metric, disks({"a": device()}, {"a": device(100)}, seconds=-5)) is None


def test_disk_busy_is_the_busiest_disks_part_of_the_time() -> None:
    before = {"a": device(busy_ms=1000), "b": device(busy_ms=0)}
    assert value("disk_busy", disks(before, {"a": device(busy_ms=3500), "b": device(busy_ms=1000)})) == 25


def test_disk_busy_is_never_above_all_of_the_time() -> None:
    assert value("disk_busy", disks({"a": device()}, {"a": device(busy_ms=10_050)})) == 100


def test_a_disk_whose_time_ran_backwards_gives_no_reading() -> None:
    before, after = {"a": device(busy_ms=10), "b": device()}, {"a": device(), "b": device(busy_ms=100)}
    assert value("disk_busy", disks(before, after)) is None


# Pressure of memory and disks.


@pytest.mark.parametrize("resource", ["memory", "io"])
def test_pressure_of_memory_and_disks_is_the_kernels_own_average_of_the_node(resource: str) -> None:
    told = {resource: Pressure(Microseconds(0), Microseconds(0), 12.5, 3.5)}
    seen = scene(sample(0, NodeCounters(pressure=told)))
    assert (value(f"{resource}_pressure_some_10s", seen), value(f"{resource}_pressure_full_10s", seen)) == (12.5, 3.5)
    assert value(f"{resource}_pressure_some_10s", scene(sample(0, NodeCounters()))) is None


# CPU pressure.


def pod(name: str, *containers: str, phase: str = "Running") -> Pod:
    made = tuple(Container(name=one, id=f"{name}-{one}") for one in containers or ("main",))
    return Pod(namespace="shop", name=name, uid=name, containers=made, phase=phase)


def waiting(
    *pods: Pod,
    stopped: tuple[str, ...] = (),
    squeezed: tuple[str, ...] = (),
    kernel: dict[str, Pressure] | None = None,
    **percent: float | None,
) -> Scene:
    """Ten seconds in which each container, by name, waited for so much of the time."""

    def counters(name: str, seconds: float) -> GroupCounters:
        share = percent.get(name)
        ran_out = round(seconds * 10) if name in stopped else 0
        stalled = None if share is None else Microseconds(round(share * 10_000 * seconds) + 5_000_000)
        return GroupCounters(cpu_some_total=stalled, periods=round(seconds * 10), throttled=ran_out)

    groups = [(GroupId(one.uid, c.id or ""), c.name) for one in pods for c in one.containers]
    node = NodeCounters(pressure=QUIET if kernel is None else kernel)
    samples = (sample(at, node, {group: counters(name, at) for group, name in groups}) for at in (0.0, 10.0))
    return scene(*samples, pods=pods, squeezed=squeezed)


def test_it_is_the_highest_of_all_pods() -> None:
    assert value(PRESSURE, waiting(pod("one", "a"), pod("two", "b"), a=10, b=40)) == 40


def test_of_a_pod_the_container_that_waits_most_counts() -> None:
    assert value(PRESSURE, waiting(pod("one", "a", "b"), a=10, b=40)) == 40


def test_every_pod_that_presses_is_an_element_under_its_name() -> None:
    metric = BUILTIN.get(PRESSURE)
    assert metric is not None
    elements = metric.elements(waiting(pod("one", "a"), pod("two", "b"), a=10, b=40))
    assert [(one.labels, float(one.value)) for one in elements if one.labels] == [
        ({"namespace": "shop", "pod": "one"}, 10),
        ({"namespace": "shop", "pod": "two"}, 40),
    ]


def test_who_holds_a_throttle_of_ours_does_not_press() -> None:
    assert value(PRESSURE, waiting(pod("one", "a"), pod("two", "b"), squeezed=("two",), a=10, b=40)) == 10


def test_a_container_that_its_own_limit_stops_in_most_periods_does_not_press() -> None:
    assert value(PRESSURE, waiting(pod("one", "a", "b"), stopped=("b",), a=10, b=40)) == 10


def test_where_nobody_presses_by_itself_it_is_zero() -> None:
    assert (
        value(PRESSURE, waiting(pod("one", "a"), pod("two", "b"), stopped=("a",), squeezed=("two",), a=90, b=90)) == 0
    )


def test_pods_that_do_not_run_and_containers_that_do_not_are_not_asked() -> None:
    pending = pod("pending", "a", phase="Pending")
    assert value(PRESSURE, waiting(pending, a=90)) == 0
    assert value(PRESSURE, waiting(Pod(namespace="shop", name="empty", uid="empty", phase="Running"))) == 0


def test_where_no_groups_pressure_can_be_read_it_is_missing() -> None:
    assert value(PRESSURE, waiting(pod("one", "a"), a=None)) is None
    assert value(PRESSURE, waiting(pod("one", "a"), pod("two", "b"), a=None, b=20)) == 20


def test_without_pods_it_is_missing_where_the_kernel_knows_no_pressure_and_zero_where_it_does() -> None:
    assert value(PRESSURE, waiting(kernel={})) is None
    assert value(PRESSURE, waiting()) == 0


def test_it_needs_two_samples() -> None:
    whole = waiting(pod("one", "a"), a=50)
    assert value(PRESSURE, scene(whole.frames.samples[0], pods=whole.pods)) is None


def test_stall_time_that_ran_backwards_is_no_reading() -> None:
    whole = waiting(pod("one", "a"), a=-10)
    assert value(PRESSURE, whole) is None


def test_it_is_never_above_all_of_the_time() -> None:
    assert value(PRESSURE, waiting(pod("one", "a"), a=101)) == 100
