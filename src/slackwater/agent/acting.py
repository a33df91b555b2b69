"""
Acting: the node's standing with the scheduler, then the knobs, then the evictions. Each is tried whatever became of the
others, and each "no" is an answer that the next tick works with.
"""

import logging

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent.carried import Carried
from slackwater.agent.edges import Edges
from slackwater.agent.marks import committed
from slackwater.agent.observing import Seen
from slackwater.agent.reconcile import Reconciled, reconcile
from slackwater.api.units import Instant, Seconds
from slackwater.cluster.edge import Unreachable
from slackwater.decide.engine import Plan
from slackwater.decide.memory import Backoff, Memory
from slackwater.decide.plan import Answer, EvictionAnswer, EvictionOrder

log = logging.getLogger(__name__)

FIRST_BACKOFF = Seconds(30)
LONGEST_BACKOFF = Seconds(600)


class Done(Struct, frozen=True):
    reconciled: Reconciled
    memory: Memory
    answers: tuple[tuple[EvictionOrder, EvictionAnswer], ...] = ()
    unreachable: str = ""


def act(edges: Edges, seen: Seen, held: Carried, plan: Plan, *, journal_holds: bool) -> Done:
    unreachable = ""
    try:
        edges.cluster.set_scheduling(plan.scheduling)
    except Unreachable as error:
        unreachable = str(error)
    ours = committed(held.ours) if journal_holds else held.ours
    reconciled = reconcile(
        edges.host,
        plan.claims,
        ours,
        pods={pod.uid: pod for pod in seen.view.pods},
        now=seen.now,
        kubelet=seen.settings.kubelet,
    )
    answers = tuple((order, edges.cluster.evict(order.pod, order.grace, order.why)) for order in plan.evictions)
    memory = plan.memory
    for order, answer in answers:
        memory = answered(memory, order, answer, seen.now)
    return Done(reconciled, memory, answers, unreachable)


def answered(memory: Memory, order: EvictionOrder, answer: EvictionAnswer, now: Instant) -> Memory:
    """The memory counts every eviction that was planned; who did not go is taken out, and passed over for a while."""
    if answer.answer is Answer.ACCEPTED:
        return memory
    leaving = tuple(one for one in memory.evicting if one.pod != order.pod.uid)
    memory = replace(memory, evicting=leaving, evicted_at=memory.evicted_at[:-1])
    if answer.answer is Answer.GONE:
        return memory
    tries = next((one.tries for one in memory.backoffs if one.pod == order.pod.uid), 0) + 1
    wait = min(FIRST_BACKOFF * 2 ** (tries - 1), LONGEST_BACKOFF)
    others = tuple(one for one in memory.backoffs if one.pod != order.pod.uid)
    return replace(memory, backoffs=(*others, Backoff(pod=order.pod.uid, until=Instant(now + wait), tries=tries)))
