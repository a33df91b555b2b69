"""
A machine in memory that refuses what the kernel refuses.

Tests and the simulator build its groups, set its counters and let things go wrong: a group vanishes, a write is refused, there are no extended attributes. It has no
dynamics of its own: what a quota or a weight does to usage is the simulator's to say. That it behaves as kernels do is held by one contract suite, which runs against it,
against cgroup v1 and against cgroup v2.
"""

import errno
import os
from collections import deque
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from slackwater.api.objects import QosClass
from slackwater.api.units import LOWEST_SHARES, Bytes, Microseconds, Millicores, Nanoseconds, Shares
from slackwater.host.clock import Clock
from slackwater.host.edge import KnobSupport, Refused, Survey, Vanished
from slackwater.host.weights import HIGHEST_WEIGHT, LOWEST_WEIGHT, v1_weight, v2_weight
from slackwater.snapshot.counters import GroupCounters, HostSample, NodeCounters
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, Mark, Quota, Settings, Value

_SHORTEST_QUOTA = 1000
_REMEMBERED_WRITES = 10_000
_CPU, _MEMORY = Millicores(8000), Bytes(16 << 30)


class TwinGroup(Struct):
    """One group as its files would show it. Whoever plays the kernel changes it freely; the house goes through `Twin`."""

    qos_class: QosClass
    weight: int
    quota: Microseconds | None = None
    period: Microseconds = Microseconds(100_000)
    burst: Microseconds = Microseconds(0)
    idle: bool = False
    mark: Mark | None = None
    cpu: Nanoseconds | None = Nanoseconds(0)
    periods: int | None = 0
    throttled: int | None = 0
    memory_working_set: Bytes | None = Bytes(0)
    cpu_some_total: Microseconds | None = Microseconds(0)
    refusals: dict[str, int] = {}  # by knob, or "mark": the errno to answer with

    @property
    def counters(self) -> GroupCounters:
        return GroupCounters(self.cpu, self.periods, self.throttled, self.memory_working_set, self.cpu_some_total)

    @property
    def bandwidth(self) -> float | None:
        """CPUs that the quota allows; None: all."""
        return None if self.quota is None else self.quota / self.period


class Write(Struct, frozen=True):
    """A write that was taken."""

    group: GroupId
    knob: Knob
    before: Value
    after: Value


