"""
A folder of manifests as a cluster.

The users' files say what is wanted; whatever an API server would keep beside that lies in DIR/.slackwater (`ledger`). Changing a file takes effect with the next view.
The users' files are never written, and nothing here raises because of what stands in them: what cannot be read is a problem in the view and leaves the last good version.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.objects import Node, Pod
from slackwater.api.units import Bytes, Instant, Millicores, Seconds, Wall
from slackwater.cluster import overlay
from slackwater.cluster.edge import Event, Unreachable
from slackwater.cluster.events import EventLog
from slackwater.cluster.evictions import Evictions
from slackwater.cluster.files import Files
from slackwater.cluster.ledger import RunningPod, events_file, replace, status_file
from slackwater.cluster.reports import Reports
from slackwater.cluster.standing import DEFAULT_TAINT, Standing, TaintName
from slackwater.cluster.wanted import Wanted, wanted
from slackwater.cluster.watching import Watch
from slackwater.decide.plan import Answer, EvictionAnswer, Scheduling
from slackwater.snapshot.view import View


class Machine(Struct, frozen=True):
    """What this node is where no Node manifest says it."""

    name: str
    cpu: Millicores | None = None
    memory: Bytes | None = None


class FolderCluster:
    def __init__(
        self,
        directory: Path,
        machine: Machine,
        *,
        clock: Callable[[], Instant],
        wall: Callable[[], Wall],
        node_name: str | None = None,
        taint: TaintName = DEFAULT_TAINT,
    ) -> None:
        """`node_name` chooses among several Node manifests; None takes the only one."""
        self._directory = directory
        self._machine = machine
        self._node_name = node_name
        self._clock = clock
        self._wall = wall
        self._files = Files(directory, clock, wall)
        self._reports = Reports(directory)
        self._evictions = Evictions(directory)
        self._standing = Standing(directory, taint)
        self._events = EventLog(events_file(directory))
        self._status = b""
        self._watches: list[Watch] = []
        self._departed: dict[str, Pod] = {}
        self._wanted = Wanted()
        self._seen: tuple[object, ...] = ()
        self._view = View(node=Node(name=node_name or machine.name))

    def view(self, now: Instant) -> View:
        self._events.flush(now)
        if self._files.look():
            self._wanted = wanted(self._files.objects(), self._files.problems())
        running = self._reports.look()
        self._evictions.look_again()
        self._standing.look_again()
        seen = (self._wanted, running, self._reports.problems, self._evictions.version, self._standing.taints)
        if any(new is not old and new != old for new, old in zip(seen, self._seen, strict=False)) or not self._seen:
            self._seen = seen
            self._renew(running)
        return self._view

    def set_scheduling(self, wanted: Scheduling) -> None:
        self._standing.set(wanted, self._users_node().taints, self._wall())

    def evict(self, pod: Pod, grace: Seconds | None, why: str) -> EvictionAnswer:
        if all(known.uid != pod.uid for known in self._view.pods):
            return EvictionAnswer(Answer.GONE, "there is no such pod")
        return self._evictions.ask(pod, grace, why, self._wall())

    def emit(self, event: Event) -> None:
        self._events.add(event, self._clock())

    def publish(self, status: bytes) -> None:
        if status == self._status:
            return
        path = status_file(self._directory)
        try:
            replace(path, status)
        except OSError as error:
            raise Unreachable(f"{path} could not be written: {error}") from error
        self._status = status

    def on_change(self, wake: Callable[[], None]) -> None:
        self._watches.append(Watch(self._directory, wake))

    def close(self) -> None:
        for watch in self._watches:
            watch.close()
        self._watches.clear()
        self._events.flush(self._clock())

    def _renew(self, running: tuple[RunningPod, ...]) -> None:
        """A new view; where nothing in it differs from the one before, that one stays."""
        node = self._users_node()
        node = msgspec.structs.replace(node, taints=(*node.taints, *self._standing.taints))
        here = {pod.uid: pod for pod in self._wanted.pods if pod.node_name in (None, "", node.name)}
        ran = {status.uid for status in running}
        self._departed = {
            uid: pod
            for uid, pod in {**self._departed, **self._departed_since()}.items()
            if uid in ran and uid not in here
        }
        pods = tuple(overlay.pods(here.values(), self._departed, running, self._evictions.note))
        fresh = View(
            complete=self._files.complete,
            generation=self._view.generation,
            node=node,
            pods=pods,
            policies=self._wanted.policies,
            actions={action.name: action for action in self._wanted.actions},
            pod_qos=self._wanted.pod_qos,
            problems=(*self._wanted.problems, *self._reports.problems),
        )
        if fresh != self._view:
            self._view = msgspec.structs.replace(fresh, generation=self._view.generation + 1)
        if self._files.complete:
            self._evictions.forget_all_but({pod.uid for pod in pods})

    def _departed_since(self) -> dict[str, Pod]:
        return {pod.uid: pod for pod in self._view.pods}

    def _users_node(self) -> Node:
        """The manifest's Node, completed by what the machine has."""
        machine = self._machine
        chosen = self._wanted.node(self._node_name, machine.name)
        if chosen is None:
            return Node(name=self._node_name or machine.name, cpu=machine.cpu, memory=machine.memory)
        return msgspec.structs.replace(
            chosen,
            cpu=machine.cpu if chosen.cpu is None else chosen.cpu,
            memory=machine.memory if chosen.memory is None else chosen.memory,
        )
