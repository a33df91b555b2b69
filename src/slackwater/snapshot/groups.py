"""
Which cgroups we speak of: a pod's own group and its containers', named by the pod's uid and the container's id, never
by a path.

Where such a group lies (v1 or v2, cgroupfs or systemd) is the host edge's business alone.
"""

from msgspec import Struct

from slackwater.api.objects import QosClass


class GroupId(Struct, frozen=True, order=True):
    pod: str  # uid
    container: str = ""  # the runtime's id; empty: the pod's own group

    @property
    def of_pod(self) -> bool:
        return not self.container

    def __str__(self) -> str:
        return f"{self.pod}/{self.container[:12]}" if self.container else self.pod


class PodGroups(Struct, frozen=True):
    """What the host must know of a pod in order to find its groups."""

    uid: str
    qos_class: QosClass
    containers: tuple[str, ...]  # the runtime's ids