class Twin:
    def __init__(
        self,
        clock: Clock,
        *,
        version: int = 2,
        cpu: Millicores = _CPU,
        memory: Bytes = _MEMORY,
        xattrs: bool = True,
    ) -> None:
        self.node = NodeCounters()
        self.writes: deque[Write] = deque(maxlen=_REMEMBERED_WRITES)
        self._clock = clock
        self._version = version
        self._cpu = cpu
        self._memory = memory
        self._xattrs = xattrs
        self._groups: dict[GroupId, TwinGroup] = {}
        self._followed: dict[GroupId, QosClass] = {}
        self._found: set[GroupId] = set()  # marked groups: they are reached also when nobody follows them

    # What tests and the simulator do to it.

    def add_pod(self, pod: PodGroups, shares: Shares = LOWEST_SHARES) -> TwinGroup:
        """The pod's group and its containers', unlimited, as a runtime makes them."""
        made = self._groups[GroupId(pod.uid)] = TwinGroup(pod.qos_class, self.weight_of(shares))
        for container in pod.containers:
            self.add_container(GroupId(pod.uid, container), shares)
        return made

    def add_container(self, group: GroupId, shares: Shares = LOWEST_SHARES) -> TwinGroup:
        qos_class = self._groups[GroupId(group.pod)].qos_class
        made = self._groups[group] = TwinGroup(qos_class, self.weight_of(shares))
        return made

    def group(self, group: GroupId) -> TwinGroup:
        """As the kernel has it, followed or not."""
        return self._groups[group]

    def groups(self) -> Mapping[GroupId, TwinGroup]:
        return self._groups

    def vanish(self, group: GroupId) -> None:
        """A pod's group takes its containers' with it."""
        for gone in [g for g in self._groups if g == group or (group.of_pod and g.pod == group.pod)]:
            del self._groups[gone]

    def set_usage(
        self,
        group: GroupId,
        *,
        cpu: Nanoseconds | None,
        memory: Bytes | None = None,
        throttling: tuple[int, int] | None = None,
        stalled: Microseconds | None = None,
    ) -> None:
        """What stands in a group's counters now; None: it cannot be read. `throttling` is periods, and in how many of them it ran out."""
        held = self._groups[group]
        held.cpu, held.memory_working_set, held.cpu_some_total = cpu, memory, stalled
        held.periods, held.throttled = throttling or (None, None)

    def refuse(self, group: GroupId, knob: Knob | None, answer: int | None) -> None:
        """From now on writing this knob (None: the mark) is answered with this errno; None takes it as ever."""
        held = self._groups[group]
        name = knob.value if knob else "mark"
        held.refusals.pop(name, None)
        if answer is not None:
            held.refusals[name] = answer

    def set_idle(self, group: GroupId, idle: bool) -> None:
        """Leaving idle puts back the kernel's default weight, not the one that was there."""
        held = self._groups[group]
        held.idle = idle
        held.weight = (3 if self._version == 1 else 0) if idle else (1024 if self._version == 1 else 100)

    # What the house sees of it.

    def survey(self) -> Survey:
        marks = KnobSupport(
            "marks", self._xattrs, "in memory" if self._xattrs else "this machine has no extended attributes"
        )
        names = ("quota", "weight", "memory", "throttling", "pressure")
        return Survey(
            backend="simulated",
            kernel="simulated",
            cpu=self._cpu,
            memory=self._memory,
            root="memory",
            layout="cgroupfs",
            knobs=(*(KnobSupport(name, works=True, why="in memory") for name in names), marks),
        )

    def follow(self, pods: Iterable[PodGroups]) -> None:
        self._followed = {
            group: pod.qos_class
            for pod in pods
            for group in (GroupId(pod.uid), *(GroupId(pod.uid, container) for container in pod.containers))
        }

    def sample(self, closely: Collection[GroupId] = ()) -> HostSample:
        at, wall = self._clock.instant(), self._clock.wall()
        counters = {g: self._groups[g].counters for g in self._followed if not g.of_pod and self._seen(g)}
        settings = {g: self._settings(g) for g in closely if self._seen(g)}
        return HostSample(at=at, wall=wall, node=self.node, groups=counters, settings=settings)

    def settings(self, group: GroupId) -> Settings:
        self._held(group)
        return self._settings(group)

    def write(self, group: GroupId, knob: Knob, value: Value) -> None:
        if (knob is Knob.WEIGHT) is not group.of_pod:
            raise ValueError(f"{knob} is not written on {group}: quotas go to containers, weights to pods")
        held = self._held(group)
        self._answer(held, knob.value, f"{knob} of {group}")
        if knob is Knob.QUOTA:
            before: Value = held.quota
            held.quota = self._admitted_quota(group, held, value)
        else:
            before = held.weight
            held.weight = self._admitted_weight(group, held, value)
        self.writes.append(Write(group, knob, before, held.quota if knob is Knob.QUOTA else held.weight))

    def weight_of(self, shares: Shares) -> int:
        return v1_weight(shares) if self._version == 1 else v2_weight(shares)

    def mark(self, group: GroupId) -> Mark | None:
        return self._held(group).mark

    def set_mark(self, group: GroupId, mark: Mark | None) -> None:
        held = self._held(group)
        if not self._xattrs:
            if mark is None:
                return
            raise _refusal(errno.EOPNOTSUPP, f"mark of {group}")
        self._answer(held, "mark", f"mark of {group}")
        held.mark = mark
        if mark is None:
            self._found.discard(group)
        else:
            self._found.add(group)

    def marks(self) -> Mapping[GroupId, Mark]:
        found = {group: held.mark for group, held in self._groups.items() if held.mark is not None}
        self._found = set(found)
        return found

    def close(self) -> None:
        self._followed = {}
        self._found = set()

    # The kernel's answers.

    def _seen(self, group: GroupId) -> bool:
        held = self._groups.get(group)
        return held is not None and (group in self._found or self._followed.get(group) is held.qos_class)

    def _held(self, group: GroupId) -> TwinGroup:
        if not self._seen(group):
            raise Vanished(str(group))
        return self._groups[group]

    def _settings(self, group: GroupId) -> Settings:
        held = self._groups[group]
        return Settings(weight=held.weight) if group.of_pod else Settings(quota=Quota(held.quota, held.period))

    def _answer(self, held: TwinGroup, name: str, what: str) -> None:
        if name in held.refusals:
            raise _refusal(held.refusals[name], what)

    def _admitted_quota(self, group: GroupId, held: TwinGroup, value: Value) -> Microseconds | None:
        if value is None:
            return None
        if value < 0:
            raise ValueError(f"a quota of {value}: unlimited is None")
        above = self._groups[GroupId(group.pod)].bandwidth
        too_wide = self._version == 1 and above is not None and value / held.period > above
        if value < _SHORTEST_QUOTA or value < held.burst or too_wide:
            raise _refusal(errno.EINVAL, f"quota of {group} to {value}")
        return Microseconds(value)

    def _admitted_weight(self, group: GroupId, held: TwinGroup, value: Value) -> int:
        if value is None or value < 0:
            raise ValueError(f"a weight of {value}: a weight is never unlimited")
        if held.idle:
            raise _refusal(errno.EINVAL, f"weight of {group}, which is idle")
        if self._version == 1:
            return v1_weight(Shares(value))
        if not LOWEST_WEIGHT <= value <= HIGHEST_WEIGHT:
            raise _refusal(errno.ERANGE, f"weight of {group} to {value}")
        return value


def _refusal(answer: int, what: str) -> Refused:
    return Refused(answer, f"{what}: {os.strerror(answer)}")
