"""What a result says of the machine it was measured on, read from /proc."""

import os
import platform
from pathlib import Path

from slackwater.api.units import Bytes
from slackwater.demo.stage import Facts

KIB = 1024


def facts_of_this_machine(backend: str, proc: Path = Path("/proc")) -> Facts:
    memory = _fields(proc / "meminfo")
    return Facts(
        backend=backend,
        kernel=platform.release(),
        processor=_fields(proc / "cpuinfo").get("model name", platform.machine()),
        cpus=os.cpu_count() or 1,
        memory=Bytes(_kib(memory.get("MemTotal", "0"))),
        swap=Bytes(_kib(memory.get("SwapTotal", "0"))),
    )


def _fields(path: Path) -> dict[str, str]:
    """Of /proc/cpuinfo the last CPU's, which are the others' too."""
    pairs = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _kib(text: str) -> int:
    return int(text.partition(" ")[0]) * KIB
