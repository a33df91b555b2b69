"""
The demonstration's cluster as a folder of manifests: a service, batch pods beside it, a waterline, and what to do about it.

The files are what a user would write, and say so: with `--keep` they stay, and `slackwater check`, `lab`, `agent` and `explain` work on them. Batch is Burstable, asks for as
much as the service and has a negative priority, as it is in the clusters that hurt: BestEffort batch harms nobody's CPU.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from slackwater.api.units import Millicores
from slackwater.cluster.ledger import status_file
from slackwater.demo import batch
from slackwater.demo.stage import Cast

SERVICE = "service"
POLICY, RULE, ACTION = "demo-waterline", "node-cpu", "squeeze"
COOL_DOWN_SECONDS = 5
TICKS_TO_ACT = 2
TICK_SECONDS = 1


class Folder:
    """Where the manifests lie, and beside them the small files by which the programs and the demonstration speak."""

    def __init__(self, directory: Path) -> None:
        self.manifests = directory / "cluster"
        self.wires = directory / "wires"

    @property
    def requests(self) -> Path:
        return self.wires / "requests.bin"

    @property
    def switch(self) -> Path:
        return self.wires / "switch"

    @property
    def configuration(self) -> Path:
        """The agent's; so that none of this machine's takes part."""
        return self.wires / "config.yaml"

    def counter(self, pod: int, worker: int) -> Path:
        return self.wires / f"work-{pod}-{worker}"

    def agent_mode(self) -> str:
        """What an agent last said of its mode, and why; empty where none has said anything yet."""
        try:
            said = json.loads(status_file(self.manifests).read_text())
        except (FileNotFoundError, ValueError):
            return ""
        return f"{said.get('mode')} ({said.get('modeWhy')})"

    def lay(self, cast: Cast) -> None:
        """Writes everything but the waterline, which is not known yet."""
        self.manifests.mkdir(parents=True, exist_ok=True)
        self.wires.mkdir(parents=True, exist_ok=True)
        self.switch.write_bytes(batch.REST)
        self.requests.write_bytes(b"")
        self.configuration.write_text(yaml.safe_dump({"tickSeconds": TICK_SECONDS}))
        for pod in range(cast.workers.pods):
            for worker in range(cast.workers.per_pod):
                self.counter(pod, worker).write_bytes(bytes(batch.COUNTER.size))
        self._write("service.yaml", [self._service(cast)])
        self._write("batch.yaml", list(self._batch(cast)))

    def draw_waterline(self, waterline: Millicores) -> None:
        self._write("waterline.yaml", [policy(waterline), action()])

    def _write(self, name: str, documents: list[dict[str, Any]]) -> None:
        (self.manifests / name).write_text(yaml.safe_dump_all(documents, sort_keys=False, width=120))

    def _service(self, cast: Cast) -> dict[str, Any]:
        command = program("service", f"{cast.load.rate:g}", str(cast.load.turns), str(self.requests))
        resources: dict[str, Any] = {"requests": {"cpu": f"{cast.request}m", "memory": "64Mi"}}
        if cast.guaranteed:
            resources["limits"] = dict(resources["requests"])
        return pod(SERVICE, {"app": "service"}, 100, [container("main", command, resources)])

    def _batch(self, cast: Cast) -> Iterator[dict[str, Any]]:
        resources = {"requests": {"cpu": f"{cast.request}m"}}
        for number in range(cast.workers.pods):
            workers = [
                container(
                    f"worker-{worker}",
                    program("batch", str(self.switch), str(self.counter(number, worker))),
                    resources,
                )
                for worker in range(cast.workers.per_pod)
            ]
            yield pod(f"batch-{number}", {"app": "batch"}, -10, workers)


def program(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"slackwater.demo.{name}", *arguments]


def container(name: str, command: list[str], resources: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "none", "command": command, "resources": resources}


def pod(name: str, labels: dict[str, str], priority: int, containers: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "demo", "name": name, "labels": labels},
        "spec": {"priority": priority, "terminationGracePeriodSeconds": 2, "containers": containers},
    }


def policy(waterline: Millicores) -> dict[str, Any]:
    return {
        "apiVersion": "ensurance.crane.io/v1alpha1",
        "kind": "NodeQOS",
        "metadata": {"name": POLICY},
        "spec": {
            "rules": [
                {
                    "name": RULE,
                    "metricRule": {"name": "cpu_total_usage", "value": waterline},
                    "avoidanceThreshold": TICKS_TO_ACT,
                    "restoreThreshold": TICKS_TO_ACT,
                    "actionName": ACTION,
                }
            ]
        },
    }


def action() -> dict[str, Any]:
    return {
        "apiVersion": "ensurance.crane.io/v1alpha1",
        "kind": "AvoidanceAction",
        "metadata": {"name": ACTION},
        "spec": {
            "coolDownSeconds": COOL_DOWN_SECONDS,
            "throttle": {"cpuThrottle": {"minCPURatio": 10, "stepCPURatio": 10}},
            "description": "squeeze batch until the node is back under its waterline",
        },
    }
