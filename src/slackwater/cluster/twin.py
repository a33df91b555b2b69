"""
A cluster in memory, for tests and the simulator: it answers as the real ones do, refusals and failures among it.

What the agent writes can be read back from its attributes; `refuse_evictions` and `unreachable` make it the cluster of a bad day.
"""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from slackwater.api.objects import Node, Pod, Taint
from slackwater.api.units import Instant, Seconds, Wall
from slackwater.cluster.edge import Event, Unreachable
from slackwater.cluster.standing import DEFAULT_TAINT, OURS, TaintName
from slackwater.decide.plan import Answer, EvictionAnswer, Scheduling
from slackwater.snapshot.view import View


class Asked(Struct, frozen=True):
    """An eviction that was asked for and accepted."""

    pod: Pod
    grace: Seconds | None
    why: str


class TwinCluster:
    def __init__(
        self, view: View | None = None, taint: TaintName = DEFAULT_TAINT, wall: Callable[[], Wall] = lambda: Wall(0.0)
    ) -> None:
        self._view = View(node=Node(name="node"))
        self._taint = taint
        self._wall = wall
        self._wakes: list[Callable[[], None]] = []
        self.evictions: list[Asked] = []
        self.events: list[Event] = []
        self.status = b""
        self.scheduling = Scheduling(disabled=False)
        self.writes = 0  # of scheduling and status: what an API server would have been asked
        self.refusing: dict[str, EvictionAnswer] = {}
        self.unreachable = False
        self.closed = False
        if view is not None:
            self.set_view(view)

    def set_view(self, view: View) -> None:
        """From now on this is what is there, except that our taint and accepted evictions stand in it too."""
        self._show(
            msgspec.structs.replace(view, node=self._tainted(view.node), pods=tuple(map(self._terminating, view.pods)))
        )

    def refuse_evictions(
        self, uid: str, answer: Answer = Answer.REFUSED, why: str = "a disruption budget allows none now"
    ) -> None:
        self.refusing[uid] = EvictionAnswer(answer, why)

    def view(self, now: Instant) -> View:  # noqa: ARG002 - the edge's signature
        return self._view

    def set_scheduling(self, wanted: Scheduling) -> None:
        if wanted == self.scheduling:
            return
        self._write()
        self.scheduling = wanted
        self._show(msgspec.structs.replace(self._view, node=self._tainted(self._view.node)))

    def evict(self, pod: Pod, grace: Seconds | None, why: str) -> EvictionAnswer:
        if self.unreachable:
            return EvictionAnswer(Answer.FAILED, "the cluster does not answer")
        if all(known.uid != pod.uid for known in self._view.pods):
            return EvictionAnswer(Answer.GONE, "there is no such pod")
        if pod.uid in self.refusing:
            return self.refusing[pod.uid]
        if all(asked.pod.uid != pod.uid for asked in self.evictions):
            self.evictions.append(Asked(pod, grace, why))
        self._show(msgspec.structs.replace(self._view, pods=tuple(map(self._terminating, self._view.pods))))
        return EvictionAnswer(Answer.ACCEPTED)

    def emit(self, event: Event) -> None:
        if not self.unreachable:
            self.events.append(event)

    def publish(self, status: bytes) -> None:
        if status != self.status:
            self._write()
            self.status = status

    def on_change(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    def close(self) -> None:
        self.closed = True

    def _write(self) -> None:
        if self.unreachable:
            raise Unreachable("the cluster does not answer")
        self.writes += 1

    def _show(self, view: View) -> None:
        same = msgspec.structs.replace(view, generation=self._view.generation)
        if same == self._view:
            return
        self._view = msgspec.structs.replace(view, generation=self._view.generation + 1)
        for wake in self._wakes:
            wake()

    def _tainted(self, node: Node) -> Node:
        name = self._taint
        users = tuple(taint for taint in node.taints if taint.value != OURS)
        taken = any((taint.key, taint.effect) == (name.key, name.effect) for taint in users)
        ours = (Taint(key=name.key, effect=name.effect, value=OURS),) if self.scheduling.disabled and not taken else ()
        return msgspec.structs.replace(node, taints=(*users, *ours))

    def _terminating(self, pod: Pod) -> Pod:
        asked = next((one for one in self.evictions if one.pod.uid == pod.uid), None)
        if asked is None or pod.deleted_at is not None:
            return pod
        grace = asked.grace if asked.grace is not None else pod.grace
        return msgspec.structs.replace(pod, deleted_at=self._wall(), grace=grace)
