"""
What cgroup v1 and v2 must each say for themselves, and the little of parsing that both share.

A driver is names and arithmetic: where a group lies, which files hold its counters, how a knob's file reads and what is written to it. It opens nothing. Everything above
it (which groups there are, keeping files open, marks, errors) is written once, so the two versions differ in `host.cgroup1` and `host.cgroup2` and nowhere else.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Microseconds, Shares
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.knobs import Knob, Settings, Value


class KnobFiles(Struct, frozen=True, kw_only=True):
    """One knob: the files in the group's CPU directory that show it, and the one that is written."""

    shown_by: tuple[str, ...]
    written_to: str
    parse: Callable[..., Settings]  # takes what `shown_by` hold, in that order
    text: Callable[[Value], bytes]
    needs: str  # what the kernel must have for it, for people


class Driver(Protocol):
    @property
    def backend(self) -> str:
        """cgroup1 | cgroup2."""

    @property
    def knobs(self) -> Mapping[Knob, KnobFiles]: ...

    def directory(self, path: str) -> str:
        """Where the CPU controller has this group: its knobs and its mark are there, and where it is not, the group is not."""

    def counter_files(self, path: str) -> tuple[str, ...]:
        """A container's files in the order in which `read` takes them."""

    def read(self, files: tuple[int, ...]) -> GroupCounters:
        """Counters by positioned reads from open files; one that reads as empty gives None. Raises OSError when the group is gone, ValueError on what no kernel writes."""

    def parse(self, *contents: bytes) -> GroupCounters:
        """Counters from what the counter files hold; an empty one could not be read."""

    def weight_of(self, shares: Shares) -> int: ...

    def features(self, path: str) -> Mapping[str, str]:
        """What can be read of a group: its name for people, and a file that is there where the kernel has it."""


def number_after(text: bytes, key: bytes) -> int | None:
    """The number that stands right behind `key` up to the line's end; None: no such key."""
    start = text.find(key)
    if start < 0:
        return None
    start += len(key)
    return int(text[start : text.index(b"\n", start)])


def stalled(pressure: bytes) -> Microseconds | None:
    """Of a pressure file, the total of its first line: time in which somebody had to wait."""
    total = number_after(pressure, b"total=")
    return None if total is None else Microseconds(total)
