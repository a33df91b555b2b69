"""
What kubelet writes into the groups of a pod: weights from requests, quotas and memory limits from limits, and an OOM score by class.

Written apart from the agent's own computation of the same values, on purpose: the lab plays kubelet, and a mistake that both made together would never be seen. Pure; which files
these values go to is for `lab.trees` to say.
"""

from collections.abc import Iterable

from msgspec import Struct

from slackwater.api.objects import Container, Pod, QosClass
from slackwater.api.units import HIGHEST_SHARES, LOWEST_SHARES, Bytes, Microseconds, Millicores, Shares

PERIOD = Microseconds(100_000)
_SHARES_OF_A_CORE = 1024
_LEAST_QUOTA = Microseconds(1000)  # the kernel takes nothing lower

_OOM_GUARANTEED = -997
_OOM_BEST_EFFORT = 1000
_NODE_CRITICAL = 2_000_001_000  # from this priority on kubelet scores every class as Guaranteed


class Capacity(Struct, frozen=True):
    cpu: Millicores
    memory: Bytes


class Limits(Struct, frozen=True, kw_only=True):
    """What one group is to hold."""

    shares: Shares = LOWEST_SHARES
    quota: Millicores | None = None  # None: unlimited
    memory: Bytes | None = None  # None: unlimited

    def without_quota(self) -> "Limits":
        return Limits(shares=self.shares, memory=self.memory)


def shares(request: Millicores | None) -> Shares:
    if not request:
        return LOWEST_SHARES
    return Shares(min(max(request * _SHARES_OF_A_CORE // 1000, LOWEST_SHARES), HIGHEST_SHARES))


def quota_time(quota: Millicores) -> Microseconds:
    return Microseconds(max(quota * PERIOD // 1000, _LEAST_QUOTA))


def of_container(container: Container) -> Limits:
    return Limits(
        shares=shares(container.requests.cpu),
        quota=container.limits.cpu or None,
        memory=container.limits.memory or None,
    )


def of_pod(pod: Pod) -> Limits:
    """A pod is bounded by what it says itself; else by its containers, if every one of them is."""
    cpu = pod.limits.cpu or _sum_if_all(container.limits.cpu for container in pod.containers)
    memory = pod.limits.memory or _sum_if_all(container.limits.memory for container in pod.containers)
    return Limits(
        shares=shares(requested_cpu(pod)),
        quota=None if cpu is None else Millicores(cpu),
        memory=None if memory is None else Bytes(memory),
    )


def of_level(qos_class: QosClass, pods: Iterable[Pod], capacity: Capacity) -> Limits:
    """The group that holds all pods of a class; Guaranteed pods lie in the top group itself."""
    if qos_class is QosClass.GUARANTEED:
        return Limits(shares=shares(capacity.cpu), memory=capacity.memory)
    if qos_class is QosClass.BEST_EFFORT:
        return Limits()
    together = sum(requested_cpu(pod) for pod in pods if pod.qos_class is QosClass.BURSTABLE)
    return Limits(shares=shares(Millicores(together)))


def requested_cpu(pod: Pod) -> Millicores:
    if pod.requests.cpu is not None:
        return pod.requests.cpu
    return Millicores(sum(container.requests.cpu or 0 for container in pod.containers))


def oom_score_adj(pod: Pod, container: Container, capacity: Capacity) -> int:
    """A Burstable container is the likelier victim the less memory it asked for, but never as likely as a BestEffort one, nor as unlikely as a Guaranteed one."""
    if pod.qos_class is QosClass.GUARANTEED or (pod.priority or 0) >= _NODE_CRITICAL:
        return _OOM_GUARANTEED
    if pod.qos_class is QosClass.BEST_EFFORT:
        return _OOM_BEST_EFFORT
    score = 1000 - 1000 * (container.requests.memory or 0) // capacity.memory
    return min(max(score, 1000 + _OOM_GUARANTEED), _OOM_BEST_EFFORT - 1)


def _sum_if_all(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if not value:
            return None
        total += value
    return total or None
