"""
Pods, as slim as they are read, with the defaults that an API server fills in.

A pod has hundreds of fields that do not concern us; those are not looked at, and nothing warns of them. A pod from a file has no status: it is Pending, and its containers do
not run.
"""

import re
import uuid
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.manifests import annotations, metadata, resources
from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import Container, Origin, Pod, QosClass, Resources
from slackwater.api.units import Seconds, Wall

GRACE = 30  # what a pod has that does not say
_UIDS = uuid.UUID(
    "6f0a3c55-0c0e-4d35-9a0b-5a1c1a7e7a11"
)  # ours alone: uids made from names never meet those of a cluster
_CONTAINER_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_CONTAINER_ID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,127}")
_PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
# The two classes that every cluster has; others are known to the API server alone.
_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

_SPEC = (
    "containers", "initContainers", "priority", "priorityClassName", "nodeName", "restartPolicy", "resources",
    "terminationGracePeriodSeconds",
)  # fmt: skip
# Not read, but real, and near enough to one that is.
_CONTAINER = ("name", "resources", "command", "args", "env", "restartPolicy", "restartPolicyRules")
_RESOURCES = ("requests", "limits", "claims")
_AMOUNTS = ("cpu", "memory", "gocrane.io/cpu", "gocrane.io/memory")


class _Status(Struct, frozen=True):
    id: str | None = None
    running: bool = False
    started_at: Wall | None = None
    allocated: resources.Asked | None = None  # what kubelet has granted, where it says so


def read(top: Fields, spec: Fields, about: Metadata, origin: Origin) -> tuple[Pod, ...]:
    del origin  # a pod is named by its name; nobody is told of its file
    annotations.check(top, "Pod")
    _slips(top, spec)
    status = top.inside("status")
    initial = [(fields, resources.of_container(fields)) for fields in spec.each("initContainers")]
    main = [(fields, resources.of_container(fields)) for fields in spec.each("containers")]
    if not main:
        spec.error("containers", "is empty", "write at least one container")
    _check_names([fields for fields, _ in initial + main])
    lasting = [(fields, asked, False) for fields, asked in main] + [
        (fields, asked, True) for fields, asked in initial if _is_sidecar(fields)
    ]
    pod = resources.of_pod(
        resources.read(spec), [asked for _, asked in main], [(asked, _is_sidecar(fields)) for fields, asked in initial]
    )
    states = _states(status)
    namespace = about.namespace or "default"
    read_pod = Pod(
        namespace=namespace,
        name=about.name,
        uid=about.uid or str(uuid.uuid5(_UIDS, f"{namespace}/{about.name}")),
        labels=about.labels,
        annotations=about.annotations,
        node_name=spec.text("nodeName") or None,
        priority=_priority(spec),
        qos_class=_qos_class(status, resources.qos_class(pod, [asked for _, asked in main + initial])),
        requests=resources.rounded(pod.requests),
        limits=resources.rounded(pod.limits),
        containers=tuple(_container(fields, asked, sidecar, states) for fields, asked, sidecar in lasting),
        owner=about.owner,
        phase="Pending" if status is None else status.choice("phase", _PHASES, "Pending"),
        started_at=None if status is None else metadata.moment(status, "startTime"),
        deleted_at=about.deleted_at,
        grace=_grace(spec, about),
        restart_policy=spec.choice("restartPolicy", ("Always", "OnFailure", "Never"), "Always"),
    )
    return (read_pod,)


def _slips(top: Fields, spec: Fields) -> None:
    if (about := top.inside("metadata")) is not None:
        about.slips(metadata.FIELDS)
    spec.slips(_SPEC)
    for fields in (*spec.each("containers"), *spec.each("initContainers")):
        fields.slips(_CONTAINER)
        if (asked := fields.inside("resources")) is not None:
            asked.slips(_RESOURCES)
            for side in filter(None, (asked.inside("requests"), asked.inside("limits"))):
                side.slips(_AMOUNTS)


def _check_names(containers: Sequence[Fields]) -> None:
    """A container's name is its own among all of the pod's: its log and its place in the record go by it."""
    seen: set[str] = set()
    for fields in containers:
        name = fields.get("name")
        if isinstance(name, str) and name in seen:
            fields.error("name", "another container of this pod has the same name", "give each a name of its own", name)
        seen.add(str(name))


def _is_sidecar(fields: Fields) -> bool:
    return bool(fields.get("restartPolicy") == "Always")


def _container(fields: Fields, asked: resources.Asked, sidecar: bool, states: dict[str, _Status]) -> Container:
    name = fields.required("name", "every container has a name")
    if name and not _CONTAINER_NAME.fullmatch(name):
        fields.error("name", "is not a container's name", "use lower-case letters, digits and '-', at most 63", name)
    state = states.get(name, _Status())
    return Container(
        name=name,
        requests=_allocated(resources.rounded(asked.requests), state.allocated.requests if state.allocated else None),
        limits=_allocated(resources.rounded(asked.limits), state.allocated.limits if state.allocated else None),
        id=state.id,
        running=state.running,
        started_at=state.started_at,
        sidecar=sidecar,
        command=fields.texts("command"),
        args=fields.texts("args"),
        env=_environment(fields),
    )


def _allocated(asked: Resources, said: resources.Amounts | None) -> Resources:
    """What kubelet has granted counts, not what a resize still asks for. It speaks of CPU and memory alone."""
    if said is None:
        return asked
    granted = resources.rounded(said)
    return replace(asked, cpu=granted.cpu, memory=granted.memory)


def _environment(fields: Fields) -> dict[str, str]:
    """What comes from elsewhere (`valueFrom`) only a cluster can know."""
    entries = fields.each("env")
    return {
        entry.required("name", "name the variable"): entry.text("value")
        for entry in entries
        if not entry.has("valueFrom")
    }


def _priority(spec: Fields) -> int | None:
    if spec.has("priority"):
        return spec.whole("priority", 0, least=-(2**31))
    return _PRIORITIES.get(spec.text("priorityClassName"))


def _qos_class(status: Fields | None, computed: QosClass) -> QosClass:
    """Once it is said it holds for the pod's whole life, whatever a resize makes of its requests."""
    if status is None:
        return computed
    said = status.choice("qosClass", [member.title for member in QosClass], computed.title)
    return next(member for member in QosClass if member.title == said)


def _grace(spec: Fields, about: Metadata) -> Seconds:
    if about.deletion_grace is not None:
        return about.deletion_grace
    return Seconds(spec.whole("terminationGracePeriodSeconds", GRACE))


def _states(status: Fields | None) -> dict[str, _Status]:
    if status is None:
        return {}
    listed = [*status.each("containerStatuses"), *status.each("initContainerStatuses")]
    return {fields.text("name"): _state(fields) for fields in listed}


def _state(fields: Fields) -> _Status:
    state = fields.inside("state")
    running = state.inside("running") if state is not None else None
    return _Status(
        allocated=resources.of_container(fields) if fields.has("resources") else None,
        id=_container_id(fields),
        running=running is not None,
        started_at=None if running is None else metadata.moment(running, "startedAt"),
    )


def _container_id(fields: Fields) -> str | None:
    """containerd://abc is abc."""
    written = fields.text("containerID").rpartition("://")[2]
    if written and not _CONTAINER_ID.fullmatch(written):
        fields.error(
            "containerID", "is not a container's id", "write it as the runtime gives it: containerd://0123abcd", written
        )
        return None
    return written or None
