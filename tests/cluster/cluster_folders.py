"""Short ways to write a folder of manifests, and to say what a lab would have reported."""

from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_DNS, uuid5

import msgspec

from slackwater.api.objects import Pod
from slackwater.api.units import Bytes, Instant, Millicores, Wall
from slackwater.cluster.folder import FolderCluster, Machine
from slackwater.cluster.ledger import RunningContainer, RunningPod, pods_file, replace
from slackwater.snapshot.view import View

MACHINE = Machine("this-host", Millicores(8000), Bytes(1 << 30))


class Hands:
    """A folder, its cluster and a clock that a test moves."""

    def __init__(self, directory: Path, node_name: str | None = None) -> None:
        self.directory = directory
        self.node_name = node_name
        self.now = 1000.0
        self.cluster = self.opened()

    def opened(self) -> FolderCluster:
        """As after a restart of the agent."""
        return FolderCluster(
            self.directory,
            MACHINE,
            clock=lambda: Instant(self.now),
            wall=lambda: Wall(self.now),
            node_name=self.node_name,
        )

    def restart(self) -> None:
        self.cluster.close()
        self.cluster = self.opened()

    def view(self) -> View:
        return self.cluster.view(Instant(self.now))

    def write(self, name: str, *documents: str) -> None:
        # Another length or another file each time, so that no change hides in the clock's grain.
        replace(self.directory / name, "\n---\n".join(documents).encode())

    def report(self, *running: RunningPod) -> None:
        replace(pods_file(self.directory), msgspec.json.encode(running))

    def names(self) -> list[str]:
        return [pod.name for pod in self.view().pods]


def pod(name: str, uid: str = "", node: str = "", cpu: str = "1") -> str:
    uid_line = f", uid: {uid}" if uid else ""
    node_line = f"  nodeName: {node}\n" if node else ""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{uid_line}}}\nspec:\n{node_line}"
        f"  containers: [{{name: main, resources: {{requests: {{cpu: {cpu}}}}}}}]\n"
    )


def node(name: str, extra: str = "") -> str:
    return f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{pool: batch}}}}\n{extra}"


def policy(name: str, *rules: str) -> str:
    return (
        f"apiVersion: ensurance.crane.io/v1alpha1\nkind: NodeQOS\nmetadata: {{name: {name}}}\nspec:\n  rules:\n"
        + "".join(f"  - {rule}\n" for rule in rules)
    )


def rule(name: str, value: str = "4000") -> str:
    return f"{{name: {name}, actionName: squeeze, metricRule: {{name: cpu_total_usage, value: {value}}}}}"


def running(one: Pod, phase: str = "Running") -> RunningPod:
    containers = tuple(_container(container.name) for container in one.containers)
    return RunningPod(
        namespace=one.namespace,
        name=one.name,
        uid=one.uid,
        phase=phase,
        started_at=Wall(900.0),
        qos_class=one.qos_class.title,
        containers=containers,
    )


def _container(name: str) -> RunningContainer:
    return RunningContainer(name=name, id=uuid5(NAMESPACE_DNS, name).hex * 2, started_at=Wall(901.0))


def values(view: View) -> Iterator[tuple[str, float | None]]:
    """Every rule with its waterline."""
    for one in view.policies:
        for found in one.rules:
            yield f"{one.name}/{found.name}", found.value
