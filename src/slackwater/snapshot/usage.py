"""
Usage: what the counters of two samples say of the time between them.

A counter that ran backwards (a group made anew under an old name, a machine that woke) is no reading, never zero and
never negative. A container is matched by its runtime's id, so a restarted one begins anew by itself.
"""

from collections.abc import Collection

from msgspec import Struct

from slackwater.api.objects import Container, Pod
from slackwater.api.units import Bytes, Microseconds, Millicores, Seconds
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.groups import GroupId

LEAST_TO_TELL = 3  # samples, to know what one used who is in the newest but one for the last time


LEAST_INTERVAL = Seconds(0.001)
"""Two samples closer than this say nothing of the time between them."""


class Capacity(Struct, frozen=True):
    """What the node has, or what its Node object says it has."""

    cpu: Millicores
    memory: Bytes


class Frames(Struct, frozen=True):
    """The newest samples, oldest first; as many as the slowest rule needs in order to know what activated it."""

    samples: tuple[HostSample, ...] = ()

    @property
    def newest(self) -> HostSample | None:
        return self.samples[-1] if self.samples else None

    @property
    def before(self) -> HostSample | None:
        return self.samples[-2] if len(self.samples) > 1 else None

    def with_sample(self, sample: HostSample, keep: int) -> "Frames":
        return Frames((*self.samples, sample)[-keep:])


def _rate(delta_ns: int, elapsed: float) -> Millicores | None:
    if delta_ns < 0 or elapsed < LEAST_INTERVAL:
        return None
    return Millicores(round(delta_ns / elapsed / 1e6))


def node_cpu(frames: Frames) -> Millicores | None:
    """The machine's CPU time over the newest interval, without iowait and steal."""
    new, old = frames.newest, frames.before
    if new is None or old is None or new.node.cpu is None or old.node.cpu is None:
        return None
    return _rate(new.node.cpu.used - old.node.cpu.used, new.at - old.at)


def _cpu_between(old: HostSample, new: HostSample, group: GroupId) -> Millicores | None:
    first, last = old.groups.get(group), new.groups.get(group)
    if first is None or last is None or first.cpu is None or last.cpu is None:
        return None
    return _rate(last.cpu - first.cpu, new.at - old.at)


def container_cpu(frames: Frames, group: GroupId) -> Millicores | None:
    if frames.newest is None or frames.before is None:
        return None
    return _cpu_between(frames.before, frames.newest, group)


def mean_cpu(frames: Frames, group: GroupId, samples: int) -> Millicores | None:
    """The mean over the newest so many samples, or over as many as there are of this container."""
    if frames.newest is None:
        return None
    for old in frames.samples[-samples - 1 : -1]:
        if (mean := _cpu_between(old, frames.newest, group)) is not None:
            return mean
    return None


def groups_of(pod: Pod) -> tuple[tuple[Container, GroupId], ...]:
    """The pod's containers that run, each with its group."""
    return tuple((c, GroupId(pod.uid, c.id)) for c in pod.containers if c.id is not None and c.running)


def pod_cpu(frames: Frames, pod: Pod) -> Millicores | None:
    """All containers together; None where one of them cannot be read, for half a pod's usage is no pod's usage."""
    total = 0
    for _, group in groups_of(pod):
        if (usage := container_cpu(frames, group)) is None:
            return None
        total += usage
    return Millicores(total)


def pod_memory(frames: Frames, pod: Pod) -> Bytes | None:
    """The working sets of all its containers together; None where one cannot be read."""
    if frames.newest is None:
        return None
    total = 0
    for _, group in groups_of(pod):
        counters = frames.newest.groups.get(group)
        if counters is None or counters.memory_working_set is None:
            return None
        total += counters.memory_working_set
    return Bytes(total)


def stalled(frames: Frames, group: GroupId) -> Microseconds | None:
    """For how long of the newest interval some task of the container waited for a CPU."""
    if frames.newest is None or frames.before is None:
        return None
    first, last = frames.before.groups.get(group), frames.newest.groups.get(group)
    if first is None or last is None or first.cpu_some_total is None or last.cpu_some_total is None:
        return None
    delta = last.cpu_some_total - first.cpu_some_total
    return Microseconds(delta) if delta >= 0 else None


def departed_cpu(frames: Frames, pods: Collection[str]) -> Millicores:
    """
    What those used, when last seen, who left or ended within the newest interval: the node's figure still holds it, and
    nobody can release it any more. `pods` are the uids of those that run.
    """
    if len(frames.samples) < LEAST_TO_TELL:
        return Millicores(0)
    *_, first, last, _newest = frames.samples
    gone = (group for group in last.groups if group.pod not in pods)
    return Millicores(sum(_cpu_between(first, last, group) or 0 for group in gone))


def starved(frames: Frames, group: GroupId) -> bool:
    """Whether its quota stopped the container in most of the periods since the last sample."""
    if frames.newest is None or frames.before is None:
        return False
    first, last = frames.before.groups.get(group), frames.newest.groups.get(group)
    if first is None or last is None:
        return False
    if None in (first.periods, first.throttled, last.periods, last.throttled):
        return False
    periods = (last.periods or 0) - (first.periods or 0)
    return periods > 0 and 2 * ((last.throttled or 0) - (first.throttled or 0)) > periods
