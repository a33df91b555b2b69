"""
The folder of a cluster: a node, two waterlines that throttle, and a manifest for each pod; beside them what a lab would report of the pods.

Every pod is Burstable without a limit, and batch work by its negative priority unless another is given; each has a file of its own, as clusters in version control have it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from slackwater.api.units import Wall
from slackwater.cluster.ledger import RunningContainer, RunningPod, pods_file, replace
from slackwater.snapshot.groups import PodGroups

NODE = "bench"
CPUS = 64
BATCH = -10
COOL_DOWN_SECONDS = 300
STARTED = Wall(1.0)


def lay(folder: Path, pods: Iterable[PodGroups], *, percent: int, priorities: Mapping[str, int]) -> None:
    """The waterlines are at so much of the node's capacity; `priorities` by uid."""
    _write(folder / "node.json", node())
    _write(folder / "squeeze.json", action())
    _write(folder / "usage.json", policy("usage", "cpu_total_usage", CPUS * 10 * percent))
    _write(folder / "utilization.json", policy("utilization", "cpu_total_utilization", percent))
    pods = tuple(pods)
    for pod in pods:
        _write(folder / f"{pod.uid}.json", manifest(pod, priorities.get(pod.uid, BATCH)))
    report(folder, pods)


def report(folder: Path, pods: Iterable[PodGroups]) -> None:
    """What a lab would say of them."""
    replace(pods_file(folder), msgspec.json.encode([running(pod) for pod in pods]))


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document))


def node() -> dict[str, Any]:
    capacity = {"cpu": str(CPUS), "memory": "256Gi"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "status": {"capacity": capacity}}


def action() -> dict[str, Any]:
    ratios = {"minCPURatio": 10, "stepCPURatio": 10}
    spec = {"coolDownSeconds": COOL_DOWN_SECONDS, "throttle": {"cpuThrottle": ratios}}
    return _crane("AvoidanceAction", "squeeze", spec)


def policy(name: str, metric: str, waterline: int) -> dict[str, Any]:
    rule = {"name": name, "metricRule": {"name": metric, "value": waterline}, "actionName": "squeeze"}
    return _crane("NodeQOS", name, {"rules": [rule]})


def _crane(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "ensurance.crane.io/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def manifest(pod: PodGroups, priority: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    containers = [
        {"name": f"c{number}", "image": "none", "resources": resources} for number in range(len(pod.containers))
    ]
    about = {"namespace": "batch", "name": pod.uid, "uid": pod.uid, "labels": {"app": "batch"}}
    spec = {"priority": priority, "nodeName": NODE, "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec}


def running(pod: PodGroups) -> RunningPod:
    containers = tuple(
        RunningContainer(name=f"c{number}", id=one, started_at=STARTED) for number, one in enumerate(pod.containers)
    )
    return RunningPod(
        namespace="batch", name=pod.uid, uid=pod.uid, phase="Running", started_at=STARTED, containers=containers
    )
