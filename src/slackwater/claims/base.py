"""
The base: what kubelet itself would have set, computed anew whenever it is needed from the resources that are allocated
now and from kubelet's configuration.

A weight cannot be computed on cgroup v2 (runtimes disagree on the rule), so there the base is what was found, kept in
the mark.
"""

from msgspec import Struct

from slackwater.api.objects import Container, Pod, QosClass
from slackwater.api.units import LOWEST_SHARES, Microseconds, Millicores, Shares

LEAST_QUOTA = Microseconds(1_000)
SHARES_PER_CORE = 1_024


class KubeletRules(Struct, frozen=True):
    """What of kubelet's configuration decides the base."""

    cfs_quota: bool = True
    cfs_period: Microseconds = Microseconds(100_000)


def quota_time(limit: Millicores | None, period: Microseconds) -> Microseconds | None:
    """So much CPU as time per period, not below what the kernel takes; None is unlimited, and nothing at all is not."""
    if limit is None:
        return None
    return Microseconds(max(LEAST_QUOTA, limit * period // 1_000))


def container_limit(container: Container) -> Millicores | None:
    """The CPU limit as allocated; where the container has none, its elastic one."""
    return container.limits.cpu or container.limits.elastic_cpu


def base_quota(container: Container, rules: KubeletRules) -> Microseconds | None:
    """A limit of zero is none, as kubelet has it."""
    return quota_time(container.limits.cpu or None, rules.cfs_period) if rules.cfs_quota else None


def shares_for(cpu: Millicores) -> Shares:
    return Shares(max(LOWEST_SHARES, cpu * SHARES_PER_CORE // 1_000))


def base_shares(pod: Pod) -> Shares:
    """A pod's own: its requests together, or what it requests as a pod."""
    if pod.qos_class is QosClass.BEST_EFFORT:
        return LOWEST_SHARES
    own = pod.requests.cpu
    return shares_for(own if own is not None else Millicores(sum(c.requests.cpu or 0 for c in pod.containers)))


def has_finite_quota(pod: Pod, rules: KubeletRules) -> bool:
    """Whether every container's CPU is bounded by its own limit."""
    return rules.cfs_quota and all(container.limits.cpu for container in pod.containers)
