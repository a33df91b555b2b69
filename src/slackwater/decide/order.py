"""
The order in which pods are acted on: who is first in the list is acted on first.

`class_and_priority`, then the metric's own comparison, then the running time; ties end at the name, so that the same
input always gives the same plan. Pods equal in class and priority are one group: a group gives evenly before the next
one gives anything.
"""

from collections.abc import Callable, Iterable
from itertools import groupby

from slackwater.api.objects import Pod
from slackwater.api.units import Millicores
from slackwater.decide.eligibility import level
from slackwater.metrics.metric import Ranking, SortKey

GroupKey = tuple[int, int, int]


def class_and_priority(pod: Pod) -> GroupKey:
    return (level(pod), int(pod.qos_class), pod.priority or 0)


def youngest_first(pod: Pod) -> float:
    return -(pod.started_at or 0.0)


def uses_elastic_cpu(pod: Pod) -> bool:
    return any(c.requests.elastic_cpu or c.limits.elastic_cpu for c in pod.containers)


def by_cpu(usage: Callable[[Pod], Millicores | None]) -> Ranking:
    """More usage first, in whole millicores whatever the metric counts in; then users of elastic CPU, the larger share of its limit first."""

    def key(pod: Pod) -> SortKey:
        used = usage(pod) or 0
        elastic = sum(container.limits.elastic_cpu or 0 for container in pod.containers)
        return (-used, not uses_elastic_cpu(pod), -(used / elastic) if elastic else 0.0)

    return key


def by_use(usage: Callable[[Pod], float | None]) -> Ranking:
    """More usage first, of whatever the metric counts."""
    return lambda pod: (-(usage(pod) or 0.0),)


def ordered(pods: Iterable[Pod], ranking: Ranking) -> list[Pod]:
    return sorted(pods, key=lambda pod: (class_and_priority(pod), ranking(pod), youngest_first(pod), pod.key))


def grouped(pods: Iterable[Pod]) -> list[list[Pod]]:
    """Of an ordered list."""
    return [list(group) for _, group in groupby(pods, key=class_and_priority)]
