"""The agent as a process: its edges opened, its lock taken, its ticks run, and everything given back at the end."""

import logging
import socket
import time

from msgspec.structs import replace

from slackwater.agent import life, logs, status
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.configuration_layers import for_node
from slackwater.agent.edges import Edges
from slackwater.agent.ground import Ground
from slackwater.agent.loop import Loop
from slackwater.agent.plugged import Plugged, ready
from slackwater.agent.tick import tick
from slackwater.api.units import Seconds
from slackwater.cluster import folder as folders
from slackwater.cluster.folder import FolderCluster
from slackwater.cluster.standing import TaintName
from slackwater.host.discovery import NoCgroups
from slackwater.host.lock import Held
from slackwater.host.machine import Machine
from slackwater.host.neighbours import other_agents
from slackwater.journal.store import SqliteJournal

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
    """
    Life after life: where the pods' tree moves (a lab went down and came up), everything is begun anew on the new one.
    """
    logs.set_up(configuration.log)
    clock, left = AgentClock(), ticks
    while True:
        try:
            with Ground(configuration, clock) as ground, ready(configuration, clock) as plugged:
                agent = Agent(ground, configuration, clock, plugged)
                code = agent.live(left, keep=keep)
        except Held as held:
            log.error("another agent works here: %s; end it first", held)  # noqa: TRY400 - the reason says it all
            return DOES_NOT_HOLD
        except (NoCgroups, OSError) as error:
            log.error("this machine does not permit it: %s", error)  # noqa: TRY400 - the reason says it all
            return NOT_PERMITTED
        if not agent.moved:
            return code
        left = None if left is None else left - agent.ticks
        log.info("the pods' tree is elsewhere now: begins anew there")


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

    def __init__(self, ground: Ground, configuration: Configuration, clock: AgentClock, plugged: Plugged) -> None:
        self._ground = ground
        self._configuration = configuration
        self._plugged = plugged
        self._edges = replace(opened(configuration, ground.machine, clock), packages=plugged.packages)
        self._held = life.begun(ground.machine, self._edges.journal, clock)
        self._loop = Loop(time.monotonic)
        self.ticks = 0  # of the timer
        self.moved = False  # it ended because its tree is elsewhere

    def live(self, ticks: int | None, *, keep: bool) -> int:
        try:
            if not self._may_work():
                return NOT_PERMITTED
            self._loop.on_signals()
            self._edges.cluster.on_change(self._loop.wake)
            log.info("begins: %d groups are marked, %d claims are held", self._marked, self._claims)
            self._loop.run(self._tick, self._every, ticks)
            return self._end(keep=keep)
        finally:
            self._edges.cluster.close()
            self._edges.journal.close()

    def _may_work(self) -> bool:
        """Without a single knob that works there is nothing to act with; where only some do not, that is said."""
        survey = self._edges.host.survey()
        broken = [knob for knob in survey.knobs if not knob.works]
        if self._configuration.mode is not Mode.ACT:
            return True
        for knob in broken:
            log.warning("%s does not work here: %s", knob.name, knob.why)
        if not survey.supports("quota") and not survey.supports("weight"):
            log.error(
                "this machine does not permit it: neither quota nor weight can be written; mode preview needs neither"
            )
            return False
        return True

    def _end(self, *, keep: bool) -> int:
        if keep and not self.moved:
            log.info("ends: %d groups stay as they are", self._marked)
            return DONE
        held = self._marked or self._held.memory.scheduling_disabled
        complete = life.give_back(self._edges, self._held, self._configuration, "the agent ended")
        done = "everything is given back" if held else "nothing was held"
        log.info("ends: %s", done if complete else "not everything could be given back")
        life.say_farewell(self._edges, self._held)
        return DONE if complete else DOES_NOT_HOLD

    @property
    def _claims(self) -> int:
        return len(self._held.memory.throttled)

    @property
    def _marked(self) -> int:
        return len(self._held.ours.marks)

    def _tick(self, look: bool) -> None:
        self.ticks += look
        if self._ground.moved():
            self.moved = True
            self._loop.stop()
            return
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
