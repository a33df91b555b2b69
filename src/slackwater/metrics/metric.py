"""
What a metric is: its unit, its rank among metrics, how it is read for the node and for a pod, and what acting on a pod
would release.

A metric is a value made of pure functions. Built-in ones stand in one list (`metrics.builtin`); nothing registers itself
by being imported, and what a package brings is put beside them by the agent. A metric without functions of its own is
*indirect*: it can be judged, and its rule then acts through another metric that has them. One that CPU quotas move in a
way that can be computed says so by `from_cpu`; another tells its steps one by one.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores
from slackwater.metrics.collector import Collector
from slackwater.metrics.reading import Element
from slackwater.metrics.scene import Scene
from slackwater.metrics.steps import Standing, Step
from slackwater.snapshot.usage import Capacity


class Unit(Enum):
    MILLICORES = "millicores"
    PERCENT = "percent"
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes per second"
    TASKS = "tasks"


class OwnUnit(Struct, frozen=True):
    """What a package's metric counts in, where it is none of those above: files, requests."""

    value: str


class Ability(Struct, frozen=True):
    """Whether something can be done about a metric by acting on pods, and whether what it releases can be computed before."""

    able: bool
    quantified: bool
    why: str = ""  # where it is not able: why


UNABLE = Ability(able=False, quantified=False)
PRECISE = Ability(able=True, quantified=True)

NodeUsage = Callable[[Scene], Amount | None]
PodUsage = Callable[[Scene, Pod], Amount | None]
Vector = Callable[[Scene], tuple[Element, ...]]
FromCpu = Callable[[Millicores, Capacity], Amount]
SortKey = tuple[float | int, ...]
Ranking = Callable[[Pod], SortKey]
Sort = Callable[[Scene], Ranking | None]
StepOf = Callable[[Scene, Pod, tuple[Standing, ...]], Step | None]
ReleaseOf = Callable[[Scene, Pod], Mapping[str, Amount] | None]


def every_pod(_: Pod) -> bool:
    return True


class Metric(Struct, frozen=True, kw_only=True):
    name: str
    unit: Unit | OwnUnit
    description: str
    priority: int  # ActionPriority, 0-10: the highest is closed first
    of_node: NodeUsage
    vector: Vector | None = None  # of a metric with labels: its elements, of which of_node is the largest
    beside: NodeUsage | None = None  # what stands beside it in the record, for people; nothing is judged by it
    of_pod: PodUsage | None = None
    concerns: Callable[[Pod], bool] = every_pod  # whose use counts at all
    throttle: Ability = UNABLE
    evict: Ability = UNABLE
    from_cpu: FromCpu | None = None  # what so much CPU is in this metric; None: CPU quotas do not move it
    acts_through: str = ""  # of an indirect metric: the metric by which its rules act
    part_of_node: bool = True  # its waterline is a part of the node's capacity
    ranking: Sort | None = None  # a sort of its own, the least key first; it may answer that it cannot tell
    throttle_step: StepOf | None = None  # what one step down would claim of a pod; None: it has nothing to give
    restore_step: StepOf | None = None  # what one step of giving back would claim, and take; None: as for any other
    evict_release: ReleaseOf | None = None  # by metric, what a pod's going releases; absent: what of_pod says
    collector: Collector | None = None  # where its values come from, if not from the samples
    package: str = ""  # who brought it, with the version; empty: it is built in
    needs: str = ""  # what a machine on which it cannot be read lacks, for people
    of_groups: str = ""  # what it takes from pods' groups, as the host's survey names it; empty: it does without

    @property
    def indirect(self) -> bool:
        return bool(self.acts_through)

    @property
    def moved_by_quota(self) -> bool:
        return self.from_cpu is not None

    @property
    def stepped(self) -> bool:
        """Whether it tells its own steps."""
        return self.throttle_step is not None

    def released_by_going(self, scene: Scene, pod: Pod) -> Amount | None:
        """How much of this metric an eviction of the pod releases."""
        if self.evict_release is not None:
            releases = self.evict_release(scene, pod)
            return None if releases is None else releases.get(self.name)
        return self.of_pod(scene, pod) if self.of_pod else None

    def elements(self, scene: Scene) -> tuple[Element, ...]:
        """Nothing: it cannot be read now."""
        if self.vector is not None:
            return self.vector(scene)
        value = self.of_node(scene)
        return () if value is None else (Element(value),)


class Catalogue(Struct, frozen=True):
    metrics: Mapping[str, Metric]
    absent: Mapping[str, str] = {}  # names that somebody meant to bring, each with why it is not there
    left_out: tuple[str, ...] = ()  # packages of which no metric is there, each with why

    @classmethod
    def of(cls, metrics: Iterable[Metric]) -> "Catalogue":
        return cls({metric.name: metric for metric in metrics})

    def get(self, name: str) -> Metric | None:
        return self.metrics.get(name)

    def why_not(self, name: str) -> str:
        """Why there is no metric of this name, as far as that is known."""
        known = (self.absent[name],) if name in self.absent else self.left_out
        return "; ".join((f"there is no metric named {name!r}", *known))

    def by_rank(self, names: Iterable[str]) -> tuple[Metric, ...]:
        """The highest ActionPriority first, then by name."""
        known = (self.metrics[name] for name in set(names) if name in self.metrics)
        return tuple(sorted(known, key=lambda metric: (-metric.priority, metric.name)))
