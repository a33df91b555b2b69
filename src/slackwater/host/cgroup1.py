"""
cgroup v1: one hierarchy for each controller.

Pressure is told by the unified tree only: where one is mounted beside the controllers, runtimes make a twin of every group in it, at the same path.
"""

from collections.abc import Mapping
from os import pread

from msgspec import Struct

from slackwater.api.units import Bytes, Microseconds, Nanoseconds, Shares
from slackwater.host.driver import KnobFiles, number_after, stalled
from slackwater.host.weights import v1_weight
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.knobs import Knob, Quota, Settings, Value


def _parse_quota(time: bytes, period: bytes) -> Settings:
    microseconds = int(time)
    return Settings(quota=Quota(None if microseconds < 0 else Microseconds(microseconds), Microseconds(int(period))))


def _parse_weight(shares: bytes) -> Settings:
    return Settings(weight=int(shares))


def _number_or_none_at_all(value: Value) -> bytes:
    return b"-1" if value is None else b"%d" % value


class Cgroup1(Struct, frozen=True):
    cpu: str  # where each controller's hierarchy begins; the agent's cgroup root, if it has one, is part of it
    cpuacct: str
    memory: str
    unified: str = ""  # empty: none is mounted

    @property
    def backend(self) -> str:
        return "cgroup1"

    @property
    def knobs(self) -> Mapping[Knob, KnobFiles]:
        return _KNOBS

    def directory(self, path: str) -> str:
        return f"{self.cpu}/{path}"

    def counter_files(self, path: str) -> tuple[str, ...]:
        return (
            f"{self.cpu}/{path}/cpu.stat",
            f"{self.cpuacct}/{path}/cpuacct.usage",
            f"{self.memory}/{path}/memory.usage_in_bytes",
            f"{self.memory}/{path}/memory.stat",
            f"{self.unified}/{path}/cpu.pressure" if self.unified else "",
        )

    def read(self, files: tuple[int, ...]) -> GroupCounters:
        stat, usage, memory, memory_stat, pressure = files
        # The sizes hold the part that is parsed; the kernel makes each file's whole text for every read anyhow.
        return parse(
            pread(stat, 96, 0),
            pread(usage, 32, 0),
            pread(memory, 32, 0),
            pread(memory_stat, 4096, 0),
            pread(pressure, 128, 0),
        )

    def parse(self, *contents: bytes) -> GroupCounters:
        return parse(*contents)

    def weight_of(self, shares: Shares) -> int:
        return v1_weight(shares)

    def features(self, path: str) -> Mapping[str, str]:
        stat, _, memory, _, pressure = self.counter_files(path)
        return {"throttling": stat, "memory": memory, "pressure": pressure}


def parse(stat: bytes, usage: bytes, memory: bytes, memory_stat: bytes, pressure: bytes) -> GroupCounters:
    throttling = stat.split(None, 4)
    return GroupCounters(
        Nanoseconds(int(usage)) if usage else None,
        int(throttling[1]) if stat else None,
        int(throttling[3]) if stat else None,
        _working_set(memory, memory_stat) if memory else None,
        stalled(pressure),
    )


def _working_set(usage: bytes, stat: bytes) -> Bytes | None:
    # The total_ lines count what lies in groups below as well, as usage does.
    droppable = number_after(stat, b"total_inactive_file ")
    return None if droppable is None else Bytes(max(0, int(usage) - droppable))


_KNOBS: Mapping[Knob, KnobFiles] = {
    Knob.QUOTA: KnobFiles(
        shown_by=("cpu.cfs_quota_us", "cpu.cfs_period_us"),
        written_to="cpu.cfs_quota_us",
        parse=_parse_quota,
        text=_number_or_none_at_all,
        needs="a kernel with CONFIG_CFS_BANDWIDTH",
    ),
    Knob.WEIGHT: KnobFiles(
        shown_by=("cpu.shares",),
        written_to="cpu.shares",
        parse=_parse_weight,
        text=_number_or_none_at_all,
        needs="a kernel with CONFIG_FAIR_GROUP_SCHED",
    ),
}
