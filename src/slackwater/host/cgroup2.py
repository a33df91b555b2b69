"""
cgroup v2: one tree, with what controllers the groups above hand down.
"""

from collections.abc import Mapping
from os import pread

from msgspec import Struct

from slackwater.api.units import Bytes, Microseconds, Nanoseconds, Shares
from slackwater.host.driver import KnobFiles, number_after, stalled
from slackwater.host.weights import v2_weight
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.knobs import Knob, Quota, Settings, Value

_NS_PER_US = 1000


def _parse_quota(text: bytes) -> Settings:
    time, period = text.split()
    return Settings(quota=Quota(None if time == b"max" else Microseconds(int(time)), Microseconds(int(period))))


def _parse_weight(text: bytes) -> Settings:
    return Settings(weight=int(text))


def _quota_text(value: Value) -> bytes:
    # A lone number leaves the period as it is.
    return b"max" if value is None else b"%d" % value


def _weight_text(value: Value) -> bytes:
    return b"%d" % (value or 0)


class Cgroup2(Struct, frozen=True):
    root: str  # where the tree begins; the agent's cgroup root, if it has one, is part of it

    @property
    def backend(self) -> str:
        return "cgroup2"

    @property
    def knobs(self) -> Mapping[Knob, KnobFiles]:
        return _KNOBS

    def directory(self, path: str) -> str:
        return f"{self.root}/{path}"

    def counter_files(self, path: str) -> tuple[str, ...]:
        return tuple(
            f"{self.root}/{path}/{name}" for name in ("cpu.stat", "memory.current", "memory.stat", "cpu.pressure")
        )

    def read(self, files: tuple[int, ...]) -> GroupCounters:
        stat, memory, memory_stat, pressure = files
        return parse(pread(stat, 1024, 0), pread(memory, 32, 0), pread(memory_stat, 4096, 0), pread(pressure, 128, 0))

    def parse(self, *contents: bytes) -> GroupCounters:
        return parse(*contents)

    def weight_of(self, shares: Shares) -> int:
        return v2_weight(shares)

    def features(self, path: str) -> Mapping[str, str]:
        stat, memory, _, pressure = self.counter_files(path)
        return {"throttling": stat, "memory": memory, "pressure": pressure}


def parse(stat: bytes, memory: bytes, memory_stat: bytes, pressure: bytes) -> GroupCounters:
    usage = number_after(stat, b"usage_usec ")
    return GroupCounters(
        None if usage is None else Nanoseconds(usage * _NS_PER_US),
        number_after(stat, b"nr_periods "),
        number_after(stat, b"nr_throttled "),
        _working_set(memory, memory_stat) if memory else None,
        stalled(pressure),
    )


def _working_set(usage: bytes, stat: bytes) -> Bytes | None:
    droppable = number_after(stat, b"\ninactive_file ")
    return None if droppable is None else Bytes(max(0, int(usage) - droppable))


_KNOBS: Mapping[Knob, KnobFiles] = {
    Knob.QUOTA: KnobFiles(
        shown_by=("cpu.max",),
        written_to="cpu.max",
        parse=_parse_quota,
        text=_quota_text,
        needs="the cpu controller, handed down to the pods, and a kernel with CONFIG_CFS_BANDWIDTH",
    ),
    Knob.WEIGHT: KnobFiles(
        shown_by=("cpu.weight",),
        written_to="cpu.weight",
        parse=_parse_weight,
        text=_weight_text,
        needs="the cpu controller, handed down to the pods",
    ),
}
