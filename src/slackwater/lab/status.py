"""
What a folder's cluster holds now, as one value: the node with what the agent set on it, the pods as they run, and what happened.

Put together from the files of all who write there; reads only, and works with or without a lab or an agent running.
"""

import socket
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.objects import Taint
from slackwater.api.units import Wall
from slackwater.cluster.edge import Event
from slackwater.cluster.ledger import (
    Condition,
    NodeState,
    RunningContainer,
    RunningPod,
    events_file,
    node_file,
    running_pods,
)
from slackwater.lab import ground, presence
from slackwater.lab.manifests import Manifests


class NodeStatus(Struct, frozen=True, kw_only=True):
    name: str
    taints: tuple[Taint, ...]  # the users' and ours
    conditions: tuple[Condition, ...]


class LabStatus(Struct, frozen=True, kw_only=True):
    pid: int | None  # None: no lab runs here
    root: str
    layout: str
    version: int  # of cgroups


class Status(Struct, frozen=True, kw_only=True):
    node: NodeStatus
    pods: tuple[RunningPod, ...]
    events: tuple[Event, ...]  # oldest first
    lab: LabStatus


def status(cluster: Path) -> Status:
    """Raises msgspec.MsgspecError on files that are not ours, and OSError."""
    manifest = Manifests(cluster).wanted().node
    state = _node_state(cluster)
    ours = tuple(Taint(key=taint.key, effect=taint.effect, value=taint.value) for taint in state.taints)
    users = manifest.taints if manifest else ()
    return Status(
        node=NodeStatus(
            name=manifest.name if manifest else socket.gethostname(),
            taints=users + tuple(taint for taint in ours if taint not in users),
            conditions=state.conditions,
        ),
        pods=running_pods(cluster),
        events=tuple(sorted(_events(cluster), key=lambda event: event.at)),
        lab=_lab(cluster),
    )


def _lab(cluster: Path) -> LabStatus:
    pid, said = presence.holder(cluster), presence.said(cluster)
    if said is None:
        return LabStatus(pid=pid, root="", layout="", version=0)
    return LabStatus(pid=pid, root=said.root, layout=said.layout, version=said.version)


def _node_state(cluster: Path) -> NodeState:
    try:
        return msgspec.json.decode(node_file(cluster).read_bytes(), type=NodeState)
    except FileNotFoundError:
        return NodeState()


def _events(cluster: Path) -> list[Event]:
    return ground.read_events(events_file(cluster)) + ground.read_events(ground.events_file(cluster))


def as_json(what: Status) -> bytes:
    """In the names and forms that scripts read: camelCase, times in UTC."""
    document = {
        "node": {
            "name": what.node.name,
            "taints": what.node.taints,
            "conditions": [_condition(condition) for condition in what.node.conditions],
        },
        "pods": [_pod(pod) for pod in what.pods],
        "events": [_event(event) for event in what.events],
        "lab": what.lab,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


def _pod(pod: RunningPod) -> dict[str, object]:
    return {
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "phase": pod.phase,
        "reason": pod.reason,
        "qosClass": pod.qos_class,
        "startedAt": _time(pod.started_at),
        "deletedAt": _time(pod.deleted_at),
        "containers": [_container(container) for container in pod.containers],
    }


def _container(container: RunningContainer) -> dict[str, object]:
    return {
        "name": container.name,
        "id": container.id,
        "pid": container.pid,
        "running": container.running,
        "startedAt": _time(container.started_at),
        "cgroups": container.cgroups,
    }


def _event(event: Event) -> dict[str, object]:
    return {
        "at": _time(event.at),
        "reason": event.reason,
        "message": event.message,
        "object": event.object,
        "warning": event.warning,
    }


def _condition(condition: Condition) -> dict[str, object]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "since": _time(condition.since),
    }


def _time(at: Wall | None) -> str | None:
    """RFC 3339, to the millisecond."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
