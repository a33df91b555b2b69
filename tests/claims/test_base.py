"""What kubelet itself would have set."""

import pytest
from msgspec.structs import replace

from slackwater.api.objects import Container, Pod, QosClass, Resources
from slackwater.api.units import Microseconds, Millicores
from slackwater.claims.base import KubeletRules, base_quota, base_shares, container_limit, has_finite_quota, quota_time

PERIOD = Microseconds(100_000)


def asks(request: int | None = None, limit: int | None = None, elastic: int | None = None) -> Container:
    def cpu(value: int | None) -> Millicores | None:
        return None if value is None else Millicores(value)

    return Container(
        name="main",
        requests=Resources(cpu=cpu(request)),
        limits=Resources(cpu=cpu(limit), elastic_cpu=cpu(elastic)),
    )


def pod(*containers: Container, **more: object) -> Pod:
    made = Pod(namespace="n", name="p", uid="u", qos_class=QosClass.BURSTABLE, containers=containers)
    return replace(made, **more)


@pytest.mark.parametrize(
    ("limit", "period", "time"),
    [
        (1000, 100_000, 100_000),
        (250, 100_000, 25_000),
        (1, 100_000, 1_000),  # the kernel takes no less
        (2500, 1_000_000, 2_500_000),
        (None, 100_000, None),
        (0, 100_000, 1_000),  # nothing at all is not unlimited
    ],
)
def test_a_quota_is_the_limit_per_period(limit: int | None, period: int, time: int | None) -> None:
    said = None if limit is None else Millicores(limit)
    assert quota_time(said, Microseconds(period)) == time


def test_without_cfs_quota_nobody_has_one() -> None:
    rules = KubeletRules(cfs_quota=False)
    assert base_quota(asks(limit=1000), KubeletRules()) == 100_000
    assert base_quota(asks(limit=1000), rules) is None
    assert not has_finite_quota(pod(asks(limit=1000)), rules)


def test_an_elastic_limit_is_a_reference_and_no_quota() -> None:
    assert container_limit(asks(elastic=2000)) == 2000
    assert container_limit(asks(limit=1000, elastic=2000)) == 1000
    assert base_quota(asks(elastic=2000), KubeletRules()) is None


@pytest.mark.parametrize(
    ("one", "shares"),
    [
        (pod(asks(1000)), 1024),
        (pod(asks(250), asks(250)), 512),
        (pod(asks(None)), 2),
        (pod(asks(1)), 2),
        (pod(asks(1000), qos_class=QosClass.BEST_EFFORT), 2),
        (pod(asks(250), requests=Resources(cpu=Millicores(2000))), 2048),
    ],
)
def test_a_pods_weight_is_what_it_requests(one: Pod, shares: int) -> None:
    assert base_shares(one) == shares


def test_a_pod_is_bounded_only_where_every_container_is() -> None:
    assert has_finite_quota(pod(asks(limit=1), asks(limit=1)), KubeletRules())
    assert not has_finite_quota(pod(asks(limit=1), asks()), KubeletRules())
