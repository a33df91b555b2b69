"""
The groups that are followed: where each lies, and its counter files, kept open.

Pods come and go between ticks and containers within them; `follow` opens what is new and closes what is no longer wanted, and costs nothing where nothing changed. A group
that is wanted and not there is looked for again at each call; one that goes while it is read is closed and counts as not there.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from slackwater.api.objects import QosClass
from slackwater.host.driver import Driver
from slackwater.host.files import OpenFiles, TooManyFiles, read_once
from slackwater.host.layout import RUNTIMES, Layout
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.groups import GroupId, PodGroups

# A runtime makes a group in one hierarchy after the other; what is not there some ticks after the first has come will not come.
_LOOKS = 5
_log = logging.getLogger(__name__)


class FollowedGroups:
    def __init__(self, driver: Driver, files: OpenFiles) -> None:
        self._driver = driver
        self._files = files
        self._layouts: tuple[Layout, ...] = ()
        self._pods: tuple[PodGroups, ...] = ()
        self._wanted: dict[GroupId, QosClass] = {}
        self._paths: dict[GroupId, str] = {}
        self._open: dict[GroupId, tuple[int, ...]] = {}
        self._unheld: set[GroupId] = set()  # containers whose files cannot be kept open: too many are
        self._missing: set[GroupId] = set()
        self._partial: dict[GroupId, int] = {}  # how often a container that lacks files is still to be looked at again

    def path(self, group: GroupId) -> str | None:
        return self._paths.get(group)

    def follow(self, pods: Iterable[PodGroups], layout: Layout | None) -> None:
        pods = tuple(pods)
        self._layouts = _variants(layout)
        if pods != self._pods:
            self._pods = pods
            self._want({group: pod.qos_class for pod in pods for group in _groups_of(pod)})
        for group in [group for group in self._missing if self._find(group)]:
            self._missing.discard(group)
        for group in tuple(self._partial):
            self._complete(group)

    def counters(self) -> dict[GroupId, GroupCounters]:
        """Of every followed container that is there."""
        read = self._driver.read
        counters: dict[GroupId, GroupCounters] = {}
        failed = []
        for group, files in self._open.items():
            try:
                counters[group] = read(files)
            except (OSError, ValueError, IndexError):
                failed.append(group)
        for group in (*failed, *self._unheld):
            seen = self._read_slowly(group)
            if seen is not None:
                counters[group] = seen
        for group in failed:
            self._reopen(group)
        return counters

    def close(self) -> Iterator[tuple[int, ...]]:
        """Forgets all; what was open is for the caller to close."""
        yield from self._open.values()
        self._open = {}
        self._paths = {}

    def _want(self, wanted: dict[GroupId, QosClass]) -> None:
        for group in self._wanted.keys() - wanted.keys():
            self._drop(group)
            self._missing.discard(group)
        self._missing |= wanted.keys() - self._wanted.keys()
        self._wanted = wanted
        for group in tuple(self._unheld):
            self._unheld.discard(group)
            self._hold(group)

    def _drop(self, group: GroupId) -> None:
        self._paths.pop(group, None)
        self._unheld.discard(group)
        self._partial.pop(group, None)
        self._files.close(self._open.pop(group, ()))

    def _find(self, group: GroupId) -> bool:
        path = self._path_that_exists(group)
        if path is None:
            return False
        self._paths[group] = path
        if group.of_pod:
            return True
        if not self._hold(group):
            self._drop(group)
            return False
        if self._lacks_files(group):
            self._partial[group] = _LOOKS
        return True

    def _path_that_exists(self, group: GroupId) -> str | None:
        qos_class = self._wanted[group]
        for layout in self._layouts:
            try:
                path = (
                    layout.container(group.pod, qos_class, group.container)
                    if group.container
                    else layout.pod(group.pod, qos_class)
                )
            except ValueError as error:
                _log.debug("not followed: %s", error)
                return None
            if Path(self._driver.directory(path)).is_dir():
                return path
        return None

    def _hold(self, group: GroupId) -> bool:
        """False: not one of its files is there, so neither is the group, whatever its directory was a moment ago."""
        try:
            kept = self._files.keep(self._driver.counter_files(self._paths[group]))
        except TooManyFiles:
            self._unheld.add(group)
            return True
        self._open[group] = kept
        return any(file != self._files.nothing for file in kept)

    def _lacks_files(self, group: GroupId) -> bool:
        return self._files.nothing in self._open.get(group, ())

    def _complete(self, group: GroupId) -> None:
        left = self._partial.pop(group) - 1
        self._files.close(self._open.pop(group, ()))
        if not self._hold(group):
            self._drop(group)
            self._missing.add(group)
        elif left and self._lacks_files(group):
            self._partial[group] = left

    def _reopen(self, group: GroupId) -> None:
        """After a read that failed: a group made anew under the same name has new files; one that is gone has none."""
        there = Path(self._driver.directory(self._paths[group])).is_dir()
        self._drop(group)
        if not (there and self._find(group)):
            self._missing.add(group)

    def _read_slowly(self, group: GroupId) -> GroupCounters | None:
        """File by file, each opened for it, so that one that cannot be read leaves the others. None: gone."""
        path = self._paths[group]
        if not Path(self._driver.directory(path)).is_dir():
            return None
        return parse_what_can_be(
            self._driver, [read_once(file) if file else b"" for file in self._driver.counter_files(path)]
        )


def parse_what_can_be(driver: Driver, contents: list[bytes]) -> GroupCounters:
    """A file that holds what no kernel writes costs its own counters, not the others': files are taken one by one, as long as all that was taken can be parsed."""
    taken = [b""] * len(contents)
    seen = GroupCounters()
    for index, text in enumerate(contents):
        trial = [*taken[:index], text, *taken[index + 1 :]]
        try:
            seen = driver.parse(*trial)
        except (ValueError, IndexError) as error:
            _log.debug("a cgroup file holds what cannot be read: %s", error)
        else:
            taken = trial
    return seen


def _groups_of(pod: PodGroups) -> Iterator[GroupId]:
    yield GroupId(pod.uid)
    for container in pod.containers:
        yield GroupId(pod.uid, container)


def _variants(layout: Layout | None) -> tuple[Layout, ...]:
    """The layout with every runtime's names: a node may have changed its runtime and still run what the old one started."""
    if layout is None:
        return ()
    return tuple(Layout(layout.style, runtime, layout.kubepods) for runtime in RUNTIMES[layout.style])


def walk(driver: Driver, layout: Layout) -> Mapping[GroupId, str]:
    """Every pod's and container's group that there is, with its path."""
    variants = _variants(layout)
    pods = [path for qos_class in QosClass for path in _below(driver, layout.level(qos_class))]
    found: dict[GroupId, str] = {}
    for path in pods:
        if layout.place(path):
            for each in (path, *_below(driver, path)):
                found.update((place.group, each) for variant in variants if (place := variant.place(each)))
    return found


def _below(driver: Driver, path: str) -> list[str]:
    try:
        with os.scandir(driver.directory(path)) as entries:
            return [f"{path}/{entry.name}" for entry in entries if entry.is_dir()]
    except OSError:
        return []
