"""
A simulated node: pods with demands, in the groups that kubelet would make for them, whose counters move as the CPU is shared.

The groups are the host twin's, so what the agent writes there is what the scheduler goes by. The agent is nowhere in here. Pods come, end, restart under new container ids and
can hide their usage; a pod's name may return under a new uid, as in a cluster.
"""

from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.objects import Container, Pod, QosClass
from slackwater.api.units import LOWEST_SHARES, Bytes, Microseconds, Millicores, Nanoseconds, Seconds, Shares
from slackwater.claims.base import KubeletRules, base_quota, base_shares, quota_time, shares_for
from slackwater.host.twin import Twin, TwinGroup
from slackwater.sim.clock import SimulatedClock
from slackwater.sim.demand import Demand, constant
from slackwater.sim.scheduler import Group, Member, group, member, shares
from slackwater.snapshot.counters import CpuTimes, NodeCounters, Pressure
from slackwater.snapshot.groups import GroupId, PodGroups

_NS_PER_MILLICORE_SECOND = 1_000_000
_KUBELET = KubeletRules()
_OF_A_SIBLING = Shares(1024)  # the shares of system.slice beside the pods' own tree
BESIDE = -1
"""The key of what runs beside the pods."""


class Running(Struct):
    """A container that runs, with its counters as they are whether somebody can read them or not."""

    id: GroupId
    group: TwinGroup
    part: float  # of its pod's demand
    quota: Microseconds | None  # as kubelet set it
    used: float = 0.0  # nanoseconds
    periods: int = 0
    throttled: int = 0
    stalled: float = 0.0  # microseconds in which it wanted a CPU and had none, whoever held it back


class Placed(Struct):
    """A pod on the node."""

    pod: Pod
    demand: Demand
    memory: Bytes
    group: TwinGroup
    weight: int  # as kubelet set it
    containers: list[Running]
    hidden: bool = False  # its usage cannot be read
    wanted: float = 0.0  # core seconds so far
    before: float = 0.0  # nanoseconds that containers used which have ended

    @property
    def got(self) -> float:
        """Core seconds so far."""
        return (self.before + sum(one.used for one in self.containers)) / 1e9


