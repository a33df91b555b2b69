"""
What outlives an agent that hung: where it stood, whose function was running, and so which package is left out.

Three small files lie beside the journal. `.running` holds the name of the package that is being asked; it is mapped
into memory, so saying so costs nothing and is known even after a hang that no other thread survives. `.hung` gets the
stacks when the watchdog ends the agent. At the next start both together name the package, which then stands in
`.left-out.json` until its version changes or the file is removed. Where these files cannot be written the agent works
as well, and only forgets.
"""

import logging
import mmap
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from slackwater.api.units import Wall

log = logging.getLogger(__name__)

STANDARD_ERROR = 2
LENGTH = 256
MOST_TRACE = 4000


class LeftOut(Struct, frozen=True, kw_only=True):
    version: str
    at: Wall  # when it was found out
    trace: str = ""  # where everything stood


class Hangs:
    """The files of one agent; `settle` once at the start, `says` around each call."""

    def __init__(self, journal: Path) -> None:
        self._running_file = journal.with_name(f"{journal.name}.running")
        self._hung_file = journal.with_name(f"{journal.name}.hung")
        self.left_out_file = left_out_file(journal)
        self._running: mmap.mmap | bytearray = bytearray(LENGTH)
        self._trace: IO[bytes] | None = None

    @property
    def trace(self) -> int:
        """Where stacks go when the watchdog ends the agent."""
        return self._trace.fileno() if self._trace else STANDARD_ERROR

    def settle(self, now: Wall) -> dict[str, LeftOut]:
        """Who is left out, the package that the last agent hung in among them."""
        left_out = read_left_out(self.left_out_file)
        try:
            trace = self._last_trace()
            package = self._open()
        except OSError as error:
            log.warning("a package that hangs will not be known at the next start: %s", error)
            return left_out
        if trace:
            left_out = self._blamed(left_out, package, trace, now)
        return left_out

    def says(self, package: str) -> None:
        """Which package is being asked; empty: none."""
        self._running[:] = package.encode()[:LENGTH].ljust(LENGTH, b"\0")

    def readmit(self, names: Collection[str], left_out: Mapping[str, LeftOut]) -> None:
        """These come in another version now."""
        if names:
            self._write({name: one for name, one in left_out.items() if name not in names})

    def close(self) -> None:
        """Nothing hung: nobody need know who was asked last."""
        if self._trace is not None:
            self._trace.close()
            self._hung_file.unlink(missing_ok=True)
            self._running_file.unlink(missing_ok=True)

    def _last_trace(self) -> str:
        try:
            return self._hung_file.read_bytes()[:MOST_TRACE].decode(errors="replace")
        except FileNotFoundError:
            return ""

    def _open(self) -> str:
        """Whom the last agent was asking; from now on the files are this one's."""
        self._running_file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._running_file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(handle, LENGTH)
            mapped = mmap.mmap(handle, LENGTH)
        finally:
            os.close(handle)
        package = bytes(mapped).rstrip(b"\0").decode(errors="replace")
        self._running = mapped
        self.says("")
        self._trace = self._hung_file.open("wb", buffering=0)
        return package

    def _blamed(self, left_out: dict[str, LeftOut], package: str, trace: str, now: Wall) -> dict[str, LeftOut]:
        name, _, version = package.partition(" ")
        if not name:
            log.error("the last agent hung, and in no package's function:\n%s", trace)
            return left_out
        log.error("the last agent hung in a function of package %s; it is left out:\n%s", package, trace)
        left_out = {**left_out, name: LeftOut(version=version, at=now, trace=trace)}
        self._write(left_out)
        return left_out

    def _write(self, left_out: Mapping[str, LeftOut]) -> None:
        try:
            self.left_out_file.write_bytes(msgspec.json.format(msgspec.json.encode(left_out)))
        except OSError as error:
            log.warning("which packages are left out could not be written: %s", error)


def left_out_file(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}.left-out.json")


def read_left_out(file: Path) -> dict[str, LeftOut]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, LeftOut])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        log.warning("%s cannot be read (%s): no package is left out", file, error)
        return {}
