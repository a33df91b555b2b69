"""
Finding out what this machine has, by looking: which cgroup version holds the CPU controller, and how kubelet laid out the pods' groups.

A node is one of three: v1, v2, or both mounted side by side; what counts is where the CPU controller is. Nothing is created here, and nothing written.
"""

import os
from pathlib import Path

from slackwater.host.cgroup1 import Cgroup1
from slackwater.host.cgroup2 import Cgroup2
from slackwater.host.driver import Driver
from slackwater.host.files import read_once
from slackwater.host.layout import Layout, Style


class NoCgroups(Exception):
    """Nothing to work on; the message says what was looked for."""


def driver_at(cgroups: str, root: str = "") -> Driver:
    """The driver for what is mounted here; `root` is where our pods' tree begins below each hierarchy. Raises NoCgroups."""
    below = _below(root)
    for tree in (cgroups, f"{cgroups}/unified"):
        if b"cpu" in read_once(f"{tree}/cgroup.controllers").split():
            return Cgroup2(tree + below)
    cpu, cpuacct, memory = (_hierarchy(cgroups, controller) for controller in ("cpu", "cpuacct", "memory"))
    if not cpu:
        raise NoCgroups(
            f"no cgroup hierarchy with the cpu controller at {cgroups}: neither a unified one nor {cgroups}/cpu"
        )
    unified = _unified(cgroups)
    return Cgroup1(cpu + below, (cpuacct or cpu) + below, (memory or cpu) + below, unified + below if unified else "")


def layout_at(directory: str) -> Layout | None:
    """
    How the pods' groups are laid out below this directory; None: there are none yet. A node whose kubelet changed its driver may hold an empty tree of the other
    layout: the one with more pods in it counts.
    """
    found = [layout for layout in map(_layout_named, _names(directory)) if layout]
    return max(found, key=lambda layout: _busy(f"{directory}/{layout.top}"), default=None)


def _below(root: str) -> str:
    names = [name for name in root.split("/") if name]
    if any(name in {".", ".."} for name in names):
        raise NoCgroups(f"the cgroup root {root!r} leads out of the hierarchy")
    return "".join(f"/{name}" for name in names)


def _hierarchy(cgroups: str, controller: str) -> str:
    """A controller's v1 hierarchy; several controllers may share one, with or without links to it."""
    if Path(f"{cgroups}/{controller}/cgroup.procs").exists():
        return f"{cgroups}/{controller}"
    shared = [name for name in _names(cgroups) if controller in name.split(",")]
    return f"{cgroups}/{shared[0]}" if shared else ""


def _unified(cgroups: str) -> str:
    """The tree without controllers that lies beside v1's: pressure is told there."""
    tree = f"{cgroups}/unified"
    return tree if Path(f"{tree}/cgroup.controllers").exists() else ""


def _layout_named(name: str) -> Layout | None:
    if name == "kubepods":
        return Layout()
    stem = name.removesuffix(".slice")
    if name != stem and (stem == "kubepods" or stem.endswith("-kubepods")):
        return Layout(Style.SYSTEMD, kubepods=stem)
    return None


def _busy(top: str) -> tuple[int, int]:
    levels = _names(top)
    pods = sum(
        "pod" in name.removeprefix("kubepods") for level in levels for name in (level, *_names(f"{top}/{level}"))
    )
    return pods, len(levels)


def _names(directory: str) -> list[str]:
    """Of the directories in it, in a fixed order; none where it is not there."""
    try:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
