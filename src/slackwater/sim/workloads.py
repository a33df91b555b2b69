"""
The workloads of a scenario: so many pods alike, when they come and go, and what they want.

A pod is read by the reader of pods, so everything a manifest may say of one may stand here; name and controller are given to it.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.manifests import metadata, pods
from slackwater.api.manifests.fields import Fields
from slackwater.api.objects import Origin, Owner, Pod
from slackwater.api.units import Seconds
from slackwater.sim import curves
from slackwater.sim.curves import Curve, Measure, Setting

FIELDS = ("name", "replicas", "pod", "cpu", "memory", "arrives", "leaves", "returns", "bare")
MOST_REPLICAS = 5_000
_PLAIN: dict[str, Any] = {"containers": [{"name": "main"}]}


class Workload(Struct, frozen=True, kw_only=True):
    name: str
    pods: tuple[Pod, ...]  # not placed yet
    cpu: Curve | None = None  # None: it wants nothing
    memory: Curve | None = None
    arrives: Seconds = Seconds(0)
    leaves: Seconds | None = None
    returns: Seconds | None = None  # so long after an eviction; None: never


def read(spec: Fields, measures: tuple[Measure, Measure], setting: Setting) -> tuple[Workload, ...]:
    if not spec.has("workloads"):
        spec.error("workloads", "is missing", "write at least one: a name, a pod and what it wants of the CPU")
        return ()
    found = [_workload(fields, measures, setting) for fields in spec.each("workloads")]
    _check_names(spec, found)
    return tuple(found)


def _check_names(spec: Fields, found: list[Workload]) -> None:
    seen: set[str] = set()
    listed = Fields(spec.document, {}, spec.findings, (*spec.path, "workloads"))
    for index, workload in enumerate(found):
        if workload.name in seen:
            listed.error(index, "another workload has the same name", "give each a name of its own", workload.name)
        seen.add(workload.name)


def _workload(fields: Fields, measures: tuple[Measure, Measure], setting: Setting) -> Workload:
    fields.known(FIELDS)
    name = metadata.name(fields, "name")
    replicas = fields.whole("replicas", 1, least=0, most=MOST_REPLICAS)
    cpu, memory = (curves.read(fields, measure, setting) for measure in measures)
    arrives = fields.duration("arrives") or Seconds(0)
    leaves = fields.duration("leaves")
    if leaves is not None and leaves <= arrives:
        fields.error("leaves", "is no later than it arrives", "write a later time", fields.get("leaves"))
    return Workload(
        name=name,
        pods=_pods(fields, name or "unnamed", replicas),
        cpu=cpu,
        memory=memory,
        arrives=arrives,
        leaves=leaves,
        returns=fields.duration("returns"),
    )


def _pods(fields: Fields, name: str, replicas: int) -> tuple[Pod, ...]:
    """All alike but for their names, so the manifest is read once, and what is wrong with it is said once."""
    first = _pod(fields, name)
    if first is None:
        return ()
    owner = None if fields.flag("bare") else first.owner or Owner("ReplicaSet", name)
    return tuple(replace(first, name=f"{name}-{index}", owner=owner) for index in range(replicas))


def _pod(fields: Fields, name: str) -> Pod | None:
    written = fields.inside("pod") if fields.has("pod") else None
    if fields.has("pod") and written is None:
        return None
    values: dict[str, Any] = dict(written.values) if written is not None else {}
    about = values.get("metadata") or {}
    if isinstance(about, dict):
        values["metadata"] = {**about, "name": f"{name}-0"}
    values.setdefault("spec", _PLAIN)
    top = Fields(fields.document, values, fields.findings, (*fields.path, "pod"))
    top.known(("apiVersion", "kind", "metadata", "spec", "status"))
    spec = top.inside("spec")
    if spec is None:
        return None
    origin = Origin(fields.document.file, top.line())
    return next(iter(pods.read(top, spec, metadata.read(top), origin)), None)
