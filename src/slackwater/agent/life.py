"""
The agent from start to end around its ticks: what it takes up of an earlier life, and what it gives back at the end of
this one.

At the start the marks on the groups say what is ours, and the journal what was claimed; from there the first tick puts
everything right. At the end all is given back, unless it is to be kept for an agent that follows at once.
"""

import logging

import msgspec
from msgspec.structs import replace

from slackwater.agent import carried, marks, status
from slackwater.agent.carried import Carried, Page
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration
from slackwater.agent.configuration_layers import for_node
from slackwater.agent.edges import Edges
from slackwater.agent.reconcile import Reconciled, reconcile
from slackwater.agent.recording import told_of
from slackwater.agent.settings import settings_of
from slackwater.cluster.edge import Unreachable
from slackwater.decide.decisions import parting
from slackwater.decide.memory import Memory
from slackwater.decide.plan import Scheduling
from slackwater.host.edge import Host
from slackwater.journal.edge import Entry, Kept, Unwritable
from slackwater.journal.edge import Journal as JournalEdge
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Mark

log = logging.getLogger(__name__)

TRIES_TO_GIVE_BACK = 3


def begun(host: Host, journal: JournalEdge, clock: AgentClock) -> Carried:
    """As the last agent left it; the clock goes on from there."""
    kept = journal.last()
    if kept is not None:
        clock.go_on_from(kept.instant, kept.at)
    memory = _memory(kept)
    return Carried(memory=memory, ours=marks.recalled(_legible(host), memory.unmarked))


def _legible(host: Host) -> dict[GroupId, Mark]:
    """A mark that says nothing (somebody wrote over it) can give nothing back, and must not stand in the way for ever."""
    found = dict(host.marks())
    for group in [group for group, mark in found.items() if not mark.knobs]:
        log.warning("the mark on %s cannot be read: it is taken away, and what stands there stays", group)
        host.set_mark(group, None)
        del found[group]
    return found


def _memory(kept: Kept | None) -> Memory:
    if kept is None:
        return Memory()
    try:
        return carried.decoded(kept.memory).memory
    except msgspec.MsgspecError as error:
        log.warning("what the journal says of the last tick cannot be read (%s): what is marked is given back", error)
        return Memory()


def looked_again(host: Host, held: Carried) -> Carried:
    """After a tick that failed somewhere in the middle: what is ours is what the groups say, not what we remember."""
    return replace(held, ours=marks.recalled(_legible(host), marks.journalled(held.ours)))


def give_back(edges: Edges, held: Carried, configuration: Configuration, why: str) -> bool:
    """Every knob to its base, the node open, and nothing claimed in the journal. Whether all of it could be done."""
    ours, left = held.ours, len(held.ours.marks)
    for _ in range(TRIES_TO_GIVE_BACK):
        ours = _restored(edges, held, replace(ours, troubles={}), configuration).ours
        left = len(ours.marks)
        if not left:
            break
    if left:
        log.error("%d groups could not be given back; they stay marked, and `slackwater release` tries again", left)
    opened = _opened(edges)
    _forget(edges, held, replace(held.memory, unmarked=marks.journalled(ours)), why)
    return opened and not left


def say_farewell(edges: Edges, held: Carried) -> None:
    """So that nobody reads the last tick's status as if an agent still stood behind it."""
    last = status.ended(held.status)
    try:
        if last:
            edges.cluster.publish(last)
    except Unreachable as error:
        log.warning("the status could not be written: %s", error)


def _restored(edges: Edges, held: Carried, ours: marks.Ours, configuration: Configuration) -> Reconciled:
    pods = {pod.uid: pod for pod in held.view.pods} if held.view else {}
    labels = held.view.node.labels if held.view else {}
    kubelet = settings_of(for_node(configuration, labels)).kubelet
    return reconcile(edges.host, (), ours, pods=pods, now=edges.clock.instant(), kubelet=kubelet)


def _opened(edges: Edges) -> bool:
    try:
        edges.cluster.set_scheduling(Scheduling(disabled=False))
    except Unreachable as error:
        log.error("the node could not be opened for scheduling: %s", error)  # noqa: TRY400 - the reason says it all
        return False
    return True


def _forget(edges: Edges, held: Carried, memory: Memory, why: str) -> None:
    """The next agent must find nothing claimed, and rules that begin anew; and who looks, what was given back."""
    now, wall = edges.clock.instant(), edges.clock.wall()
    pods = {pod.uid: pod for pod in held.view.pods} if held.view else {}
    decisions = parting(now, wall, held.memory, pods, why)
    emptied = replace(memory, states=(), throttled=(), flights=(), scheduling_disabled=False, awaiting=())
    view = held.view or edges.cluster.view(now)
    page = carried.encoded(Page(emptied))
    try:
        edges.journal.commit(Entry(at=wall, instant=now, sample=None, view=view, memory=page, decisions=decisions))
    except Unwritable as error:
        log.warning("%s", error)
    for decision in decisions:
        for event in told_of(decision, wall, view.node.name):
            edges.cluster.emit(event)
