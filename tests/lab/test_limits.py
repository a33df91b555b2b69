"""What kubelet would write for a pod, as examples with the figures seen on a real kubelet."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.objects import Container, Pod, QosClass, Resources
from slackwater.api.units import Bytes, Millicores, Shares
from slackwater.lab import limits
from slackwater.lab.limits import Capacity, Limits
from slackwater.lab.trees import weight, writes_v1, writes_v2

GIB = 1 << 30
CAPACITY = Capacity(Millicores(4000), Bytes(16 * GIB))


def resources(cpu: int | None = None, memory: int | None = None) -> Resources:
    return Resources(cpu=None if cpu is None else Millicores(cpu), memory=None if memory is None else Bytes(memory))


def container(request: int | None = None, limit: int | None = None, **more: Any) -> Container:
    return Container(
        name="main", requests=resources(request, more.get("memory")), limits=resources(limit, more.get("memory_limit"))
    )


def pod(*containers: Container, qos: QosClass = QosClass.BURSTABLE, **more: Any) -> Pod:
    return Pod(namespace="default", name="a", uid="a", qos_class=qos, containers=containers, **more)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [(None, 2), (0, 2), (1, 2), (100, 102), (500, 512), (1000, 1024), (300_000, 262144)],
)
def test_shares_are_1024_a_core_within_the_kernels_bounds(request_: int | None, expected: int) -> None:
    assert limits.of_container(container(request_)).shares == expected


@pytest.mark.parametrize(
    ("request_", "expected"), [(100, 4), (150, 6), (500, 20), (1000, 39), (2000, 79), (None, 1), (4000, 157)]
)
def test_a_weight_follows_the_line_that_kubelet_uses(request_: int | None, expected: int) -> None:
    assert weight(limits.shares(None if request_ is None else Millicores(request_))) == expected


def test_a_pods_shares_are_those_of_its_requests_together() -> None:
    assert limits.of_pod(pod(container(500), container(250))).shares == 768


def test_a_pod_is_bounded_only_if_every_container_is() -> None:
    assert limits.of_pod(pod(container(limit=500), container(limit=250))).quota == 750
    assert limits.of_pod(pod(container(limit=500), container())).quota is None


def test_what_a_pod_says_itself_stands_over_its_containers() -> None:
    whole = pod(container(100), requests=resources(cpu=800), limits=resources(cpu=900, memory=GIB))
    assert limits.of_pod(whole) == Limits(shares=Shares(819), quota=Millicores(900), memory=Bytes(GIB))


def test_the_burstable_level_has_the_shares_of_all_burstable_requests() -> None:
    pods = [pod(container(1000)), pod(container(500)), pod(container(2000), qos=QosClass.GUARANTEED)]
    assert limits.of_level(QosClass.BURSTABLE, pods, CAPACITY).shares == 1536
    assert limits.of_level(QosClass.BEST_EFFORT, pods, CAPACITY) == Limits(shares=Shares(2))
    assert limits.of_level(QosClass.GUARANTEED, pods, CAPACITY).shares == 4096


@pytest.mark.parametrize(
    ("qos", "memory", "priority", "expected"),
    [
        (QosClass.GUARANTEED, GIB, None, -997),
        (QosClass.BEST_EFFORT, None, None, 1000),
        (QosClass.BURSTABLE, None, None, 999),
        (QosClass.BURSTABLE, 4 * GIB, None, 750),
        (QosClass.BURSTABLE, 16 * GIB, None, 3),
        (QosClass.BURSTABLE, 64 * GIB, None, 3),
        (QosClass.BURSTABLE, GIB, 2_000_001_000, -997),
    ],
)
def test_the_oom_score_follows_class_and_memory_request(
    qos: QosClass, memory: int | None, priority: int | None, expected: int
) -> None:
    one = container(memory=memory)
    assert limits.oom_score_adj(pod(one, qos=qos, priority=priority), one, CAPACITY) == expected


def test_unlimited_is_written_as_each_kernel_interface_has_it() -> None:
    assert [write.value for write in writes_v1(Limits())] == ["2", "100000", "-1", "-1"]
    assert [write.value for write in writes_v2(Limits())] == ["1", "max 100000", "max"]


@given(st.integers(1, 10_000_000))
def test_no_quota_is_below_what_the_kernel_takes(quota: int) -> None:
    assert limits.quota_time(Millicores(quota)) >= 1000


@given(st.integers(0, 10_000_000))
def test_shares_and_weight_stay_within_the_kernels_bounds(request_: int) -> None:
    shares = limits.shares(Millicores(request_))
    assert 2 <= shares <= 262144
    assert 1 <= weight(shares) <= 10_000
