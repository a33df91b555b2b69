"""The agent as a process: its edges opened, its lock taken, its ticks run, and everything given back at the end."""

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent import life, logs, packages, status
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.configuration_layers import for_node
from slackwater.agent.edges import Edges
from slackwater.agent.guarding import Guard
from slackwater.agent.hanging import Hangs
from slackwater.agent.loop import Loop
from slackwater.agent.packages import Packages
from slackwater.agent.tick import tick
from slackwater.agent.watchdog import Watchdog
from slackwater.api.units import Seconds
from slackwater.cluster import folder as folders
from slackwater.cluster import ledger
from slackwater.cluster.folder import FolderCluster
from slackwater.cluster.standing import TaintName
from slackwater.host.discovery import NoCgroups
from slackwater.host.lock import Held, Lock
from slackwater.host.machine import Machine
from slackwater.host.neighbours import other_agents
from slackwater.journal.store import SqliteJournal
from slackwater.metrics.metric import Catalogue

log = logging.getLogger(__name__)

DONE, DOES_NOT_HOLD, NOT_PERMITTED = 0, 1, 3
RIVALS_EVERY = Seconds(60)


class Rivals:
    """Other agents on this node, looked for at most once a minute: every process is asked its name."""

    def __init__(self, proc: str) -> None:
        self._proc = proc
        self._looked_at: float | None = None
        self._found: tuple[str, ...] = ()

    def __call__(self) -> tuple[str, ...]:
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at >= RIVALS_EVERY:
            self._looked_at, self._found = now, other_agents(self._proc)
        return self._found


def run(configuration: Configuration, *, ticks: int | None, keep: bool) -> int:
    logs.set_up(configuration.log)
    clock = AgentClock()
    try:
        machine = Machine(clock, proc=configuration.host.proc, root=root_of(configuration))
        lock = Lock(machine.directory, configuration.host.proc)
    except Held as held:
        log.error("another agent works here: %s; end it first", held)  # noqa: TRY400 - the reason says it all
        return DOES_NOT_HOLD
    except (NoCgroups, OSError) as error:
        log.error("this machine does not permit it: %s", error)  # noqa: TRY400 - the reason says it all
        return NOT_PERMITTED
    with lock, ready(configuration, clock) as plugged:
        edges = replace(opened(configuration, machine, clock), packages=plugged.packages)
        try:
            return Agent(edges, configuration, clock, plugged).live(ticks, keep=keep)
        finally:
            edges.cluster.close()
            edges.journal.close()
            machine.close()


class Plugged(Struct, frozen=True):
    """What packages bring to this life of the agent, and who ends it if they hang."""

    catalogue: Catalogue
    packages: Packages
    watchdog: Watchdog


@contextmanager
def ready(configuration: Configuration, clock: AgentClock) -> Iterator[Plugged]:
    found = packages.entries()
    hangs = Hangs(configuration.journal_file)
    left_out = hangs.settle(clock.wall()) if found else {}
    watchdog = Watchdog(time.monotonic, hangs.trace)
    watchdog.start()
    try:
        guard = Guard(hangs.says, time.monotonic)
        with watchdog.watched():
            loaded = packages.load(found, guard, left_out, hangs.says)
        hangs.readmit(loaded.readmitted(left_out), left_out)
        plugged = Packages(loaded, guard, clock.instant)
        yield Plugged(loaded.catalogue, plugged, watchdog)
        plugged.close()
    finally:
        watchdog.close()
    hangs.close()


def root_of(configuration: Configuration) -> str:
    """Where the pods' tree begins: as configured, else where the folder's lab has put it."""
    if configuration.host.cgroup_root or configuration.folder is None:
        return configuration.host.cgroup_root
    return ledger.lab_root(configuration.folder) or ""


def opened(configuration: Configuration, machine: Machine, clock: AgentClock) -> Edges:
    folder = configuration.folder
    if folder is None:
        raise ValueError("an API server is not served yet; the command line refuses it")
    survey = machine.survey()
    cluster = FolderCluster(
        folder,
        folders.Machine(socket.gethostname(), survey.cpu, survey.memory),
        clock=clock.instant,
        wall=clock.wall,
        node_name=configuration.node_name or None,
        taint=TaintName(configuration.scheduling.taint_key, configuration.scheduling.taint_effect.value),
    )
    journal = SqliteJournal(
        configuration.journal_file,
        max_age=Seconds(configuration.journal.max_age_hours * 3600),
        max_bytes=configuration.journal.max_bytes,
        wall=clock.wall,
    )
    rivals = Rivals(configuration.host.proc)
    return Edges(host=machine, cluster=cluster, journal=journal, clock=clock, rivals=rivals)


class Agent:
    """One life: what it holds, and its ticks."""

    def __init__(self, edges: Edges, configuration: Configuration, clock: AgentClock, plugged: Plugged) -> None:
        self._edges = edges
        self._plugged = plugged
        self._configuration = configuration
        self._held = life.begun(edges.host, edges.journal, clock)

    def live(self, ticks: int | None, *, keep: bool) -> int:
        loop = Loop(time.monotonic)
        loop.on_signals()
        self._edges.cluster.on_change(loop.wake)
        self._plugged.packages.start()
        log.info("begins: %d groups are marked, %d claims are held", self._marked, len(self._held.memory.throttled))
        for knob in self._edges.host.survey().knobs:
            if not knob.works and self._configuration.mode is Mode.ACT:
                log.warning("%s does not work here: %s", knob.name, knob.why)
        loop.run(self._tick, self._every, ticks)
        if keep:
            log.info("ends: %d groups stay as they are", self._marked)
            return DONE
        complete = life.give_back(self._edges, self._held, self._configuration, "the agent ended")
        log.info("ends: %s", "everything is given back" if complete else "not everything could be given back")
        life.say_farewell(self._edges, self._held)
        return DONE if complete else DOES_NOT_HOLD

    @property
    def _marked(self) -> int:
        return len(self._held.ours.marks)

    def _tick(self, look: bool) -> None:
        try:
            first = self._held.view is None
            with self._plugged.watchdog.watched():
                self._held = tick(self._edges, self._held, self._configuration, self._plugged.catalogue, look=look)
            if first:
                log.info("%s", status.overview(self._held))
        except Exception:
            self._held = life.looked_again(self._edges.host, self._held)
            raise

    def _every(self) -> Seconds:
        labels = self._held.view.node.labels if self._held.view else {}
        return for_node(self._configuration, labels).tick_seconds
