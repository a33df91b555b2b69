"""
One sample of the host, raw: counters as the kernel has them, rates computed by nobody yet.

Counters are stored raw so that a rate can be computed when it is read, over whatever two samples are at hand; one that
runs backwards is then no reading, not zero.
"""

from msgspec import Struct

from slackwater.api.units import Bytes, Instant, Microseconds, Nanoseconds, Wall
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Settings


class Pressure(Struct, frozen=True, gc=False):
    """PSI of one resource: stall time in total, and the kernel's own averages over 10 s in percent."""

    some_total: Microseconds
    full_total: Microseconds
    some_avg10: float
    full_avg10: float


class CpuTimes(Struct, frozen=True, gc=False):
    """The machine's CPU time by mode, all CPUs together; guest time is inside user."""

    user: Nanoseconds
    nice: Nanoseconds
    system: Nanoseconds
    idle: Nanoseconds
    iowait: Nanoseconds
    irq: Nanoseconds
    softirq: Nanoseconds
    steal: Nanoseconds

    @property
    def used(self) -> Nanoseconds:
        return Nanoseconds(self.user + self.nice + self.system + self.irq + self.softirq)


class DeviceIo(Struct, frozen=True, gc=False):
    """Bytes in and out of a disk or a network interface since it appeared."""

    read: Bytes
    written: Bytes
    busy: Microseconds = Microseconds(0)  # disks only


class NodeCounters(Struct, frozen=True, kw_only=True):
    cpu: CpuTimes | None = None
    memory_total: Bytes | None = None
    memory_working_set: Bytes | None = None  # droppable page cache excluded
    load: tuple[float, float, float] | None = None
    pressure: dict[str, Pressure] = {}  # cpu, memory, io
    disks: dict[str, DeviceIo] = {}
    networks: dict[str, DeviceIo] = {}


class GroupCounters(Struct, frozen=True, gc=False):
    """A container's group. None: could not be read this time."""

    cpu: Nanoseconds | None = None
    periods: int | None = None  # enforcement periods that have passed since the group has a quota
    throttled: int | None = None  # in how many of them it ran out
    memory_working_set: Bytes | None = None
    cpu_some_total: Microseconds | None = None  # stall time of its own cpu.pressure


class HostSample(Struct, frozen=True, kw_only=True):
    """All that one pass over the host saw. A group that is not in `groups` was not there."""

    at: Instant
    wall: Wall
    node: NodeCounters
    groups: dict[GroupId, GroupCounters] = {}
    settings: dict[GroupId, Settings] = {}  # of the groups that were to be looked at closely
