"""
The node's own counters: CPU by mode, memory, load, pressure, disks and network, from procfs.

Each file is kept open and parsed by a pure function of its text. A file that is missing (a kernel without pressure, say) leaves its part of the counters empty and hurts
nothing else.
"""

import os
import re
from collections.abc import Callable
from typing import TypeVar

from slackwater.api.units import Bytes, Instant, Microseconds, Nanoseconds
from slackwater.host.files import OpenFiles, read_whole
from slackwater.snapshot.counters import CpuTimes, DeviceIo, NodeCounters, Pressure

_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_SECTOR = 512  # whatever the disk's own sectors are, the kernel counts in these
_KIB = 1024
_PRESSURES = ("cpu", "memory", "io")
# Memory shown as a disk, loops over files and removable media say nothing of a node's disks, and a partition's bytes are in its disk's already.
_NO_DISK = re.compile(
    r"(loop|ram|zram|sr|fd)\d+|(sd|hd|vd|xvd)[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+(boot\d+)?|nbd\d+)p\d+|mmcblk\d+boot\d+"
)
# The loopback, and the host's ends of the pods' links: as many as there are pods, and what leaves the node passes a real interface too.
_NO_NETWORK = re.compile(r"lo|(veth|cali|lxc|eni|gke|azv).*")

_Part = TypeVar("_Part")


class NodeFiles:
    def __init__(self, proc: str, files: OpenFiles) -> None:
        # The first process's network is the node's, also where the agent has one of its own.
        network = f"{proc}/1/net/dev" if os.access(f"{proc}/1/net/dev", os.R_OK) else f"{proc}/net/dev"
        names = (*(f"{proc}/{name}" for name in ("stat", "meminfo", "loadavg", "diskstats")), network)
        self._stat, self._meminfo, self._load, self._disks, self._network = files.keep(names)
        self._pressure = files.keep(f"{proc}/pressure/{name}" for name in _PRESSURES)

    def read(self, instant: Callable[[], Instant]) -> tuple[Instant, NodeCounters]:
        """The instant is taken at the reading of CPU times: what else is read lies within the same few milliseconds and counts slower."""
        at = instant()
        cpu = _part(parse_cpu, self._stat)
        memory = _part(parse_memory, self._meminfo) or (None, None)
        pressures = {name: _part(parse_pressure, file) for name, file in zip(_PRESSURES, self._pressure, strict=True)}
        return at, NodeCounters(
            cpu=cpu,
            memory_total=memory[0],
            memory_working_set=memory[1],
            load=_part(parse_load, self._load),
            pressure={name: pressure for name, pressure in pressures.items() if pressure},
            disks=_part(parse_disks, self._disks) or {},
            networks=_part(parse_networks, self._network) or {},
        )

    @property
    def open(self) -> tuple[int, ...]:
        return (self._stat, self._meminfo, self._load, self._disks, self._network, *self._pressure)


def _part(parse: Callable[[bytes], _Part], file: int) -> _Part | None:
    """None: the file is missing, cannot be read, or holds what no kernel writes."""
    try:
        text = read_whole(file)
        return parse(text) if text else None
    except (OSError, ValueError, IndexError):
        return None


def parse_cpu(stat: bytes) -> CpuTimes:
    ticks = stat[: stat.index(b"\n")].split()
    return CpuTimes(*(Nanoseconds(int(tick) * _NS_PER_TICK) for tick in ticks[1:9]))


def parse_memory(meminfo: bytes) -> tuple[Bytes, Bytes]:
    """
    In total, and the working set. What the kernel itself deems available (free memory, cache and slab that can be dropped, less what it keeps back) is the
    machine's counterpart of a container's usage without its inactive files.
    """
    total, available = _kib(meminfo, b"MemTotal:"), _kib(meminfo, b"MemAvailable:")
    return Bytes(total), Bytes(max(0, total - available))


def _kib(meminfo: bytes, name: bytes) -> int:
    start = meminfo.index(name) + len(name)
    return int(meminfo[start : meminfo.index(b"kB", start)]) * _KIB


def parse_load(loadavg: bytes) -> tuple[float, float, float]:
    one, five, fifteen = (float(word) for word in loadavg.split()[:3])
    return one, five, fifteen


def parse_pressure(text: bytes) -> Pressure:
    lines = [line.replace(b"=", b" ").split() for line in text.splitlines()]
    some = lines[0]
    full = (
        lines[1] if len(lines) > 1 else [b"full", b"avg10", b"0", b"total", b"0"]
    )  # older kernels have no such line for the CPU
    return Pressure(Microseconds(int(some[-1])), Microseconds(int(full[-1])), float(some[2]), float(full[2]))


def parse_disks(diskstats: bytes) -> dict[str, DeviceIo]:
    lines = (line.split() for line in diskstats.splitlines())
    named = ((line[2].decode(), line) for line in lines)
    return {name: _disk(line) for name, line in named if not _NO_DISK.fullmatch(name)}


def _disk(line: list[bytes]) -> DeviceIo:
    return DeviceIo(Bytes(int(line[5]) * _SECTOR), Bytes(int(line[9]) * _SECTOR), Microseconds(int(line[12]) * 1000))


def parse_networks(dev: bytes) -> dict[str, DeviceIo]:
    halves = (line.split(b":", 1) for line in dev.splitlines()[2:])
    named = ((name.strip().decode(), counts.split()) for name, counts in halves)
    return {
        name: DeviceIo(Bytes(int(counts[0])), Bytes(int(counts[8])))
        for name, counts in named
        if not _NO_NETWORK.fullmatch(name)
    }