class SimulatedNode:
    def __init__(self, clock: SimulatedClock, twin: Twin, cpu: Millicores, memory: Bytes) -> None:
        self.usage = Millicores(0)  # over the last interval, pods and system
        self.hides_cpu = False  # the node's own CPU times cannot be read
        self.system: Demand = constant(Millicores(0))  # what runs beside the pods
        self._clock = clock
        self._twin = twin
        self._cpu = cpu
        self._memory = memory
        self._placed: dict[str, Placed] = {}
        self._names = 0
        self._requested = 0  # shares, by all Burstable pods: their level weighs so much
        self.pressed = 0.0  # percent of the last interval in which somebody waited for a CPU
        self._stalled = 0.0  # microseconds so far
        self._used = 0.0  # nanoseconds
        self._idle = 0.0
        self._show()

    @property
    def pods(self) -> tuple[Pod, ...]:
        return tuple(placed.pod for placed in self._placed.values())

    def placed(self, uid: str) -> Placed:
        return self._placed[uid]

    def place(self, pod: Pod, demand: Demand, memory: Bytes) -> Pod:
        """The pod as it runs then: under a uid and container ids of its own."""
        self._names += 1
        now = self._clock.wall()
        pod = replace(
            pod,
            uid=f"{pod.namespace}-{pod.name}-{self._names}",
            phase="Running",
            started_at=pod.started_at if pod.started_at is not None else now,
        )
        pod = replace(pod, containers=tuple(self._started(pod, one) for one in pod.containers))
        made = self._twin.add_pod(PodGroups(pod.uid, pod.qos_class, ()), base_shares(pod))
        made.quota = _pod_quota(pod)
        self._requested += _of_level(pod)
        self._placed[pod.uid] = Placed(pod, demand, memory, made, made.weight, [])
        self._run(self._placed[pod.uid])
        return pod

    def change(self, pod: Pod) -> None:
        """What the cluster says of it has changed; what runs has not."""
        self._placed[pod.uid].pod = pod

    def end(self, uid: str) -> Placed:
        self._twin.vanish(GroupId(uid))
        gone = self._placed.pop(uid)
        self._requested -= _of_level(gone.pod)
        self._show()
        return gone

    def restart(self, uid: str) -> Pod:
        """All its containers, in new groups; the pod's own group stays as it is."""
        placed = self._placed[uid]
        for running in placed.containers:
            self._twin.vanish(running.id)
            placed.before += running.used
        self._names += 1
        pod = placed.pod
        placed.pod = replace(pod, containers=tuple(self._started(pod, one) for one in pod.containers))
        self._run(placed)
        return placed.pod

    def differing(self) -> list[str]:
        """What does not stand as kubelet set it, or carries a mark."""
        found = []
        for placed in self._placed.values():
            if placed.group.weight != placed.weight or placed.group.mark:
                found.append(f"{placed.pod.key}: weight {placed.group.weight}, not {placed.weight}")
            found += [
                f"{placed.pod.key}: quota {one.group.quota}, not {one.quota}"
                for one in placed.containers
                if one.group.quota != one.quota or one.group.mark
            ]
        return found

    def advance(self, by: Seconds) -> None:
        """So much time passes, which begins now with what is wanted now; the counters are as at its end."""
        now = self._clock.elapsed
        wishes = {uid: placed.demand(now) for uid, placed in self._placed.items()}
        running = [one for placed in self._placed.values() for one in placed.containers]
        given = shares(self._tree(running, wishes, self.system(now)), float(self._cpu))
        for key, one in enumerate(running):
            _count(one, given[key], wishes[one.id.pod] * one.part, by)
        waits = (_waiting(given[key], wishes[one.id.pod] * one.part) for key, one in enumerate(running))
        self.pressed = 100 * max(waits, default=0.0)
        self._stalled += self.pressed * by * 10_000
        for uid, placed in self._placed.items():
            placed.wanted += wishes[uid] * by / 1_000
            _show_usage(placed)
        self.usage = Millicores(round(sum(given.values())))
        used = sum(given.values()) * _NS_PER_MILLICORE_SECOND * by
        self._used += used
        self._idle += self._cpu * _NS_PER_MILLICORE_SECOND * by - used
        self._show()

    def _tree(self, running: list[Running], wishes: dict[str, float], system: float) -> Group:
        """As kubelet lays it out: Guaranteed pods beside the levels of the others, all of them beside the system."""
        members: dict[str, list[Member]] = {}
        for key, one in enumerate(running):
            uid, bandwidth = one.id.pod, one.group.bandwidth
            cap = None if bandwidth is None else 1_000 * bandwidth
            members.setdefault(uid, []).append(member(key, one.group.weight, wishes[uid] * one.part, cap))
        levels: dict[QosClass, list[Group]] = {qos_class: [] for qos_class in QosClass}
        for uid, inside in members.items():
            placed = self._placed[uid]
            levels[placed.pod.qos_class].append(group(placed.group.weight, tuple(inside)))
        return self._whole(levels, system)

    def _whole(self, levels: dict[QosClass, list[Group]], system: float) -> Group:
        weight_of = self._twin.weight_of
        kubepods = group(
            weight_of(shares_for(self._cpu)),
            (
                *levels[QosClass.GUARANTEED],
                group(weight_of(Shares(max(LOWEST_SHARES, self._requested))), tuple(levels[QosClass.BURSTABLE])),
                group(weight_of(LOWEST_SHARES), tuple(levels[QosClass.BEST_EFFORT])),
            ),
        )
        return group(1, (kubepods, member(BESIDE, weight_of(_OF_A_SIBLING), system)))

    def _run(self, placed: Placed) -> None:
        containers = placed.pod.containers
        limits = [float(one.limits.cpu or 0) for one in containers]
        whole = sum(limits) if all(limits) else 0.0
        placed.containers = []
        for one, limit in zip(containers, limits, strict=True):
            own = GroupId(placed.pod.uid, one.id or "")
            made = self._twin.add_container(own, base_shares_of(one))
            made.quota = base_quota(one, _KUBELET)
            part = limit / whole if whole else 1 / len(containers)
            placed.containers.append(Running(id=own, group=made, part=part, quota=made.quota))
        _show_usage(placed)

    def _started(self, pod: Pod, container: Container) -> Container:
        text = f"{pod.uid}/{container.name}/{self._names}"
        made = blake2b(text.encode(), digest_size=32).hexdigest()
        return replace(container, id=made, running=True, started_at=self._clock.wall())

    def _show(self) -> None:
        """What /proc would say."""
        zero = Nanoseconds(0)
        used, idle = Nanoseconds(int(self._used)), Nanoseconds(int(self._idle))
        times = None if self.hides_cpu else CpuTimes(used, zero, zero, idle, zero, zero, zero, zero)
        memory = Bytes(min(self._memory, sum(placed.memory for placed in self._placed.values())))
        stalled = Pressure(Microseconds(int(self._stalled)), Microseconds(0), self.pressed, 0.0)
        self._twin.node = NodeCounters(
            cpu=times, memory_total=self._memory, memory_working_set=memory, pressure={"cpu": stalled}
        )


def _waiting(given: float, wish: float) -> float:
    """The part of the time in which somebody in it waits, as if all of its work were one task's."""
    return max(0.0, 1 - given / wish) if wish > 0 else 0.0


def _count(one: Running, given: float, wish: float, by: Seconds) -> None:
    one.used += given * _NS_PER_MILLICORE_SECOND * by
    one.stalled += _waiting(given, wish) * by * 1_000_000
    bandwidth = one.group.bandwidth
    if bandwidth is None:
        return
    periods = round(by * 1_000_000 / one.group.period)
    one.periods += periods
    if wish > 1_000 * bandwidth and given >= 999 * bandwidth:
        # Who wants more than its quota and got all of it ran out of it in every period.
        one.throttled += periods


def _show_usage(placed: Placed) -> None:
    share = Bytes(placed.memory // max(1, len(placed.containers)))
    for one in placed.containers:
        shown = one.group
        shown.cpu = None if placed.hidden else Nanoseconds(int(one.used))
        shown.memory_working_set = None if placed.hidden else share
        shown.periods, shown.throttled = one.periods, one.throttled
        shown.cpu_some_total = None if placed.hidden else Microseconds(int(one.stalled))


def _of_level(pod: Pod) -> int:
    return base_shares(pod) if pod.qos_class is QosClass.BURSTABLE else 0


def base_shares_of(container: Container) -> Shares:
    return shares_for(container.requests.cpu or Millicores(0))


def _pod_quota(pod: Pod) -> Microseconds | None:
    """A pod is bounded by what it says itself; else by its containers, if every one of them is."""
    limits = [one.limits.cpu for one in pod.containers]
    whole = pod.limits.cpu or (Millicores(sum(filter(None, limits))) if all(limits) else None)
    return quota_time(whole, _KUBELET.cfs_period)
