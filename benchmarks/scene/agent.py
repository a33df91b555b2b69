"""
The agent in this process: its own wiring, ticked by hand.

Neighbours are looked for at every sixth tick, as an agent with ticks of ten seconds does; each tick happens ten seconds after the one before, by a clock that is stepped.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import sampling
from msgspec.structs import replace

from scene import folder
from scene.clock import SteppedTime
from slackwater.agent import life, main
from slackwater.agent.carried import Carried
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration, HostKeys
from slackwater.agent.edges import Edges
from slackwater.agent.tick import tick
from slackwater.host.edge import Host
from slackwater.host.machine import Machine
from slackwater.host.neighbours import other_agents
from slackwater.metrics.builtin import BUILTIN
from slackwater.snapshot.groups import PodGroups

TICKS_A_MINUTE = 6
NOBODY: Mapping[str, int] = MappingProxyType({})
QUIET_PERCENT = 80  # a waterline that this machine cannot reach, for the Node says it is much larger


class Agent:
    def __init__(self, edges: Edges, clock: AgentClock, time: SteppedTime, configuration: Configuration) -> None:
        self.edges = edges
        self.held: Carried = life.begun(edges.host, edges.journal, clock)
        self._time = time
        self._configuration = configuration

    def give_back(self) -> bool:
        return life.give_back(self.edges, self.held, self._configuration, "the agent ended")

    def tick(self) -> None:
        self._time.step()
        self.held = tick(self.edges, self.held, self._configuration, BUILTIN)


@contextmanager
def node(
    containers: int, *, percent: int = QUIET_PERCENT, priorities: Mapping[str, int] = NOBODY
) -> Iterator[tuple[Path, str, list[PodGroups]]]:
    """A folder of manifests, the root of the groups that it speaks of, and these groups; all gone afterwards."""
    wanted, root = sampling.pods(containers), f"slackwater-bench-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="slackwater-bench-") as place, sampling.groups(wanted, root):
        folder.lay(Path(place), wanted, percent=percent, priorities=priorities)
        yield Path(place), root, wanted


@contextmanager
def agent(place: Path, root: str, *, host: Callable[[Machine], Host] = lambda machine: machine) -> Iterator[Agent]:
    """`host` may put something between the agent and the machine."""
    configuration = Configuration(cluster=f"folder:{place}", host=HostKeys(cgroup_root=root))
    time = SteppedTime()
    clock = AgentClock(time, time)
    machine = Machine(clock, root=root)
    edges = replace(main.opened(configuration, machine, clock), host=host(machine), rivals=_NowAndThen())
    try:
        yield Agent(edges, clock, time, configuration)
    finally:
        edges.cluster.close()
        edges.journal.close()
        machine.close()


class _NowAndThen:
    """Neighbours are looked for at every sixth call, for what it costs; one that runs here must not turn a measurement into a preview."""

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self) -> tuple[str, ...]:
        if self._calls % TICKS_A_MINUTE == 0:
            other_agents()
        self._calls += 1
        return ()
