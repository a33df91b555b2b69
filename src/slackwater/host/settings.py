"""
What stands in the knobs' files of the groups that are looked at closely, read through files that stay open as long as somebody looks.

A container shows its quota and a pod its weight: what the house writes, and nothing else.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from slackwater.host.driver import Driver
from slackwater.host.files import OpenFiles, TooManyFiles, read_once
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob, Settings

_LARGEST = 64


class ShownSettings:
    def __init__(self, driver: Driver, files: OpenFiles) -> None:
        self._driver = driver
        self._files = files
        self._open: dict[GroupId, tuple[int, ...]] = {}
        self._wanted: set[GroupId] = set()  # since the last sweep

    def sweep(self) -> None:
        """Once a sample: lets go of whatever nobody has looked at since the one before."""
        for group in [group for group in self._open if group not in self._wanted]:
            self._files.close(self._open.pop(group))
        self._wanted = set()

    def read(self, group: GroupId, path: str) -> Settings | None:
        """None: the group is gone. A knob that cannot be read is None in the settings."""
        knob = Knob.WEIGHT if group.of_pod else Knob.QUOTA
        self._wanted.add(group)
        try:
            contents = [os.pread(file, _LARGEST, 0) for file in self._held(group, knob, path)]
        except (OSError, TooManyFiles):
            contents = self._read_anew(group, knob, path)
        if not all(contents):
            return Settings() if Path(self._driver.directory(path)).is_dir() else None
        return self._driver.knobs[knob].parse(*contents)

    def close(self) -> Iterator[tuple[int, ...]]:
        """Forgets all; what was open is for the caller to close."""
        yield from self._open.values()
        self._open = {}

    def _held(self, group: GroupId, knob: Knob, path: str) -> tuple[int, ...]:
        if group not in self._open:
            self._open[group] = self._files.keep(self._files_of(knob, path))
        return self._open[group]

    def _read_anew(self, group: GroupId, knob: Knob, path: str) -> list[bytes]:
        self._files.close(self._open.pop(group, ()))
        return [read_once(file) for file in self._files_of(knob, path)]

    def _files_of(self, knob: Knob, path: str) -> list[str]:
        directory = self._driver.directory(path)
        return [f"{directory}/{name}" for name in self._driver.knobs[knob].shown_by]
