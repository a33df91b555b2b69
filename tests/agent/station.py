"""
A node to try the agent on: a folder cluster, its lab, and the real agent as a process, on this machine's own cgroups.

Waterlines are set so low that any busy loop is over them and so high that nothing is, so that no test depends on how busy the machine is.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from slackwater.cluster.ledger import NodeState, node_file, replace
from slackwater.lab.folder import Lab

LOW, HIGH = 100, 1_000_000
LOOP = ["sh", "-c", "while :; do :; done"]
PATIENCE_SECONDS = 100.0
KNOBS = ("cpu.cfs_quota_us", "cpu.shares", "cpu.max", "cpu.weight")


class Station:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lab = Lab(folder)
        self.agents: list[subprocess.Popen[bytes]] = []

    # What a user writes.

    def pod(self, name: str, *, priority: int = -10, cpu: str = "200m", limit: str = "", **metadata: Any) -> None:
        resources: dict[str, Any] = {"requests": {"cpu": cpu, "memory": "64Mi"}}
        if limit:
            resources["limits"] = {"cpu": limit, "memory": "64Mi"}
        self._write(
            f"pod-{name}",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, **metadata},
                "spec": {
                    "priority": priority,
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "main", "image": "none", "command": LOOP, "resources": resources}],
                },
            },
        )

    def action(self, name: str, **spec: Any) -> None:
        body = {"coolDownSeconds": 1, **spec}
        self._write(
            f"action-{name}",
            {
                "apiVersion": "ensurance.crane.io/v1alpha1",
                "kind": "AvoidanceAction",
                "metadata": {"name": name},
                "spec": body,
            },
        )

    def policy(self, action: str, value: int, *, strategy: str = "None") -> None:
        rule = {
            "name": "cpu-usage",
            "avoidanceThreshold": 1,
            "actionName": action,
            "strategy": strategy,
            "metricRule": {"name": "cpu_total_usage", "value": value},
        }
        self._write(
            "policy",
            {
                "apiVersion": "ensurance.crane.io/v1alpha1",
                "kind": "NodeQOSEnsurancePolicy",
                "metadata": {"name": "waterline"},
                "spec": {"objectiveEnsurances": [rule]},
            },
        )

    def remove(self, name: str) -> None:
        (self.folder / f"{name}.json").unlink()

    def _write(self, name: str, manifest: dict[str, Any]) -> None:
        replace(self.folder / f"{name}.json", json.dumps(manifest).encode())

    # What runs.

    def agent(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "slackwater", *self._command("agent"), "--tick-seconds", "0.5"]
        started = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.agents.append(started)
        return started

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "slackwater", *self._command(command), *arguments]
        return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=60)

    def _command(self, name: str) -> list[str]:
        return [name, "--cluster", f"folder:{self.folder}"]

    def end(self, agent: subprocess.Popen[bytes], number: signal.Signals = signal.SIGTERM) -> str:
        agent.send_signal(number)
        said, _ = agent.communicate(timeout=30)
        return said.decode()

    def close(self) -> None:
        for agent in self.agents:
            if agent.poll() is None:
                agent.kill()
            agent.communicate()
        self.lab.down(at_once=True)

    # What is.

    def knobs(self) -> dict[str, str]:
        """Every knob's file of every pod's and container's group, as it reads."""
        found = {}
        for pod in self.lab.pods():
            for container in pod.containers:
                group = Path(container.cgroups["cpu"])
                for folder in (group, group.parent):
                    for name in KNOBS:
                        if (folder / name).exists():
                            found[str(folder / name)] = (folder / name).read_text()
        return found

    def marked(self) -> list[str]:
        """The groups that carry our mark."""
        groups = {str(Path(knob).parent) for knob in self.knobs()}
        return sorted(g for g in groups if any("slackwater" in name for name in os.listxattr(g)))

    def quota_of(self, pod: str) -> str:
        """Of its first container, as the file reads."""
        container = next(one for one in self.lab.pods() if one.name == pod).containers[0]
        folder = Path(container.cgroups["cpu"])
        path = next(folder / name for name in ("cpu.cfs_quota_us", "cpu.max") if (folder / name).exists())
        return path.read_text().split()[0]

    def node(self) -> NodeState:
        path = node_file(self.folder)
        return msgspec.json.decode(path.read_bytes(), type=NodeState) if path.exists() else NodeState()

    def decisions(self) -> list[dict[str, Any]]:
        told = self.run("explain", "-o", "json")
        found: list[dict[str, Any]] = json.loads(told.stdout)["decisions"] if told.returncode == 0 else []
        return found


def eventually(holds: Callable[[], object], what: str) -> None:
    """Until it holds. How long that takes is no test's business; that it comes is."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"it never came: {what}"
        time.sleep(0.05)
