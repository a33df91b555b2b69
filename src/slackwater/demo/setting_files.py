"""
Every quota, weight and mark below a root, as text: to show that what was before is again.

It reads the kernel's files as a stranger would, without the parts of the house that wrote them, so that it cannot share their mistakes.
"""

import os
from collections.abc import Iterator
from pathlib import Path

FILES = frozenset({"cpu.shares", "cpu.weight", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "cpu.idle"})
MARKS = ("user.slackwater", "trusted.slackwater")


def settings_below(root: Path) -> dict[str, str]:
    return dict(_settings(root))


def _settings(root: Path) -> Iterator[tuple[str, str]]:
    for directory, _, names in os.walk(root):
        for name in sorted(FILES.intersection(names)):
            path = Path(directory) / name
            yield str(path.relative_to(root)), path.read_text().strip()
        for mark in _marks(directory):
            yield f"{Path(directory).relative_to(root)} {mark}", "marked"


def _marks(directory: str) -> list[str]:
    return [name for name in os.listxattr(directory) if name in MARKS]
