"""
Giving everything back without an agent: for a machine whose agent was killed, removed or cannot start.

What is ours stands on the groups and in the journal, so this needs nothing of the agent that put it there. It takes the
agent's lock first: beside a running agent it would be undone at the next tick.
"""

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent import life, logs
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration
from slackwater.agent.ground import Ground
from slackwater.agent.main import opened
from slackwater.agent.observing import groups_to_follow
from slackwater.cluster.ledger import status_file
from slackwater.cluster.standing import OURS


class Released(Struct, frozen=True):
    groups: int  # that were marked
    opened: bool  # the node had been closed for scheduling
    complete: bool


def release(configuration: Configuration) -> Released:
    """Raises host.lock.Held where an agent runs, NoCgroups or OSError where the machine does not permit it."""
    logs.set_up(configuration.log, once=True)
    clock = AgentClock()
    with Ground(configuration, clock) as ground:
        machine = ground.machine
        edges = opened(configuration, machine, clock)
        try:
            view = edges.cluster.view(clock.instant())
            machine.follow(groups_to_follow(view))
            held = replace(life.begun(machine, edges.journal, clock), view=view)
            closed = held.memory.scheduling_disabled or any(taint.value == OURS for taint in view.node.taints)
            complete = life.give_back(edges, held, configuration, "given back by `slackwater release`")
            life.say_farewell(edges, replace(held, status=_last_status(configuration)))
            return Released(len(held.ours.marks), closed, complete)
        finally:
            edges.cluster.close()
            edges.journal.close()


def _last_status(configuration: Configuration) -> bytes:
    """What the agent that is gone said last; nothing where it said nothing."""
    if configuration.folder is None:
        return b""
    try:
        return status_file(configuration.folder).read_bytes()
    except OSError:
        return b""
