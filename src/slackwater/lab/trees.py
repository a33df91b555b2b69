"""
The cgroup hierarchies as the lab uses them: making groups, filling in their limits, seeing who is inside, and taking all away again.

A group is a path below every hierarchy at once, and always below a root of the lab's own: nothing here ever touches a group that the lab did not make. cgroup v1 and v2 differ in
two places only, the list of what is written and the handing down of controllers; on v1 each group has a twin in the unified tree (where there is one), because only
there the kernel tells its pressure.
"""

import contextlib
import errno
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from slackwater.api.units import Shares
from slackwater.lab.limits import PERIOD, Limits, quota_time

NEEDED = ("cpu", "cpuacct", "memory")
WANTED = (*NEEDED, "cpuset", "pids")
UNIFIED = "unified"
_MOUNTS = Path("/proc/self/mounts")


class NotPermitted(Exception):
    """This machine does not let us make groups; the message says what is missing."""


class Write(Struct, frozen=True):
    controller: str
    file: str
    value: str


def writes_v1(limits: Limits) -> tuple[Write, ...]:
    quota = -1 if limits.quota is None else quota_time(limits.quota)
    return (
        Write("cpu", "cpu.shares", str(limits.shares)),
        Write("cpu", "cpu.cfs_period_us", str(PERIOD)),
        Write("cpu", "cpu.cfs_quota_us", str(quota)),
        Write("memory", "memory.limit_in_bytes", str(-1 if limits.memory is None else limits.memory)),
    )


def writes_v2(limits: Limits) -> tuple[Write, ...]:
    quota = "max" if limits.quota is None else str(quota_time(limits.quota))
    return (
        Write("cpu", "cpu.weight", str(weight(limits.shares))),
        Write("cpu", "cpu.max", f"{quota} {PERIOD}"),
        Write("memory", "memory.max", "max" if limits.memory is None else str(limits.memory)),
    )


def weight(shares: Shares) -> int:
    """Kubelet's own line from 2..262144 to 1..10000."""
    return 1 + (shares - 2) * 9999 // 262142


class Trees(Struct, frozen=True):
    version: int  # 1 or 2
    mounts: dict[str, Path]  # controller -> where its hierarchy is mounted; several may share one

    def folders(self, group: str) -> dict[str, Path]:
        return {controller: mount / group for controller, mount in self.mounts.items()}

    def roots(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.mounts.values()))

    def make(self, group: str) -> None:
        """Makes a group and all above it, in every hierarchy; what is there stays as it is. Raises OSError."""
        for mount in self.roots():
            folder = mount
            for name in group.split("/"):
                if self.version > 1:
                    _hand_down(folder)
                folder /= name
                if not folder.is_dir():
                    folder.mkdir()
                    _fill_cpuset(folder)

    def apply(self, group: str, limits: Limits) -> tuple[str, ...]:
        """Writes what the group is to hold; returns what the kernel refused, in words."""
        refused = []
        for write in writes_v1(limits) if self.version == 1 else writes_v2(limits):
            file = self.mounts[write.controller] / group / write.file
            try:
                _write(file, write.value)
            except OSError as refusal:
                refused.append(f"{file}: {write.value} was refused: {refusal.strerror}")
        return tuple(refused)

    def doors(self, group: str) -> tuple[Path, ...]:
        """The files into which a process writes itself in order to be in this group everywhere."""
        return tuple(mount / group / "cgroup.procs" for mount in self.roots())

    def inside(self, group: str) -> frozenset[int]:
        """The processes in this group and below, in any hierarchy."""
        return frozenset(pid for mount in self.roots() for pid in _inside(mount / group))

    def send(self, group: str, number: signal.Signals) -> bool:
        """Signals everyone in the group and below; whether there was anyone."""
        pids = self.inside(group)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return bool(pids)

    def remove(self, group: str) -> bool:
        """Takes the group and all below it away in every hierarchy; False while somebody is still inside. Raises OSError on anything else."""
        removed = [_remove(mount / group) for mount in self.roots()]
        return all(removed)


def look(mounts: str | None = None) -> Trees:
    """Finds out what this machine has. Raises NotPermitted."""
    unified, by_controller = _mounted(_MOUNTS.read_text() if mounts is None else mounts)
    if unified and "cpu" in _controllers(unified):
        served = _controllers(unified)
        if "memory" not in served:
            raise NotPermitted(f"the memory controller is not available in {unified}: enable it, or run elsewhere")
        return Trees(
            2, {name: unified for name in (*WANTED, UNIFIED) if name in served or name in {"cpuacct", UNIFIED}}
        )
    missing = [name for name in NEEDED if name not in by_controller]
    if missing:
        raise NotPermitted(f"this machine mounts no cgroup hierarchy for {', '.join(missing)}")
    found = {name: by_controller[name] for name in WANTED if name in by_controller}
    return Trees(1, {**found, UNIFIED: unified} if unified else found)


def _mounted(mounts: str) -> tuple[Path | None, dict[str, Path]]:
    """Where the unified tree and the v1 controllers are mounted: the first mount of each counts."""
    unified: Path | None = None
    by_controller: dict[str, Path] = {}
    for line in mounts.splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2":
            unified = unified or Path(point)
        elif kind == "cgroup":
            for name in options.split(","):
                by_controller.setdefault(name, Path(point))
    return unified, by_controller


def _controllers(folder: Path) -> frozenset[str]:
    try:
        return frozenset((folder / "cgroup.controllers").read_text().split())
    except FileNotFoundError:
        return frozenset()


def _hand_down(folder: Path) -> None:
    """On v2 a group has the controllers that its parent hands down."""
    given = frozenset((folder / "cgroup.subtree_control").read_text().split())
    lacking = sorted((_controllers(folder) & frozenset(WANTED)) - given)
    if lacking:
        _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in lacking))


def _fill_cpuset(folder: Path) -> None:
    """On v1 a new cpuset is empty and takes nobody in until it has what its parent has."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        file = folder / name
        if file.exists() and not file.read_text().strip() and (folder / "cgroup.clone_children").exists():
            _write(file, (folder.parent / name).read_text().strip())


def _write(file: Path, value: str) -> None:
    # A plain descriptor: a buffered file would swallow the kernel's refusal until it is closed.
    handle = os.open(file, os.O_WRONLY)
    try:
        os.write(handle, value.encode())
    finally:
        os.close(handle)


def _groups(folder: Path) -> Iterator[Path]:
    """The group and all below it, the deepest first. Others may take groups away meanwhile."""
    for path, _, _ in os.walk(folder, topdown=False):
        yield Path(path)


def _inside(folder: Path) -> Iterable[int]:
    for group in _groups(folder):
        try:
            yield from map(int, (group / "cgroup.procs").read_text().split())
        except OSError as failure:
            if failure.errno not in {errno.ENOENT, errno.ENODEV}:  # taken away between listing and reading
                raise


def _remove(folder: Path) -> bool:
    for group in _groups(folder):
        try:
            group.rmdir()
        except FileNotFoundError:
            continue
        except OSError as refusal:
            if refusal.errno != errno.EBUSY:
                raise
            return False
    return True
