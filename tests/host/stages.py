"""
Where the host's contract is played: on the twin, or on this machine's kernel in a cgroup root made for it. A test asks a stage for groups, use and trouble, and the host
under test for everything else.
"""

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

from slackwater.api.objects import QosClass
from slackwater.api.units import Bytes, Instant, Microseconds, Nanoseconds, Wall
from slackwater.host.discovery import driver_at
from slackwater.host.edge import Host
from slackwater.host.layout import Layout
from slackwater.host.machine import Machine
from slackwater.host.twin import Twin
from slackwater.snapshot.groups import GroupId, PodGroups

CGROUPS = Path("/sys/fs/cgroup")
_BURN = """
import os, sys, time
for door in sys.argv[1:]:
    os.write(os.open(door, os.O_WRONLY), b"0")
start, kept = time.process_time(), b"x" * (8 << 20)
while time.process_time() < start + 0.1:
    pass
"""


class HandClock:
    """Moves when told."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def instant(self) -> Instant:
        return Instant(self.seconds)

    def wall(self) -> Wall:
        return Wall(1_700_000_000 + self.seconds)


class Stage(ABC):
    host: Host
    clock: HandClock
    version: int

    @abstractmethod
    def add(self, pod: PodGroups) -> None: ...

    @abstractmethod
    def vanish(self, group: GroupId) -> None: ...

    @abstractmethod
    def work(self, group: GroupId) -> None:
        """Somebody uses about 100 ms of CPU in the group and ends."""

    @abstractmethod
    def limit_pod(self, pod: GroupId, quota: int) -> None:
        """What kubelet does where every container has a limit."""

    @abstractmethod
    def grant_burst(self, group: GroupId, burst: int) -> None: ...

    @abstractmethod
    def make_idle(self, group: GroupId) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class TwinStage(Stage):
    def __init__(self, version: int) -> None:
        self.clock = HandClock()
        self.version = version
        self.twin = Twin(self.clock, version=version)
        self.host = self.twin

    def add(self, pod: PodGroups) -> None:
        self.twin.add_pod(pod)

    def vanish(self, group: GroupId) -> None:
        self.twin.vanish(group)

    def work(self, group: GroupId) -> None:
        self.twin.set_usage(
            group, cpu=Nanoseconds(100_000_000), memory=Bytes(1 << 20), throttling=(0, 0), stalled=Microseconds(0)
        )

    def limit_pod(self, pod: GroupId, quota: int) -> None:
        self.twin.group(pod).quota = Microseconds(quota)

    def grant_burst(self, group: GroupId, burst: int) -> None:
        self.twin.group(group).burst = Microseconds(burst)

    def make_idle(self, group: GroupId) -> None:
        self.twin.set_idle(group, idle=True)

    def close(self) -> None:
        self.twin.close()


class KernelStage(Stage):
    """Groups of our own below a root of our own, in every hierarchy there is; all of it goes at the end."""

    def __init__(self, layout: Layout | None = None, limit: int | None = None) -> None:
        self.root = f"slackwater-test-{os.getpid()}"
        self.version = 1 if driver_at(str(CGROUPS)).backend == "cgroup1" else 2
        names = ("cpu", "cpuacct", "memory", "unified") if self.version == 1 else ("",)
        self.trees = [CGROUPS / name / self.root for name in names if (CGROUPS / name).is_dir()]
        self.layout = layout or Layout()
        self.clock = HandClock()
        self._places: dict[GroupId, str] = {}
        self.make("")
        self.make(self.layout.top)
        for qos_class in QosClass:
            self.make(self.layout.level(qos_class))
        self.machine = Machine(self.clock, root=self.root, limit=limit)
        self.host = self.machine

    def make(self, path: str) -> None:
        """As a runtime does: on v2 the controllers are handed down before there is anybody to have them."""
        for tree in self.trees:
            folder = tree / path
            if self.version > 1:
                (folder.parent / "cgroup.subtree_control").write_text("+cpu +memory")
            folder.mkdir(exist_ok=True)

    def add(self, pod: PodGroups) -> None:
        path = self.layout.pod(pod.uid, pod.qos_class)
        self._places[GroupId(pod.uid)] = path
        self.make(path)
        for container in pod.containers:
            self._places[GroupId(pod.uid, container)] = f"{path}/{self.layout.container_name(container)}"
            self.make(f"{path}/{self.layout.container_name(container)}")

    def folder(self, group: GroupId) -> Path:
        """Where the knobs and the mark are."""
        return self.trees[0] / self._places[group]

    def vanish(self, group: GroupId) -> None:
        for tree in self.trees:
            _remove(tree / self._places[group])

    def work(self, group: GroupId) -> None:
        doors = [str(tree / self._places[group] / "cgroup.procs") for tree in self.trees]
        subprocess.run([sys.executable, "-S", "-c", _BURN, *doors], check=True)

    def limit_pod(self, pod: GroupId, quota: int) -> None:
        self._set(pod, "cpu.cfs_quota_us" if self.version == 1 else "cpu.max", str(quota))

    def grant_burst(self, group: GroupId, burst: int) -> None:
        self._set(group, "cpu.cfs_burst_us" if self.version == 1 else "cpu.max.burst", str(burst))

    def make_idle(self, group: GroupId) -> None:
        self._set(group, "cpu.idle", "1")

    def _set(self, group: GroupId, file: str, value: str) -> None:
        (self.folder(group) / file).write_text(value)

    def close(self) -> None:
        self.host.close()
        for tree in self.trees:
            _remove(tree)


def _remove(folder: Path) -> None:
    for path, _, _ in os.walk(folder, topdown=False):
        _rmdir(Path(path))


def _rmdir(folder: Path) -> None:
    """The kernel may take a moment to forget processes that have just ended."""
    for attempt in range(100):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if attempt == 99:
                raise
            time.sleep(0.02)
        else:
            return
