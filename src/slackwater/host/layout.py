"""
Where kubelet puts the groups of pods and containers, as paths below its cgroup root, and the way back from such a path to whose group it is.

There are two layouts: plain directories (`cgroupfs`), and systemd's slices and scopes, where every name repeats its parents'. Everything here is arithmetic on names;
whether a group exists is for `host.machine` to see. A name that could lead out of the pods' tree is refused here, so no path made by this module ever points elsewhere.
"""

import re
from enum import StrEnum

from msgspec import Struct

from slackwater.api.objects import QosClass
from slackwater.snapshot.groups import GroupId


class Style(StrEnum):
    CGROUPFS = "cgroupfs"
    SYSTEMD = "systemd"


RUNTIMES: dict[Style, tuple[str, ...]] = {
    Style.CGROUPFS: ("", "crio-"),
    Style.SYSTEMD: ("cri-containerd-", "crio-", "docker-"),
}
"""What each container runtime (containerd, CRI-O, Docker) puts before a container's id in its group's name."""

_LEVELS = {QosClass.GUARANTEED: "", QosClass.BURSTABLE: "burstable", QosClass.BEST_EFFORT: "besteffort"}
_QOS = {level: qos for qos, level in _LEVELS.items()}
# A uid starts with a letter or a digit: `..` and the empty name are none. A container's id has no dash, so that a prefix can be told from it.
_UID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,127}")
_CONTAINER = re.compile(r"[0-9A-Za-z]{1,128}")


class Place(Struct, frozen=True):
    """Whose group it is, and at which QoS level it lies."""

    group: GroupId
    qos_class: QosClass


class Layout(Struct, frozen=True):
    style: Style = Style.CGROUPFS
    runtime: str = ""  # stands before a container's id: one of RUNTIMES
    kubepods: str = (
        "kubepods"  # the top group's name; under a cgroup root of its own, systemd's has the root's name before it
    )

    @property
    def top(self) -> str:
        return f"{self.kubepods}.slice" if self.style is Style.SYSTEMD else self.kubepods

    def level(self, qos_class: QosClass) -> str:
        """The group that holds all pods of a class; Guaranteed pods lie in the top group itself."""
        level = _LEVELS[qos_class]
        if not level:
            return self.top
        return f"{self.top}/{self.kubepods}-{level}.slice" if self.style is Style.SYSTEMD else f"{self.top}/{level}"

    def pod(self, uid: str, qos_class: QosClass) -> str:
        if not _UID.fullmatch(uid):
            raise ValueError(f"a pod's uid cannot name a cgroup: {uid!r}")
        if self.style is Style.CGROUPFS:
            return f"{self.level(qos_class)}/pod{uid}"
        level = _LEVELS[qos_class]
        stem = f"{self.kubepods}-{level}" if level else self.kubepods
        # In a slice's name a dash separates parents from children, so kubelet writes a uid with underscores.
        return f"{self.level(qos_class)}/{stem}-pod{uid.replace('-', '_')}.slice"

    def container(self, uid: str, qos_class: QosClass, container: str) -> str:
        return f"{self.pod(uid, qos_class)}/{self.container_name(container)}"

    def container_name(self, container: str) -> str:
        if not _CONTAINER.fullmatch(container):
            raise ValueError(f"a container's id cannot name a cgroup: {container!r}")
        return f"{self.runtime}{container}.scope" if self.style is Style.SYSTEMD else f"{self.runtime}{container}"

    def path(self, place: Place) -> str:
        group = place.group
        if group.of_pod:
            return self.pod(group.pod, place.qos_class)
        return self.container(group.pod, place.qos_class, group.container)

    def place(self, path: str) -> Place | None:
        """Whose group lies at this path; None: no pod's and no container's (a QoS level, the top, or something foreign)."""
        names = path.split("/")
        if names.pop(0) != self.top or not names:
            return None
        level = self._level_named(names[0])
        if level:
            names.pop(0)
        uid = self._uid_named(names.pop(0), level) if names else None
        if uid is None or len(names) > 1:
            return None
        container = self._container_named(names[0]) if names else ""
        return None if container is None else Place(GroupId(uid, container), _QOS[level])

    def _level_named(self, name: str) -> str:
        for level in filter(None, _QOS):
            if name == (f"{self.kubepods}-{level}.slice" if self.style is Style.SYSTEMD else level):
                return level
        return ""

    def _uid_named(self, name: str, level: str) -> str | None:
        if self.style is Style.CGROUPFS:
            uid = name.removeprefix("pod")
            return uid if uid != name and _UID.fullmatch(uid) else None
        stem = f"{self.kubepods}-{level}-pod" if level else f"{self.kubepods}-pod"
        if not name.startswith(stem) or not name.endswith(".slice"):
            return None
        uid = name.removeprefix(stem).removesuffix(".slice").replace("_", "-")
        return uid if _UID.fullmatch(uid) else None

    def _container_named(self, name: str) -> str | None:
        if self.style is Style.SYSTEMD:
            if not name.endswith(".scope"):
                return None
            name = name.removesuffix(".scope")
        if not name.startswith(self.runtime):
            return None
        container = name.removeprefix(self.runtime)
        return container if _CONTAINER.fullmatch(container) else None
