"""
One pod: its own group, its containers in it, and how it ends.

It ends because its manifest is gone or says something else now, because it was evicted, or because its containers are done. All but the last are the same way out: everybody inside
is asked to end, and after the grace is killed. The pod's group lives as long as the pod; nothing here looks at manifests or notes, that is the supervisor's part.
"""

import signal
from enum import Enum
from pathlib import Path

import msgspec

from slackwater.api.objects import NOTHING, Pod
from slackwater.api.units import Instant, Seconds, Wall
from slackwater.cluster.ledger import RunningPod
from slackwater.lab import limits
from slackwater.lab.containers import ContainerRun, log_file
from slackwater.lab.ground import Ground
from slackwater.lab.lifecycle import DEFAULT_GRACE, phase


class End(Enum):
    DELETED = "Deleted"  # by its manifest, or with the whole lab
    REPLACED = "Replaced"  # its manifest says something that needs a new start
    EVICTED = "Evicted"


_SHOWN = (End.EVICTED, End.REPLACED)  # ends that a pod's status speaks of; a deleted one just goes


class PodRun:
    """Changes as its containers do; owned by the supervisor."""

    def __init__(self, ground: Ground, pod: Pod) -> None:
        self.pod = pod
        self.end: End | None = None
        self._ground = ground
        self._containers = [ContainerRun(ground, pod, container) for container in pod.containers]
        self._started_at: Wall | None = None
        self._deleted_at: Wall | None = None
        self._grace: Seconds | None = None
        self._deadline = Instant(0)
        self._problem = ""
        self._cleared = False

    @property
    def over(self) -> bool:
        """It was ended, and nothing of it is left on the machine."""
        return self.end is not None and self._cleared

    @property
    def counts(self) -> bool:
        """Whether its requests still take part in its level's."""
        return not self._cleared

    def begin(self) -> None:
        """Raises OSError or ValueError where the pod cannot have a group."""
        self._ground.trees.make(self._group)
        self._refused(self._ground.trees.apply(self._group, limits.of_pod(self.pod)))

    def fail(self, why: str) -> None:
        """It cannot run at all."""
        self._problem = f"StartError: {why}"
        for container in self._containers:
            container.hold()
        self._cleared = True
        self._tell("Failed", why, warning=True)

    def advance(self, now: Instant) -> None:
        if self._cleared:
            return
        for container in self._containers:
            container.advance(now)
        self._note_start()
        self._let_sidecars_go()
        if self.end is not None and now >= self._deadline:
            self._ground.trees.send(self._group, signal.SIGKILL)
        if (self.end is not None or self._done) and all(container.quiet for container in self._containers):
            self._clear()

    def finish(self, end: End, grace: Seconds | None, why: str = "") -> None:
        """Asks everybody to end. Asked twice, the shorter grace holds, and an eviction stays one."""
        granted = next(given for given in (grace, self.pod.grace, DEFAULT_GRACE) if given is not None)
        deadline = Instant(self._ground.clock.now() + granted)
        if self.end is not None:
            self._deadline = min(self._deadline, deadline)
            return
        self.end, self._deadline, self._grace = end, deadline, granted
        self._deleted_at = self._ground.clock.wall()
        self._tell(end.value, why or "asked to end", warning=end is End.EVICTED)
        for container in self._containers:
            container.hold()
        if not self._cleared:
            self._ground.trees.send(self._group, signal.SIGTERM)

    def fits(self, wanted: Pod) -> bool:
        """Whether this run can become the wanted pod without a new start."""
        return _essence(self.pod) == _essence(wanted)

    def adjust(self, wanted: Pod) -> None:
        """Takes over what needs no new start: labels, priority, and resources as a resize in place."""
        if wanted == self.pod:
            return
        resized = _resources(self.pod) != _resources(wanted)
        self.pod = wanted
        if resized and not self._cleared:
            self._resize()

    def report(self) -> RunningPod:
        return RunningPod(
            namespace=self.pod.namespace,
            name=self.pod.name,
            uid=self.pod.uid,
            phase=self._phase,
            reason=self._reason,
            qos_class=self.pod.qos_class.title,
            started_at=self._started_at,
            deleted_at=self._deleted_at,
            grace=self._grace,
            containers=tuple(container.report() for container in self._containers),
        )

    def logs(self) -> tuple[Path, ...]:
        return tuple(log_file(self._ground.cluster, self.pod, container) for container in self.pod.containers)

    @property
    def _group(self) -> str:
        return self._ground.group(self._ground.layout.pod(self.pod.uid, self.pod.qos_class))

    @property
    def _phase(self) -> str:
        if self._problem or self.over:
            return "Failed"
        return phase(container.outcome for container in self._containers)

    @property
    def _reason(self) -> str:
        if self.end in _SHOWN:
            return str(self.end.value)
        return self._problem or next((run.problem for run in self._containers if run.problem), "")

    @property
    def _done(self) -> bool:
        return self._phase in {"Succeeded", "Failed"}

    def _note_start(self) -> None:
        if self._started_at is None and any(container.outcome.running for container in self._containers):
            self._started_at = self._ground.clock.wall()
            self._tell("Started", f"in {self._group}")

    def _let_sidecars_go(self) -> None:
        if self.end is None and self._done:
            for container in self._containers:
                container.hold()
                container.signal(signal.SIGTERM)

    def _clear(self) -> None:
        self._cleared = self._ground.trees.remove(self._group)

    def _resize(self) -> None:
        # Unlimited first: on v1 the kernel takes no child above its parent, and no parent below its child.
        trees, own = self._ground.trees, limits.of_pod(self.pod)
        self._refused(trees.apply(self._group, own.without_quota()))
        for run, container in zip(self._containers, self.pod.containers, strict=True):
            self._refused(run.resize(self.pod, container))
        self._refused(trees.apply(self._group, own))
        self._tell("Resized", "resources changed in place")

    def _refused(self, refused: tuple[str, ...]) -> None:
        for what in refused:
            self._tell("NotGranted", what, warning=True)

    def _tell(self, reason: str, message: str, *, warning: bool = False) -> None:
        self._ground.events.tell(f"Pod/{self.pod.key}", reason, message, warning=warning)


def _essence(pod: Pod) -> tuple[object, ...]:
    """What a running process cannot be made to follow. The class is in it: it says where the groups lie."""
    return (
        pod.qos_class,
        pod.restart_policy,
        tuple(msgspec.structs.replace(one, requests=NOTHING, limits=NOTHING) for one in pod.containers),
    )


def _resources(pod: Pod) -> tuple[object, ...]:
    return (pod.requests, pod.limits, tuple((one.requests, one.limits) for one in pod.containers))
