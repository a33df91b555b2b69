"""
What this machine can do, found out without changing anything on it.

Each knob and each counter answers for itself whether it works here, by which file, or what is missing. Marks alone cannot be tried without writing to a group that is
kubelet's: they count as working until the kernel has refused one.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from slackwater.api.units import Bytes, Millicores
from slackwater.host.driver import Driver
from slackwater.host.edge import KnobSupport, Survey
from slackwater.host.files import read_once
from slackwater.host.layout import Layout
from slackwater.host.marks import NAMES
from slackwater.host.node import parse_memory

_MILLI = 1000


def survey(driver: Driver, layout: Layout | None, proc: str, no_marks: str) -> Survey:
    """`no_marks`: why a mark was refused before; empty where none was."""
    top = layout.top if layout else ""
    return Survey(
        backend=driver.backend,
        kernel=read_once(f"{proc}/sys/kernel/osrelease").decode().strip() or os.uname().release,
        cpu=_cpus(read_once(f"{proc}/stat")),
        memory=_memory(read_once(f"{proc}/meminfo")),
        root=driver.directory(top).rstrip("/"),
        layout=str(layout.style) if layout else "none found",
        knobs=(*_written(driver, top), *_read(driver, top), _marks(no_marks)),
    )


def _written(driver: Driver, top: str) -> Iterator[KnobSupport]:
    for knob, files in driver.knobs.items():
        file = f"{driver.directory(top)}/{files.written_to}"
        if os.access(file, os.W_OK):
            yield KnobSupport(str(knob), works=True, why=f"by {files.written_to}")
        elif not top:
            yield _not_seen_yet(str(knob))
        elif Path(file).exists():
            yield KnobSupport(
                str(knob),
                works=False,
                why=f"{file} cannot be written: the agent needs root, and the cgroup tree mounted writable",
            )
        else:
            yield KnobSupport(str(knob), works=False, why=f"no {file}: it takes {files.needs}")


def _read(driver: Driver, top: str) -> Iterator[KnobSupport]:
    for name, file in driver.features(top).items():
        if read_once(file):
            yield KnobSupport(name, works=True, why=f"by {file.rpartition('/')[2]}")
        elif not file:
            yield KnobSupport(name, works=False, why="only a unified tree tells it, and none is mounted")
        elif not top:
            yield _not_seen_yet(name)
        else:
            yield KnobSupport(name, works=False, why=f"{file} cannot be read")


def _not_seen_yet(name: str) -> KnobSupport:
    """Before the first pod's group there is nothing to look at; the controllers are there, or there would be no driver."""
    return KnobSupport(name, works=True, why="not seen yet: there are no pods' groups")


def _marks(refused: str) -> KnobSupport:
    return KnobSupport(
        "marks",
        works=not refused,
        why=refused or f"by the extended attribute {NAMES[0]}, else {NAMES[1]}; tried at the first mark",
    )


def _cpus(stat: bytes) -> Millicores:
    return Millicores(_MILLI * sum(line.startswith(b"cpu") and line[3:4].isdigit() for line in stat.splitlines()))


def _memory(meminfo: bytes) -> Bytes:
    return parse_memory(meminfo)[0]
