"""
The demonstration without a machine: the same story, the same manifests and the same agent, on a node that is computed.

What is simulated is the kernel's part, by `scheduler`: who runs, who waits, what a quota and a weight do. What is not simulated is ours: the agent's own tick runs here
against the host's twin in memory, a real folder and a real journal, so that what it decides is what it would decide. Every result from here is labelled as simulated, and
nothing of it was measured.
"""

import hashlib
import random
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from slackwater.agent.clock import AgentClock
from slackwater.api.manifests import load
from slackwater.api.objects import Pod, QosClass
from slackwater.api.units import Bytes, Millicores, Nanoseconds
from slackwater.cluster.ledger import RunningContainer, RunningPod, pods_file, replace
from slackwater.decide.plan import Decision
from slackwater.demo import cluster
from slackwater.demo.figures import Reading, Request
from slackwater.demo.in_process import InProcess
from slackwater.demo.scheduler import STEP_MS, Scheduler, Task
from slackwater.demo.stage import Cast, Facts
from slackwater.host.twin import Twin, TwinGroup
from slackwater.lab import limits
from slackwater.snapshot.counters import CpuTimes, NodeCounters
from slackwater.snapshot.groups import GroupId, PodGroups

CPUS = 2
HASHES_A_MS = 400
STEP_S = 0.25
PERIOD_MS = 100.0
BEGINNING = 1_700_000_000.0  # a calendar of its own, the same in every run


class Player(msgspec.Struct):
    """A pod with one thread: its group, its container's, and the task that stands for it."""

    pod: Pod
    group: TwinGroup
    container: TwinGroup
    task: Task


class Service:
    """The open-loop load of `demo.service`, on a computed clock."""

    def __init__(self, task: Task, rate: float, cpu_ms: float) -> None:
        self.answered: list[Request] = []
        self._task = task
        self._draw = random.Random(1)  # noqa: S311 - arrivals, not secrets; the same ones in every run
        self._rate = rate / 1000
        self._cpu_ms = cpu_ms
        self._next_ms = self._draw.expovariate(self._rate)
        self._open: deque[float] = deque()

    def arrive(self, now_ms: float) -> None:
        while self._next_ms <= now_ms:
            self._open.append(self._next_ms)
            self._task.backlog_ms += self._cpu_ms
            self._next_ms += self._draw.expovariate(self._rate)

    def answer(self, now_ms: float) -> None:
        """A request is done when what is left of the work is no more than that of those after it."""
        while self._open and self._task.backlog_ms <= self._cpu_ms * (len(self._open) - 1) + 1e-9:
            due = self._open.popleft()
            self.answered.append(Request(due / 1000, now_ms - due, self._task.waited_ms))


