"""
Deciding, as one function: from a situation to everything that this tick means to do.

The order is that of the house: what must end at once ends; scheduling, throttling and eviction follow, each reducing
what the next has to close; then what may be given back is given back. The result is a value. Claims are what the
reconciler makes true, evictions and scheduling go to the cluster, decisions to the journal, the memory to the next
tick.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Amount, Instant, Millicores
from slackwater.claims.claim import Claim, Kind, Source, Throttled
from slackwater.decide.act import Act, governed
from slackwater.decide.decisions import Ids, decisions_of, ended, switched
from slackwater.decide.evict import Chosen, Released, evict
from slackwater.decide.measuring import awaited, measure
from slackwater.decide.memory import Evicting, Flight, Memory
from slackwater.decide.plan import ActionKind, Decision, EvictionOrder, Measurement, Scheduling
from slackwater.decide.restore import Restoring, restore
from slackwater.decide.scheduling import scheduling
from slackwater.decide.situation import PATIENCE_WITH_THE_DYING, Situation
from slackwater.decide.throttle import Throttling, throttle
from slackwater.decide.upkeep import upkeep
from slackwater.decide.weights import Weights, weight_operations, weights
from slackwater.judge.verdicts import Verdict, is_blind
from slackwater.snapshot.knobs import Knob


class Plan(Struct, frozen=True, kw_only=True):
    memory: Memory
    claims: tuple[Claim, ...] = ()
    scheduling: Scheduling = Scheduling(disabled=False)
    evictions: tuple[EvictionOrder, ...] = ()
    decisions: tuple[Decision, ...] = ()
    measurements: tuple[Measurement, ...] = ()


def decide(situation: Situation) -> Plan:
    """The plan of the real rules. `situation.memory` has this tick's values in its windows already."""
    measured = measure(situation)
    before = weights(situation, situation.memory.throttled)
    upkept = upkeep(situation)
    throttling = throttle(situation, upkept.held)
    restoring = restore(situation, throttling.held, upkept.freed)
    evictions = evict(situation, Released(throttling.released, throttling.amounts))
    leaving = tuple(evicting(situation, chosen) for chosen in evictions.chosen)
    standing, closing = scheduling(situation.verdicts, situation.now)

    after = weights(situation, restoring.held.values())
    ids = Ids(situation.now)
    moved = (
        *ended(situation, upkept.ended, ids),
        *decisions_of(situation, (*throttling.acts, *restoring.acts), ids),
    )
    decisions = (
        *switched(situation, standing, closing, ids),
        *_with_weights(situation, moved, before, after),
        *(evicted := decisions_of(situation, evictions.acts, ids)),
    )
    memory = replace(
        situation.memory,
        throttled=tuple(restoring.held.values()),
        waits=restoring.waits,
        flights=(*situation.memory.flights, *_flights(situation, throttling, restoring, upkept.freed)),
        evicting=(*situation.memory.evicting, *leaving),
        evicted_at=(*situation.memory.evicted_at, *(situation.now for _ in leaving)),
        scheduling_disabled=standing.disabled,
        awaiting=(*measured.awaiting, *awaited(situation, decisions)),
    )
    return Plan(
        memory=memory,
        claims=claims(situation, restoring.held.values(), after),
        scheduling=standing,
        evictions=tuple(_order(chosen, evicted) for chosen in evictions.chosen),
        decisions=decisions,
        measurements=measured.measurements,
    )


def preview(situation: Situation) -> tuple[tuple[Decision, ...], dict[str, str]]:
    """
    What the rules that only show would do, computed from what stands now, each told when it differs from what it told
    last; and what was told.

    It is a plan of its own: nothing of it reaches a claim, a flight, a window or a cool-down.
    """
    throttling = throttle(situation, {})
    evictions = evict(situation, Released(throttling.released, throttling.amounts))
    acts = (*_closing(situation), *throttling.acts, *evictions.acts)
    fresh = {f"{act.action.value}/{act.governing.state.id}": _gist(act) for act in acts}
    told = situation.memory.previewed
    engaged = {verdict.state.id for verdict in situation.verdicts if verdict.state.engaged}
    kept = {key: gist for key, gist in told.items() if key.partition("/")[2] in engaged}
    news = [act for act in acts if told.get(f"{act.action.value}/{act.governing.state.id}") != _gist(act)]
    return decisions_of(situation, news, Ids(situation.now, "p")), {**kept, **fresh}


