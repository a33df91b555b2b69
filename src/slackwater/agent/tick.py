"""
One tick, whole: observe, judge, look closer, decide, commit, act, record.

Observing, looking and acting touch the world; judging and deciding are pure functions of values. The plan and its claims are
committed to the journal before anything is written, and what came of it after; a commit that fails never stops the
tick. So whatever happens between any two lines here, the next tick (of this agent or of the next one) sees what is,
computes what should be, and puts right what differs.
"""

from collections.abc import Callable

from msgspec.structs import replace

from slackwater.agent import acting, looking, observing, recording
from slackwater.agent import reconcile as reconciling
from slackwater.agent.acting import Done
from slackwater.agent.auditing import Audit, audit
from slackwater.agent.carried import Carried
from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.edges import Edges
from slackwater.agent.marks import journalled, stuck
from slackwater.agent.observing import Seen
from slackwater.agent.settings import patience_of
from slackwater.api.units import Shares
from slackwater.decide.engine import Plan, decide, marked_blind, preview
from slackwater.decide.remembering import remembered
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict, judge
from slackwater.metrics.metric import Catalogue


def tick(
    edges: Edges, held: Carried, configuration: Configuration, catalogue: Catalogue, *, look: bool = True
) -> Carried:
    """
    `look` False: woken early by a change. Nothing is sampled, counted or stepped, but what is wanted is made true.
    """
    seen = observing.observe(edges, held, configuration, look=look)
    if not seen.view.complete:
        # Before the first sync nothing may be concluded from what is missing: all stands as the journal has it.
        return held
    held = observing.taken_in(held, seen, catalogue)
    verdicts = judged(seen, held)
    seen = looking.looked_closer(edges.host, seen, verdicts)
    plan = planned(seen, held, verdicts, catalogue, edges.host.weight_of)
    held, plan = foreseen(edges, seen, held, plan)
    kept = recording.commit(edges, seen, held, plan)
    done = acting.act(edges, seen, held, plan, journal_holds=kept)
    held = replace(held, verdicts=verdicts, journal_holds=kept, audit=audited(edges, seen, held, done))
    return recording.record(edges, seen, held, plan, done)


def judged(seen: Seen, held: Carried) -> tuple[Verdict, ...]:
    if seen.mode is Mode.OFF:
        return ()
    patience, sampled = patience_of(seen.configuration), seen.sample is not None
    return judge(held.rules, held.memory.states, held.readings, seen.now, patience, sampled=sampled)


def audited(edges: Edges, seen: Seen, held: Carried, done: Done) -> Audit:
    if not seen.looked:
        return held.audit
    kubelet = seen.settings.kubelet
    return audit(edges.host, seen.view.pods, done.reconciled.ours, kubelet, held.audit)


def planned(
    seen: Seen, held: Carried, verdicts: tuple[Verdict, ...], catalogue: Catalogue, weight_of: Callable[[Shares], int]
) -> Plan:
    """The plan of the real rules, and what the others would have done, each from the same situation."""
    real = tuple(verdict for verdict in verdicts if seen.mode is Mode.ACT and not verdict.rule.preview)
    shown = tuple(verdict for verdict in verdicts if seen.mode is not Mode.ACT or verdict.rule.preview)
    settings = seen.settings
    # What a blind rule may do once it does now; the next tick finds it done.
    stepped = marked_blind(verdicts, sampled=seen.sample is not None)
    memory = replace(held.memory, states=tuple(verdict.state for verdict in stepped))
    situation = Situation(
        now=seen.now,
        wall=seen.wall,
        view=seen.view,
        frames=held.frames,
        capacity=seen.capacity,
        catalogue=catalogue,
        settings=settings,
        verdicts=real,
        collected=seen.collected,
        memory=remembered(memory, real, held.frames, seen.now, settings),
        looked_at=seen.looked_at,
        stuck=stuck(held.ours),
        weight_of=weight_of,
        sampled=seen.sample is not None,
        idle_because="" if seen.mode is Mode.ACT else f"mode is {seen.mode.value} ({seen.mode_why})",
    )
    plan = decide(situation)
    would, told = preview(replace(situation, verdicts=shown, preview=True))
    return replace(plan, decisions=(*plan.decisions, *would), memory=replace(plan.memory, previewed=told))


def foreseen(edges: Edges, seen: Seen, held: Carried, plan: Plan) -> tuple[Carried, Plan]:
    """For groups that cannot say what is ours: what the journal must have before they are written."""
    pods = {pod.uid: pod for pod in seen.view.pods}
    kubelet = seen.settings.kubelet
    ours = reconciling.foreseen(edges.host, plan.claims, held.ours, pods=pods, kubelet=kubelet)
    return replace(held, ours=ours), replace(plan, memory=replace(plan.memory, unmarked=journalled(ours)))