class Simulated:
    """A `Stage`."""

    def __init__(self, directory: Path) -> None:
        self._folder = cluster.Folder(directory)
        self._seconds = 0.0
        self._clock = AgentClock(lambda: self._seconds, lambda: BEGINNING + self._seconds)
        self._host = Twin(self._clock, version=1, cpu=Millicores(CPUS * 1000), memory=Bytes(8 << 30))
        self._players: list[Player] = []
        self._scheduler = Scheduler(CPUS, ())
        self._service: Service | None = None
        self._agent: InProcess | None = None
        self._decisions: list[Decision] = []

    def facts(self) -> Facts:
        return Facts(
            backend="simulated",
            kernel="none",
            processor="a model of a fair scheduler",
            cpus=CPUS,
            memory=Bytes(8 << 30),
            swap=Bytes(0),
        )

    def turns_per_ms(self) -> float:
        return 1.0

    def open(self, cast: Cast) -> None:
        self._folder.lay(cast)
        found = [load(file.read_text(), str(file)) for file in sorted(self._folder.manifests.glob("*.yaml"))]
        pods = [one for loaded in found for one in loaded.objects if isinstance(one, Pod)]
        self._players = [self._player(pod) for pod in pods]
        self._scheduler = Scheduler(CPUS, [player.task for player in self._players])
        service = next(player for player in self._players if player.pod.name == cluster.SERVICE)
        self._service = Service(service.task, cast.load.rate, cast.load.cpu_ms)
        self._report()
        self._count()

    def step(self) -> Reading:
        """A quarter of a second of the model's time; the agent, where it is on, has a tick a second."""
        service = self._service
        for _ in range(round(STEP_S * 1000 / STEP_MS)):
            if service is not None:
                service.arrive(self._scheduler.now_ms)
            self._scheduler.step()
            if service is not None:
                service.answer(self._scheduler.now_ms)
        self._seconds = self._scheduler.now_ms / 1000
        self._count()
        if self._agent is not None and self._seconds % 1.0 == 0:
            self._agent.tick()
            self._decisions = self._agent.decisions()
            self._take_settings()
        return Reading(
            at=self._seconds, used=self._used_ms() / 1000, stolen=0.0, work=self._work(), ours=self._used_ms() / 1000
        )

    def requests(self) -> Sequence[Request]:
        return self._service.answered if self._service is not None else ()

    def service_cpu(self) -> float:
        return sum(player.task.ran_ms for player in self._players if not player.task.endless) / 1000

    def work(self, wanted: bool) -> None:
        for player in self._players:
            player.task.awake = wanted

    def draw_waterline(self, waterline: Millicores) -> None:
        self._folder.draw_waterline(waterline)

    def agent_on(self) -> None:
        self._agent = InProcess(self._folder.manifests, self._folder.configuration, self._host, self._clock)

    def agent_off(self) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.end()
            self._decisions = agent.decisions()
            self._take_settings()

    def agent_mode(self) -> str:
        return self._folder.agent_mode()

    def decisions(self) -> Sequence[Decision]:
        return self._decisions

    def settings(self) -> dict[str, str]:
        return {
            f"{group}": f"quota {held.quota}, weight {held.weight}, {'marked' if held.mark else 'no mark'}"
            for group, held in self._host.groups().items()
        }

    def close(self) -> None:
        self.agent_off()

    def _player(self, pod: Pod) -> Player:
        groups = PodGroups(pod.uid, pod.qos_class, (_container_id(pod),))
        group = self._host.add_pod(groups, limits.of_pod(pod).shares)
        container = self._host.group(GroupId(pod.uid, _container_id(pod)))
        return Player(pod, group, container, Task(weight=1.0, endless=pod.name != cluster.SERVICE, awake=False))

    def _report(self) -> None:
        """As kubelet would: who runs, under which id."""
        running = [
            RunningPod(
                namespace=player.pod.namespace,
                name=player.pod.name,
                uid=player.pod.uid,
                phase="Running",
                qos_class=player.pod.qos_class.title,
                started_at=self._clock.wall(),
                containers=(
                    RunningContainer(
                        name=player.pod.containers[0].name,
                        id=_container_id(player.pod),
                        started_at=self._clock.wall(),
                    ),
                ),
            )
            for player in self._players
        ]
        replace(pods_file(self._folder.manifests), msgspec.json.encode(running))
        self._take_settings()

    def _count(self) -> None:
        """What the kernel's files would say now."""
        for player in self._players:
            task, held = player.task, player.container
            held.cpu = Nanoseconds(round(task.ran_ms * 1e6))
            held.periods, held.throttled = task.periods, task.throttled
        used = Nanoseconds(round(self._used_ms() * 1e6))
        idle = Nanoseconds(round(CPUS * self._seconds * 1e9) - used)
        nothing = Nanoseconds(0)
        times = CpuTimes(used, nothing, nothing, idle, nothing, nothing, nothing, nothing)
        self._host.node = NodeCounters(cpu=times, memory_total=Bytes(8 << 30), memory_working_set=Bytes(1 << 30))

    def _take_settings(self) -> None:
        """
        What stands in the groups now is what the model goes on with.

        Weights compete among siblings: a Burstable pod's with those of its level, a Guaranteed pod's with the whole level.
        """
        burstable = [player for player in self._players if player.pod.qos_class is QosClass.BURSTABLE]
        level = sum(limits.of_pod(player.pod).shares for player in burstable)
        together = sum(player.group.weight for player in burstable)
        for player in self._players:
            weight = player.group.weight
            player.task.weight = level * weight / together if player in burstable else float(weight)
            bandwidth = player.container.bandwidth
            player.task.quota_ms = None if bandwidth is None else bandwidth * PERIOD_MS

    def _used_ms(self) -> float:
        return sum(player.task.ran_ms for player in self._players)

    def _work(self) -> int:
        return round(sum(player.task.ran_ms for player in self._players if player.task.endless) * HASHES_A_MS)


def _container_id(pod: Pod) -> str:
    return hashlib.sha256(pod.uid.encode()).hexdigest()
