"""
What the rest of the house may ask of a machine.

Two things meet here: the kernel (`host.machine`) and an in-memory twin that refuses what the kernel refuses (`host.twin`); one contract suite runs against both.
Groups are named by pod uid and container id; paths, controllers and file formats stay behind this line. Containers vanish at any moment: reading one that is gone
is silence, writing to it raises `Vanished`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Bytes, Millicores, Shares
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, Mark, Settings, Value


class Vanished(Exception):
    """The group is not there (any more)."""


class Refused(Exception):
    """The kernel said no; `errno` says how."""

    def __init__(self, errno: int, message: str) -> None:
        super().__init__(message)
        self.errno = errno


class KnobSupport(Struct, frozen=True):
    name: str  # quota, weight, marks, pressure, ...
    works: bool
    why: str  # where it does not work: what is missing; where it does: by which files


class Survey(Struct, frozen=True, kw_only=True):
    """What does not change while the agent runs."""

    backend: str  # cgroup1 | cgroup2 | simulated
    kernel: str
    cpu: Millicores
    memory: Bytes
    root: str  # where the pods' groups lie, for people
    layout: str  # cgroupfs | systemd | none found
    knobs: tuple[KnobSupport, ...]

    def supports(self, name: str) -> bool:
        return any(knob.name == name and knob.works for knob in self.knobs)


class Host(Protocol):
    def survey(self) -> Survey: ...

    def follow(self, pods: Iterable[PodGroups]) -> None:
        """From now on these pods' groups are sampled, and no others. Cheap where nothing changed; a pod whose groups do not exist yet is looked for again at each call."""

    def sample(self, closely: Collection[GroupId] = ()) -> HostSample:
        """Counters of the node and of every followed container; of the groups in `closely` the settings too."""

    def settings(self, group: GroupId) -> Settings:
        """What stands in one group's files. Raises Vanished."""

    def write(self, group: GroupId, knob: Knob, value: Value) -> None:
        """Raises Vanished or Refused. A quota goes to a container's group and a weight to a pod's, anything else is a ValueError; a quota is in the period that stands there."""

    def weight_of(self, shares: Shares) -> int:
        """What the weight's file would hold for these shares, by the runtimes' own rule."""

    def mark(self, group: GroupId) -> Mark | None:
        """Raises Vanished."""

    def set_mark(self, group: GroupId, mark: Mark | None) -> None:
        """None takes it away. A marked group can be read and written also when it is not followed any more. Raises Vanished or Refused."""

    def marks(self) -> Mapping[GroupId, Mark]:
        """Every marked group below the pods' root, followed or not. Walks; not for a tick's path. After it, a marked group that is not followed can be read and written too."""

    def close(self) -> None: ...
