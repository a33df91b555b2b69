"""
Other agents that squeeze pods on this node. Two of them on one file would undo each other's work for ever, so beside one of these the agent only previews.
"""

from collections.abc import Iterator
from pathlib import Path

from slackwater.host.files import read_once

RIVALS = frozenset({"crane-agent", "koordlet"})


def other_agents(proc: str = "/proc") -> tuple[str, ...]:
    """Those that run now, as people are told of them: name and process id."""
    return tuple(f"{name} (pid {pid})" for pid, name in _rivals(proc))


def _rivals(proc: str) -> Iterator[tuple[int, str]]:
    for pid in sorted(int(entry.name) for entry in Path(proc).iterdir() if entry.name.isdecimal()):
        rival = next((name for name in _names(f"{proc}/{pid}") if name in RIVALS), None)
        if rival:
            yield pid, rival


def _names(process: str) -> tuple[str, str]:
    """What the kernel calls it, and what it calls itself."""
    called = read_once(f"{process}/comm").decode(errors="replace").strip()
    first = read_once(f"{process}/cmdline").split(b"\0", 1)[0].decode(errors="replace")
    return called, first.rpartition("/")[2]
