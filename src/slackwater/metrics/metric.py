"""
What a metric is: its unit, its rank among metrics, how it is read for the node and for a pod, and what acting on a pod
would release.

A metric is a value made of pure functions. Built-in ones stand in one list (`metrics.builtin`); nothing registers
itself by being imported. A metric without functions of its own can be judged, and its rule then acts through another
metric that has them.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores
from slackwater.snapshot.usage import Capacity, Frames


class Unit(Enum):
    MILLICORES = "millicores"
    PERCENT = "percent"
    BYTES = "bytes"


class Ability(Struct, frozen=True):
    """
    Whether something can be done about a metric by acting on pods, and whether what it releases can be computed before.
    """

    able: bool
    quantified: bool
    why: str = ""  # where it is not able: why


UNABLE = Ability(able=False, quantified=False)
PRECISE = Ability(able=True, quantified=True)

NodeUsage = Callable[[Frames, Capacity], Amount | None]
PodUsage = Callable[[Frames, Pod, Capacity], Amount | None]
FromCpu = Callable[[Millicores, Capacity], Amount]


class Metric(Struct, frozen=True, kw_only=True):
    name: str
    unit: Unit
    description: str
    priority: int  # ActionPriority, 0-10: the highest is closed first
    of_node: NodeUsage
    of_pod: PodUsage | None = None
    throttle: Ability = UNABLE
    evict: Ability = UNABLE
    from_cpu: FromCpu | None = None  # what so much CPU is in this metric; None: CPU quotas do not move it

    @property
    def moved_by_quota(self) -> bool:
        return self.from_cpu is not None


class Catalogue(Struct, frozen=True):
    metrics: Mapping[str, Metric]

    @classmethod
    def of(cls, metrics: Iterable[Metric]) -> "Catalogue":
        return cls({metric.name: metric for metric in metrics})

    def get(self, name: str) -> Metric | None:
        return self.metrics.get(name)

    def by_rank(self, names: Iterable[str]) -> tuple[Metric, ...]:
        """The highest ActionPriority first, then by name."""
        known = (self.metrics[name] for name in set(names) if name in self.metrics)
        return tuple(sorted(known, key=lambda metric: (-metric.priority, metric.name)))

    def moved_by_quota(self) -> tuple[Metric, ...]:
        return tuple(metric for metric in self.metrics.values() if metric.moved_by_quota)
