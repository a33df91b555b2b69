"""
The lab's heart: a kubelet of a few hundred lines. One pass after the other it looks at what is wanted (manifests, evictions) and at what is there, and takes every pod one step
further; whatever it missed, the next pass sees, so nothing here remembers an event.

Which process this runs in, what wakes it and how it is told to end is for `lab.daemon`. It has one thread: containers are forked from it.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from slackwater.api.objects import Pod, QosClass
from slackwater.api.problems import Problem
from slackwater.api.units import Instant, Seconds
from slackwater.cluster.ledger import EvictionNote, RunningPod, evictions_folder, pods_file, replace
from slackwater.lab import limits
from slackwater.lab.ground import Ground
from slackwater.lab.limits import Limits
from slackwater.lab.manifests import Manifests, Wanted
from slackwater.lab.pods import End, PodRun
from slackwater.lab.presence import State, say

_LARGEST_LOG = 10 << 20  # bytes
_LOGS_EVERY = Seconds(5)


class Supervisor:
    """Owns the pods of one folder, from the first pass to the last."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._manifests = Manifests(ground.cluster)
        self._wanted = Wanted()
        self._pods: dict[str, PodRun] = {}
        self._levels: dict[QosClass, Limits] = {}
        self._published: tuple[RunningPod, ...] | None = None
        self._said = ""
        self._told: frozenset[str] = frozenset()
        self._reported: tuple[Problem, ...] = ()
        self._stumbled: dict[str, str] = {}
        self._logs_due = Instant(0)
        self._closing = False

    @property
    def finished(self) -> bool:
        return self._closing and not self._pods

    def step(self) -> None:
        """One pass. Raises OSError; the next pass begins where this one failed."""
        if not self._closing:
            self._wanted = self._manifests.wanted()
            self._report_problems()
        for run in self._pods.values():
            self._advance(run)
        self._forget()
        if not self._closing:
            self._desire({pod.uid: pod for pod in self._wanted.pods})
        self._weigh_levels()
        self._publish()
        self._shorten_logs()

    def close(self, grace: Seconds | None) -> None:
        """From now on nothing is wanted any more. Asked twice, the shorter grace holds."""
        self._closing, self._wanted = True, Wanted()
        for run in self._pods.values():
            run.finish(End.DELETED, grace)

    def _desire(self, wanted: Mapping[str, Pod]) -> None:
        notes = _notes(self._ground.cluster)
        for uid, run in self._pods.items():
            self._judge(run, wanted.get(uid), notes.get(uid))
        for uid, pod in wanted.items():
            if uid not in self._pods and uid not in notes:
                self._begin(pod)
            elif uid not in self._pods:
                self._begin_evicted(pod, notes[uid])

    def _judge(self, run: PodRun, pod: Pod | None, note: EvictionNote | None) -> None:
        if run.end is not None:
            return
        if note is not None:
            run.finish(End.EVICTED, note.grace, note.why)
        elif pod is None:
            run.finish(End.DELETED, None, "its manifest is gone")
        elif run.fits(pod):
            run.adjust(pod)
        else:
            run.finish(End.REPLACED, None, "its manifest has changed")

    def _begin(self, pod: Pod) -> None:
        run = self._pods[pod.uid] = PodRun(self._ground, pod)
        try:
            run.begin()
        except (OSError, ValueError) as failure:
            run.fail(str(failure))
        self._advance(run)

    def _advance(self, run: PodRun) -> None:
        """What goes wrong with one pod stays with it, and is told once."""
        try:
            run.advance(self._ground.clock.now())
            self._stumbled.pop(run.pod.uid, None)
        except OSError as failure:
            if self._stumbled.get(run.pod.uid) != str(failure):
                self._ground.events.tell(f"Pod/{run.pod.key}", "Stumbled", str(failure), warning=True)
            self._stumbled[run.pod.uid] = str(failure)

    def _begin_evicted(self, pod: Pod, note: EvictionNote) -> None:
        """It was evicted before this supervisor lived: it is listed, and not started."""
        run = self._pods[pod.uid] = PodRun(self._ground, pod)
        run.fail(f"evicted before: {note.why}")
        run.finish(End.EVICTED, note.grace, note.why)

    def _forget(self) -> None:
        """What is over is dropped; an evicted pod only when its note or its manifest is gone."""
        notes = _notes(self._ground.cluster)
        wanted = {pod.uid for pod in self._wanted.pods}
        for uid, run in tuple(self._pods.items()):
            stays = run.end is End.EVICTED and uid in notes and uid in wanted
            if run.over and not stays:
                del self._pods[uid]
                self._stumbled.pop(uid, None)

    def _weigh_levels(self) -> None:
        pods = [run.pod for run in self._pods.values() if run.counts]
        for qos_class in QosClass:
            wanted = limits.of_level(qos_class, pods, self._ground.capacity)
            if self._levels.get(qos_class) != wanted:
                self._refused(self._ground.trees.apply(level(self._ground, qos_class), wanted))
                self._levels[qos_class] = wanted
                if qos_class is QosClass.GUARANTEED:
                    # Kubelet's top group stands at the hierarchy's root; ours one below it, in a group that must weigh as much.
                    self._refused(self._ground.trees.apply(self._ground.root, Limits(shares=wanted.shares)))

    def _publish(self) -> None:
        pods = tuple(run.report() for run in self._pods.values())
        if pods != self._published or not pods_file(self._ground.cluster).exists():
            replace(pods_file(self._ground.cluster), msgspec.json.encode(pods))
            self._published = pods
        # After the pods: whoever sees this fingerprint sees what became of it too.
        if self._wanted.fingerprint != self._said:
            say(self._ground.cluster, state_of(self._ground, self._wanted.fingerprint))
            self._said = self._wanted.fingerprint
        self._ground.events.write()

    def _shorten_logs(self) -> None:
        """A log that grows too long begins anew: it is opened for appending, so its writer goes on at the top."""
        now = self._ground.clock.now()
        if now < self._logs_due:
            return
        self._logs_due = Instant(now + _LOGS_EVERY)
        for run in self._pods.values():
            for file in run.logs():
                with contextlib.suppress(FileNotFoundError):
                    if file.stat().st_size > _LARGEST_LOG:
                        os.truncate(file, 0)

    def _report_problems(self) -> None:
        if self._wanted.problems is self._reported:
            return
        self._reported = self._wanted.problems
        problems = frozenset(map(str, self._wanted.problems))
        for problem in sorted(problems - self._told):
            self._ground.events.tell(f"Folder/{self._ground.cluster.name}", "Unreadable", problem, warning=True)
        self._told = problems

    def _refused(self, refused: Iterable[str]) -> None:
        for what in refused:
            self._ground.events.tell(f"Folder/{self._ground.cluster.name}", "NotGranted", what, warning=True)


def level(ground: Ground, qos_class: QosClass) -> str:
    return ground.group(ground.layout.level(qos_class))


def state_of(ground: Ground, seen: str = "") -> State:
    return State(pid=os.getpid(), root=ground.root, layout=ground.layout.style, version=ground.trees.version, seen=seen)


def _notes(cluster: Path) -> dict[str, EvictionNote]:
    try:
        files = list(evictions_folder(cluster).iterdir())
    except FileNotFoundError:
        return {}
    found = [_note(file) for file in files if not file.name.startswith(".")]
    return {note.uid: note for note in found if note is not None}


def _note(file: Path) -> EvictionNote | None:
    """None for what is not (or no longer) a note: another's mistake must not stop a pass."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=EvictionNote)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
