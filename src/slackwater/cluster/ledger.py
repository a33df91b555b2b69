"""
The files under DIR/.slackwater: what stands for a cluster's state where the cluster is a folder.

Three parties meet here and nowhere else: the folder cluster (which writes what the agent would write to an API server), the lab (kubelet's stand-in: it runs the pods and
says what became of them) and the commands that show it. Each file has one writer. Every file is replaced whole, by a rename, so a reader never sees half of one; the users'
own files are never touched.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.units import Seconds, Wall

FOLDER = ".slackwater"


class RunningContainer(Struct, frozen=True, kw_only=True):
    name: str
    id: str  # 64 hex digits, as a runtime's
    pid: int = 0
    running: bool = True
    started_at: Wall | None = None
    cgroups: dict[str, str] = {}  # controller -> absolute path


class RunningPod(Struct, frozen=True, kw_only=True):
    """A pod's status, as kubelet would report it. Written by the lab."""

    namespace: str
    name: str
    uid: str
    phase: str  # Pending | Running | Succeeded | Failed
    reason: str = ""  # Evicted, ...
    qos_class: str = ""
    started_at: Wall | None = None
    deleted_at: Wall | None = None
    grace: Seconds | None = None
    containers: tuple[RunningContainer, ...] = ()


class EvictionNote(Struct, frozen=True, kw_only=True):
    """An eviction that was asked for. Written by the folder cluster, carried out by the lab; it stays, so that the pod does not start again."""

    namespace: str
    name: str
    uid: str
    grace: Seconds | None
    at: Wall
    why: str


class Condition(Struct, frozen=True, kw_only=True):
    type: str
    status: str
    reason: str
    message: str
    since: Wall


class TaintNote(Struct, frozen=True, kw_only=True):
    key: str
    effect: str
    value: str


class NodeState(Struct, frozen=True, kw_only=True):
    """What the agent set on the node. Written by the folder cluster."""

    taints: tuple[TaintNote, ...] = ()
    conditions: tuple[Condition, ...] = ()


def state_folder(cluster: Path) -> Path:
    return cluster / FOLDER


def pods_file(cluster: Path) -> Path:
    """A JSON list of RunningPod."""
    return state_folder(cluster) / "pods.json"


def node_file(cluster: Path) -> Path:
    """A JSON NodeState."""
    return state_folder(cluster) / "node.json"


def events_file(cluster: Path) -> Path:
    """One JSON cluster.edge.Event a line; the newest last; bounded."""
    return state_folder(cluster) / "events.jsonl"


def status_file(cluster: Path) -> Path:
    return state_folder(cluster) / "nodeslack.json"


def evictions_folder(cluster: Path) -> Path:
    """One JSON EvictionNote a pod, named by its uid."""
    return state_folder(cluster) / "evictions"


def replace(path: Path, content: bytes) -> None:
    """Puts `content` at `path` so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(path)


def running_pods(cluster: Path) -> tuple[RunningPod, ...]:
    """Nothing where no lab has been here. Raises msgspec.MsgspecError on a file that is not ours."""
    try:
        return msgspec.json.decode(pods_file(cluster).read_bytes(), type=tuple[RunningPod, ...])
    except FileNotFoundError:
        return ()


def lab_file(cluster: Path) -> Path:
    """What the lab says of itself while it runs."""
    return state_folder(cluster) / "lab.json"


class _LabSays(Struct, frozen=True):
    root: str


def lab_root(cluster: Path) -> str | None:
    """Where below every hierarchy the lab has put its pods' tree; None: there is no lab here."""
    try:
        return msgspec.json.decode(lab_file(cluster).read_bytes(), type=_LabSays).root
    except (OSError, msgspec.MsgspecError):
        return None