def _closing(situation: Situation) -> tuple[Act, ...]:
    _, closing = scheduling(situation.verdicts, situation.now)
    if not closing:
        return ()
    governing, also = governed(list(closing))
    return (Act(action=ActionKind.DISABLE_SCHEDULING, governing=governing, also=also, metric=governing.rule.metric),)


def _gist(act: Act) -> str:
    return ",".join(sorted({operation.pod for operation in act.operations}))


def marked_blind(verdicts: Iterable[Verdict], *, sampled: bool) -> tuple[Verdict, ...]:
    """The one step of an activation without a reading is taken once."""
    return tuple(
        replace(verdict, state=replace(verdict.state, blind_step=True)) if sampled and is_blind(verdict) else verdict
        for verdict in verdicts
    )


def claims(situation: Situation, throttled: Iterable[Throttled], moved: Weights) -> tuple[Claim, ...]:
    titles = {verdict.state.id: verdict.rule.title for verdict in situation.verdicts}
    quotas = tuple(
        Claim(
            pod=one.pod,
            container=one.container,
            knob=Knob.QUOTA,
            kind=Kind.CAP,
            source=Source.THROTTLE,
            quota=one.quota,
            cause=", ".join(titles.get(cause, cause) for cause in one.causes),
        )
        for one in throttled
    )
    yields = tuple(
        Claim(pod=uid, knob=Knob.WEIGHT, kind=Kind.CAP, source=Source.YIELD, shares=shares, cause="it is throttled")
        for uid, shares in moved.yielded.items()
    )
    lifts = tuple(
        Claim(
            pod=uid,
            knob=Knob.WEIGHT,
            kind=Kind.REPLACE,
            source=Source.LIFT,
            shares=shares,
            cause="others are throttled",
        )
        for uid, shares in moved.lifted.items()
    )
    return tuple(
        sorted(
            (*quotas, *yields, *lifts), key=lambda claim: (claim.pod, claim.container, claim.knob, claim.source.value)
        )
    )


def evicting(situation: Situation, chosen: Chosen) -> Evicting:
    """
    Counted from before it is asked for, so that neither a crash nor a failed tick forgets it; who is refused is taken
    out again.
    """
    grace = chosen.grace if chosen.grace is not None else (chosen.pod.grace or 0.0)
    return Evicting(pod=chosen.pod.uid, until=Instant(situation.now + grace + PATIENCE_WITH_THE_DYING))


def _flights(
    situation: Situation, throttling: Throttling, restoring: Restoring, freed: Mapping[str, Millicores]
) -> tuple[Flight, ...]:
    """What no sample shows yet: of CPU in every metric that a quota moves; of the others as they told it."""
    back = ({uid: Millicores(-cpu) for uid, cpu in one.items()} for one in (restoring.granted, freed))
    of_cpu = [situation.in_metrics(cpu) for cpu in (throttling.released, *back) if any(cpu.values())]
    told = [dict(amounts) for _, amounts in sorted(throttling.amounts.items())]
    given = {metric: Amount(-amount) for metric, amount in restoring.amounts.items()}
    return tuple(Flight(at=situation.now, amounts=amounts) for amounts in (*of_cpu, *told, given) if amounts)


def _with_weights(
    situation: Situation, decisions: tuple[Decision, ...], before: Weights, after: Weights
) -> tuple[Decision, ...]:
    """Weights that change are told with the first decision that changed a quota."""
    operations = weight_operations(situation, before, after)
    first = next((decision for decision in decisions if decision.operations), None)
    if not operations or first is None:
        return decisions
    told = replace(first, operations=(*first.operations, *operations))
    return tuple(told if decision is first else decision for decision in decisions)


def _order(chosen: Chosen, decisions: Sequence[Decision]) -> EvictionOrder:
    decision = decisions[chosen.act]
    return EvictionOrder(
        pod=chosen.pod,
        grace=chosen.grace,
        why=f"policy {decision.policy}, rule {decision.rule}",
        decision=decision.id,
    )
