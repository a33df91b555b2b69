"""
Every quota, weight and mark below a root, as text: to show that what was before is again.

It reads the kernel's files as a stranger would, without the parts of the house that wrote them, so that it cannot share their mistakes.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

FILES = frozenset({"cpu.shares", "cpu.weight", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.max", "cpu.idle"})
MARKS = ("user.slackwater", "trusted.slackwater")


def settings_below(root: Path) -> dict[str, str]:
    return dict(_settings(root))


def _settings(root: Path) -> Iterator[tuple[str, str]]:
    for directory, _, names in os.walk(root):
        here = Path(directory)
        # A group that goes while it is read is missing from the answer, which is what a comparison must see.
        with contextlib.suppress(FileNotFoundError):
            for name in sorted(FILES.intersection(names)):
                yield str((here / name).relative_to(root)), (here / name).read_text().strip()
            for mark in _marks(here):
                yield f"{here.relative_to(root)} {mark}", "marked"


def _marks(group: Path) -> list[str]:
    try:
        return [name for name in os.listxattr(group) if name in MARKS]
    except OSError as error:
        if error.errno == errno.ENOTSUP:  # then there is nothing that a mark could have been left in
            return []
        raise
