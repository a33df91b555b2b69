"""
The demonstration on the real machine: pods that the lab runs in real cgroups, and the agent as a process of its own, started and ended as its user would.

Nothing here helps the agent: it gets the folder, the lab's root and a tick of one second, and what it did is read from its journal afterwards. Everything that was started is
ended by `close`, the last first, however far `open` had come.
"""

import contextlib
import mmap
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

from slackwater.api.units import Millicores, Wall
from slackwater.cluster.ledger import state_folder
from slackwater.decide.plan import Decision
from slackwater.demo import batch, calibration, cluster, interrupts, service
from slackwater.demo.facts import facts_of_this_machine
from slackwater.demo.figures import Reading, Request
from slackwater.demo.setting_files import settings_below
from slackwater.demo.stage import Broken, Cast, Facts, NotPermitted
from slackwater.host.neighbours import other_agents
from slackwater.journal.reading import Reader, Unreadable
from slackwater.lab import trees
from slackwater.lab.folder import Lab, LabFailed

STEP = 0.25
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
AGENT_ENDS_WITHIN = 10.0


class Machine:
    """A `Stage`."""

    def __init__(self, directory: Path) -> None:
        self._folder = cluster.Folder(directory)
        self._folder.manifests.mkdir(parents=True, exist_ok=True)
        self._lab = Lab(self._folder.manifests)
        self._trees = permitted_trees()
        refuse_rivals(other_agents())
        self._agent: subprocess.Popen[bytes] | None = None
        self._counters: list[mmap.mmap] = []
        self._requests: list[Request] = []
        self._read = 0  # bytes of the service's records
        self._service_pid = 0
        self._began = Wall(time.time())
        self._due = time.monotonic()
        self._decisions: list[Decision] = []

    def facts(self) -> Facts:
        return facts_of_this_machine(f"cgroup{self._trees.version}")

    def turns_per_ms(self) -> float:
        return calibration.turns_per_ms()

    def open(self, cast: Cast) -> None:
        self._folder.lay(cast)
        try:
            self._lab.up()
        except trees.NotPermitted as refusal:
            raise NotPermitted(str(refusal)) from refusal
        except LabFailed as failure:
            raise Broken(str(failure)) from failure
        self._service_pid = self._pid_of_service()
        self._counters = [
            batch.mapped(str(self._folder.counter(pod, worker)), write=False)
            for pod in range(cast.workers.pods)
            for worker in range(cast.workers.per_pod)
        ]
        self._due = time.monotonic()

    def step(self) -> Reading:
        self._due = max(self._due + STEP, time.monotonic())
        time.sleep(max(0.0, self._due - time.monotonic()))
        self._watch()
        self._read_requests()
        used, stolen = machine_cpu()
        return Reading(at=time.monotonic(), used=used, stolen=stolen, work=self._work_done(), ours=self._pods_cpu())

    def requests(self) -> Sequence[Request]:
        return self._requests

    def service_cpu(self) -> float:
        try:
            return int(Path(f"/proc/{self._service_pid}/schedstat").read_text().split()[0]) / 1e9
        except FileNotFoundError:
            raise Broken(self._ended("the service")) from None

    def work(self, wanted: bool) -> None:
        # In place: the workers have this very file mapped.
        with self._folder.switch.open("r+b") as switch:
            switch.write(batch.WORK if wanted else batch.REST)

    def draw_waterline(self, waterline: Millicores) -> None:
        self._folder.draw_waterline(waterline)

    def agent_on(self) -> None:
        command = [str(Path(sysconfig.get_path("scripts")) / "slackwater"), "agent"]
        command += ["--config", str(self._folder.configuration), "--cluster", f"folder:{self._folder.manifests}"]
        command += ["--host-cgroup-root", self._lab.root]
        # A user's settings for agents on this machine are not meant for this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLACKWATER_")}
        with self._agent_log.open("ab") as log, interrupts.delayed():
            self._agent = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt at the terminal is for us; we end the agent in our own time
                preexec_fn=interrupts.deliver_all,  # noqa: PLW1509 - there is one thread
            )

    def agent_off(self) -> None:
        code = self._end_agent()
        if code is None:
            raise Broken(f"the agent did not end within {AGENT_ENDS_WITHIN:.0f} s")
        if code:
            raise Broken(f"the agent ended with {code}: {self._last_words()}")

    def _end_agent(self) -> int | None:
        """Its exit code; None: it had to be killed. 0 where there is none."""
        agent, self._agent = self._agent, None
        if agent is None:
            return 0
        agent.send_signal(signal.SIGTERM)
        try:
            return agent.wait(AGENT_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()
            return None

    def agent_mode(self) -> str:
        return self._folder.agent_mode()

    def decisions(self) -> Sequence[Decision]:
        """A journal that is not there yet, or is just being made, has nothing new to say; one that stays so ends in an agent that never acted."""
        with contextlib.suppress(Unreadable), Reader(state_folder(self._folder.manifests) / "journal.db") as reader:
            self._decisions = reader.decisions(since=self._began)
        return self._decisions

    def settings(self) -> dict[str, str]:
        return settings_below(self._trees.mounts["cpu"] / self._lab.root)

    def close(self) -> None:
        """However the agent ends now (it may be just starting), its groups go with the lab; how it ends is no news beside what brought us here."""
        try:
            self._end_agent()
        finally:
            self._down()

    def _down(self) -> None:
        try:
            self._lab.down(at_once=True)
        except (trees.NotPermitted, LabFailed) as failure:
            raise Broken(f"the lab could not be taken down: {failure}") from failure

    @property
    def _agent_log(self) -> Path:
        return self._folder.wires / "agent.log"

    def _watch(self) -> None:
        if not Path(f"/proc/{self._service_pid}").exists():
            raise Broken(self._ended("the service"))
        if self._agent is not None and self._agent.poll() is not None:
            raise Broken(f"the agent ended by itself: {self._last_words()}")

    def _last_words(self) -> str:
        return self._agent_log.read_text(errors="replace").strip()[-1000:]

    def _ended(self, who: str) -> str:
        logs = sorted((state_folder(self._folder.manifests) / "logs").glob(f"*{cluster.SERVICE}*"))
        return f"{who} ended by itself: {''.join(log.read_text(errors='replace')[-500:] for log in logs).strip() or 'it said nothing'}"

    def _pid_of_service(self) -> int:
        for pod in self._lab.pods():
            for container in pod.containers:
                if not container.running:
                    raise Broken(f"{pod.namespace}/{pod.name} did not come up: {pod.reason or pod.phase}")
        pids = [one.pid for pod in self._lab.pods() if pod.name == cluster.SERVICE for one in pod.containers]
        if not pids:
            raise Broken("the service's pod did not come up")
        return pids[0]

    def _read_requests(self) -> None:
        with self._folder.requests.open("rb") as file:
            file.seek(self._read)
            fresh = file.read()
        whole = len(fresh) // service.RECORD.size * service.RECORD.size
        self._read += whole
        self._requests.extend(Request(*record) for record in service.RECORD.iter_unpack(fresh[:whole]))

    def _pods_cpu(self) -> float:
        """CPU seconds of everything below the lab's root, as the kernel counts them there."""
        if self._trees.version == 1:
            usage = self._trees.mounts["cpuacct"] / self._lab.root / "cpuacct.usage"
            return int(usage.read_text()) / 1e9
        stat = (self._trees.mounts["cpu"] / self._lab.root / "cpu.stat").read_text()
        return int(stat.split("usage_usec", 1)[1].split(None, 1)[0]) / 1e6

    def _work_done(self) -> int:
        return sum(batch.COUNTER.unpack_from(counter)[0] for counter in self._counters)


def permitted_trees() -> trees.Trees:
    """Raises NotPermitted where this process may not make cgroups."""
    if os.geteuid():
        raise NotPermitted("this is not root, and only root may make cgroups")
    try:
        found = trees.look()
    except (trees.NotPermitted, OSError) as refusal:
        raise NotPermitted(str(refusal)) from refusal
    if not os.access(found.mounts["cpu"], os.W_OK):
        raise NotPermitted(f"{found.mounts['cpu']} cannot be written")
    return found


def refuse_rivals(found: Sequence[str]) -> None:
    """Beside another that squeezes pods the agent only previews, so that nothing would be seen here but two minutes of waiting."""
    if found:
        raise NotPermitted(f"{', '.join(found)} squeezes pods on this node too: beside it Slackwater only previews")


def machine_cpu(stat: Path = Path("/proc/stat")) -> tuple[float, float]:
    """CPU seconds used (without iowait and steal) and stolen, all CPUs together."""
    with stat.open() as file:
        user, nice, system, _, _, irq, softirq, steal = (int(text) for text in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICKS_PER_SECOND, steal / TICKS_PER_SECOND
