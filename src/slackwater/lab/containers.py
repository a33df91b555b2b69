"""
One container: a process in groups of its own, started again under a new id when it ends and its pod's policy says so.

The group is as long-lived as the process in it: a restart is a new id, a new group and nothing of the old one. A container whose first process ends takes the others in its
group with it, as the end of a pid namespace would. Here is what is done to the machine; whether and when is `lab.lifecycle`.
"""

import os
import secrets
import signal
from pathlib import Path

from slackwater.api.objects import Container, Pod
from slackwater.api.units import Instant, Wall
from slackwater.cluster.ledger import RunningContainer, state_folder
from slackwater.lab import limits, processes
from slackwater.lab.ground import Ground
from slackwater.lab.lifecycle import Outcome, expand, starts_again


def log_file(cluster: Path, pod: Pod, container: Container) -> Path:
    return logs_folder(cluster) / f"{pod.namespace}_{pod.name}_{container.name}.log"


def logs_folder(cluster: Path) -> Path:
    return state_folder(cluster) / "logs"


class ContainerRun:
    """Changes as the process lives and dies; owned by its pod."""

    def __init__(self, ground: Ground, pod: Pod, container: Container) -> None:
        self.container = container
        self.problem = ""  # why it does not run although it should
        self._ground = ground
        self._pod = pod
        self._id = ""
        self._pid = 0
        self._folders: dict[str, str] = {}
        self._started_at: Wall | None = None
        self._exit_code: int | None = None
        self._ran_from = Instant(0)
        self._restarts = 0
        self._due: Instant | None = ground.clock.now()  # when it starts (again); None: it does not
        self._held = False
        self._leftover: set[str] = set()  # groups of ended runs that somebody is still in

    @property
    def outcome(self) -> Outcome:
        return Outcome(
            sidecar=self.container.sidecar,
            started=self._started_at is not None or self._given_up,
            running=bool(self._pid),
            exit_code=self._exit_code,
            starts_again=self._due is not None,
        )

    @property
    def _given_up(self) -> bool:
        return self._exit_code is not None and self._due is None

    @property
    def quiet(self) -> bool:
        """Nothing runs and nothing is left of it."""
        return not self._pid and not self._leftover

    def advance(self, now: Instant) -> None:
        self._reap(now)
        self._clear()
        if not self._pid and self._due is not None and now >= self._due:
            self._start(now)

    def hold(self) -> None:
        """It does not start any more."""
        self._held, self._due = True, None

    def resize(self, pod: Pod, container: Container) -> tuple[str, ...]:
        self._pod, self.container = pod, container
        return self._ground.trees.apply(self._group, limits.of_container(container)) if self._pid else ()

    def signal(self, number: signal.Signals) -> None:
        if self._pid:
            self._ground.trees.send(self._group, number)

    def report(self) -> RunningContainer:
        return RunningContainer(
            name=self.container.name,
            id=self._id,
            pid=self._pid,
            running=bool(self._pid),
            started_at=self._started_at,
            cgroups=self._folders if self._pid else {},
        )

    @property
    def _group(self) -> str:
        ground, pod = self._ground, self._pod
        return ground.group(ground.layout.container(pod.uid, pod.qos_class, self._id))

    def _start(self, now: Instant) -> None:
        self._id, self._due = secrets.token_hex(32), None
        try:
            launch = self._launch()
            self._ground.trees.make(self._group)
            refused = self._ground.trees.apply(self._group, limits.of_container(self.container))
            started = processes.start(launch)
        except (OSError, processes.CannotStart) as failure:
            self._leftover.add(self._group)
            self._fail(now, str(failure))
            return
        self._pid, self._ran_from, self._started_at = started.pid, now, self._ground.clock.wall()
        self._exit_code, self.problem = None, ""
        folders = self._ground.trees.folders(self._group)
        self._folders = {controller: str(folder) for controller, folder in folders.items()}
        for what in (*refused, *started.refused):
            self._tell("NotGranted", what, warning=True)

    def _launch(self) -> processes.Launch:
        if not self.container.command and not self.container.args:
            raise processes.CannotStart(
                "it has neither command nor args, and images are not run here: give it a command"
            )
        variables = {"HOSTNAME": self._pod.name, **self.container.env}
        words = (*self.container.command, *self.container.args)
        return processes.Launch(
            argv=tuple(expand(word, variables) for word in words),
            environment={**os.environ, **variables},
            folder=self._ground.cluster,
            doors=self._ground.trees.doors(self._group),
            log=log_file(self._ground.cluster, self._pod, self.container),
            oom_score_adj=limits.oom_score_adj(self._pod, self.container, self._ground.capacity),
        )

    def _fail(self, now: Instant, why: str) -> None:
        self._restarts += 1
        if self._wanted_after(128):
            self._due = Instant(now + self._ground.back_off.wait(self._restarts))
        self._exit_code, self.problem = 128, f"StartError: {self.container.name}: {why}"
        self._tell("Failed", f"could not be started: {why}", warning=True)

    def _reap(self, now: Instant) -> None:
        code = processes.ended(self._pid) if self._pid else None
        if code is None:
            return
        self._leftover.add(self._group)
        self._pid, self._exit_code = 0, code
        if now - self._ran_from >= self._ground.back_off.forgiven_after:
            self._restarts = 0
        if self._wanted_after(code):
            wait = self._ground.back_off.wait(self._restarts)
            self._restarts += 1
            self._due = Instant(now + wait)
            self.problem = f"CrashLoopBackOff: {self.container.name} ended with {code}" if wait else ""
        self._tell("Ended", f"ended with {code}", warning=bool(code) and not self._held)

    def _wanted_after(self, code: int) -> bool:
        return not self._held and starts_again(self._pod.restart_policy, self.container, code)

    def _clear(self) -> None:
        for group in tuple(self._leftover):
            self._ground.trees.send(group, signal.SIGKILL)
            if self._ground.trees.remove(group):
                self._leftover.discard(group)

    def _tell(self, reason: str, message: str, *, warning: bool) -> None:
        about = f"Pod/{self._pod.key}"
        self._ground.events.tell(about, reason, f"{self.container.name}: {message}", warning=warning)
