"""
The machine we run on, behind the host edge: samples, settings, writes and marks on the kernel's own files.

It writes two things, a container's quota and a pod's weight, and one attribute, the mark; each on a path that `host.layout` made from a pod's uid, so neither a level that
kubelet owns nor anything outside the pods' groups can be meant. Whatever vanishes meanwhile is absent from a sample and `Vanished` to a write; whatever the kernel refuses
is `Refused` with its errno.
"""

import errno
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from slackwater.api.units import Shares
from slackwater.host import marks as xattrs
from slackwater.host.clock import Clock
from slackwater.host.discovery import driver_at, layout_at
from slackwater.host.edge import Refused, Survey, Vanished
from slackwater.host.files import GONE, OpenFiles
from slackwater.host.groups import FollowedGroups, walk
from slackwater.host.layout import Layout
from slackwater.host.node import NodeFiles
from slackwater.host.settings import ShownSettings
from slackwater.host.surveying import survey
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, Mark, Settings, Value


class Machine:
    """Raises NoCgroups where there is nothing to work on. `root` is where the pods' tree begins below each hierarchy: empty on a node as kubelet makes it."""

    def __init__(
        self,
        clock: Clock,
        *,
        proc: str = "/proc",
        cgroups: str = "/sys/fs/cgroup",
        root: str = "",
        limit: int | None = None,
    ) -> None:
        self._clock = clock
        self._proc = proc
        self._driver = driver_at(cgroups, root)
        self._layout: Layout | None = None
        self._files = OpenFiles(limit)
        self._node = NodeFiles(proc, self._files)
        self._groups = FollowedGroups(self._driver, self._files)
        self._settings = ShownSettings(self._driver, self._files)
        self._marked: dict[
            GroupId, str
        ] = {}  # paths of the marked groups: they are reached also when nobody follows them
        self._no_marks = ""  # why a mark was refused, once one was
        self._surveyed: tuple[Layout | None, str, Survey] | None = None  # and what it rested on

    @property
    def directory(self) -> str:
        """Where the pods' tree begins in the CPU controller's hierarchy: what an agent locks."""
        return self._driver.directory("").rstrip("/")

    def survey(self) -> Survey:
        layout = self._seen_layout()
        if self._surveyed is None or self._surveyed[:2] != (layout, self._no_marks):
            self._surveyed = (layout, self._no_marks, survey(self._driver, layout, self._proc, self._no_marks))
        return self._surveyed[2]

    def follow(self, pods: Iterable[PodGroups]) -> None:
        self._groups.follow(pods, self._seen_layout())

    def sample(self, closely: Collection[GroupId] = ()) -> HostSample:
        wall = self._clock.wall()
        at, node = self._node.read(self._clock.instant)
        groups = self._groups.counters()
        return HostSample(at=at, wall=wall, node=node, groups=groups, settings=self._shown(closely))

    def settings(self, group: GroupId) -> Settings:
        shown = self._settings.read(group, self._path(group))
        if shown is None:
            raise Vanished(str(group))
        return shown

    def write(self, group: GroupId, knob: Knob, value: Value) -> None:
        if (knob is Knob.WEIGHT) is not group.of_pod:
            raise ValueError(f"{knob} is not written on {group}: quotas go to containers, weights to pods")
        if (value is None and knob is Knob.WEIGHT) or (value is not None and value < 0):
            raise ValueError(f"{knob} of {group} to {value}: unlimited is None, and a weight is never unlimited")
        files = self._driver.knobs[knob]
        directory = self._driver.directory(self._path(group))
        try:
            _write(f"{directory}/{files.written_to}", files.text(value))
        except OSError as failure:
            raise _answer(failure, f"{knob} of {group} to {value}", directory, files.written_to) from failure

    def weight_of(self, shares: Shares) -> int:
        return self._driver.weight_of(shares)

    def mark(self, group: GroupId) -> Mark | None:
        directory = self._driver.directory(self._path(group))
        try:
            return xattrs.read(directory)
        except OSError as failure:
            raise Vanished(str(group)) from failure

    def set_mark(self, group: GroupId, mark: Mark | None) -> None:
        path = self._path(group)
        directory = self._driver.directory(path)
        try:
            if mark is None:
                xattrs.remove(directory)
                self._marked.pop(group, None)
            else:
                xattrs.write(directory, mark)
                self._no_marks = ""
                self._marked[group] = path
        except OSError as failure:
            answer = _answer(failure, f"mark of {group}")
            if failure.errno in xattrs.NOT_HERE:
                self._no_marks = str(answer)
            raise answer from failure

    def marks(self) -> Mapping[GroupId, Mark]:
        layout = self._seen_layout()
        paths = walk(self._driver, layout) if layout else {}
        found = {group: mark for group, path in paths.items() if (mark := self._mark_at(path)) is not None}
        self._marked = {group: paths[group] for group in found}
        return found

    def close(self) -> None:
        self._files.close_all((*self._groups.close(), *self._settings.close(), self._node.open))

    def _seen_layout(self) -> Layout | None:
        """Looked for until the first pod's group exists: the agent may be up before kubelet is."""
        if self._layout is None:
            self._layout = layout_at(self.directory)
        return self._layout

    def _path(self, group: GroupId) -> str:
        path = self._groups.path(group) or self._marked.get(group)
        if path is None:
            raise Vanished(str(group))
        return path

    def _shown(self, closely: Collection[GroupId]) -> dict[GroupId, Settings]:
        found = ((group, self._groups.path(group) or self._marked.get(group)) for group in closely)
        paths = {group: path for group, path in found if path}
        self._settings.sweep()
        read = ((group, self._settings.read(group, path)) for group, path in paths.items())
        return {group: shown for group, shown in read if shown}

    def _mark_at(self, path: str) -> Mark | None:
        try:
            return xattrs.read(self._driver.directory(path))
        except OSError:  # gone since it was listed
            return None


def _write(path: str, text: bytes) -> None:
    # A plain descriptor: a buffered file would keep the kernel's no to itself until it is closed.
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, text)
    finally:
        os.close(file)


def _answer(failure: OSError, what: str, directory: str = "", file: str = "") -> Refused | Vanished:
    """A file that a group lacks, while the group is there, is a knob that this kernel does not have; else what is not there has vanished."""
    number = failure.errno or 0
    # Only a file that could not be opened may be lacking: one that was open when its group died says ENODEV.
    opened = number != errno.ENOENT
    lacking = bool(file) and not opened and Path(directory).is_dir() and not Path(directory, file).exists()
    if number in GONE and not (lacking and Path(directory).is_dir()):
        return Vanished(what)
    return Refused(number, f"{what}: {os.strerror(number)}")
