"""
Throttling down: which containers get which quota, so that the gap is closed and nothing more.

Metrics by rank; for each the waterlines from the highest down, so that a pod is a candidate only down to the lowest
waterline of a rule whose action is allowed to it; for each waterline the groups in order. What one metric's steps
release in another is subtracted there too.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.objects import CpuThrottle
from slackwater.api.units import Amount, Millicores
from slackwater.claims.claim import Throttled
from slackwater.decide import order, stepping
from slackwater.decide.act import Act, cores, governed, who
from slackwater.decide.allowed import Allowed, sorted_out
from slackwater.decide.candidates import Held, Ratios, ladder_of
from slackwater.decide.ladder import Ladder, Rung, Squeeze, one_step, squeeze
from slackwater.decide.plan import ActionKind, Considered, Operation
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict, is_blind
from slackwater.metrics.metric import Metric


class Throttling(Struct, frozen=True):
    held: dict[tuple[str, str], Throttled]
    released: dict[str, Millicores] = {}  # by pod
    amounts: dict[str, Mapping[str, Amount]] = {}  # by pod and metric: what metrics with steps of their own say
    acts: tuple[Act, ...] = ()


def throttle(situation: Situation, held: Held) -> Throttling:
    done = Throttling(dict(held))
    acting = [verdict for verdict in situation.verdicts if verdict.acts and verdict.rule.throttles]
    precise = [verdict for verdict in acting if verdict.rule.metric and verdict.rule.metric.throttle.quantified]
    for metric in situation.catalogue.by_rank(v.rule.metric.name for v in precise if v.rule.metric):
        done = _close(situation, metric, [v for v in precise if v.rule.metric == metric], done)
    imprecise = [verdict for verdict in acting if verdict not in precise]
    for own in dict.fromkeys(verdict.rule.metric for verdict in imprecise):
        done = _imprecisely(situation, [v for v in imprecise if v.rule.metric == own], done)
    for verdict in situation.verdicts:
        if situation.may_be_blind and verdict.rule.throttles and is_blind(verdict) and not verdict.state.blind_step:
            done = _blindly(situation, verdict, done)
    return done


def _imprecisely(situation: Situation, concerned: list[Verdict], done: Throttling) -> Throttling:
    """
    A metric in which no release can be counted: one step at each bad sample, its own or CPU's, however many rules
    there are on it.
    """
    governing, _ = governed(concerned)
    through = situation.through(governing, _moves)
    reason = governing.reason or "what squeezing releases cannot be counted in this metric"
    return _one_step(situation, concerned, done, through, reason=reason, stopped="one step at each bad sample")


def _blindly(situation: Situation, verdict: Verdict, done: Throttling) -> Throttling:
    """The one step that an activation takes when its metric has gone missing."""
    through = situation.through(verdict, _moves)
    reason = "the metric is missing: one step, and no more in this activation"
    return _one_step(situation, [verdict], done, through, reason=reason, stopped="one step")


def _moves(metric: Metric) -> bool:
    return metric.moved_by_quota or metric.stepped


def _close(situation: Situation, metric: Metric, concerned: list[Verdict], done: Throttling) -> Throttling:
    governing, also = governed(concerned)
    allowed, considered = sorted_out(situation, metric, concerned, evicts=False)
    operations: dict[tuple[str, str], Operation] = {}
    reasons: dict[str, str] = {}
    gap = open_gap = Amount(0)
    for waterline in sorted({verdict.rule.rule.value or 0.0 for verdict in concerned}, reverse=True):
        gap = situation.gap(metric, governing.value or 0.0, waterline)
        candidates = [one for one in allowed if one.waterline <= waterline]
        groups = _groups(situation, candidates, done.held, _ratios(concerned), reasons)
        squeezes, open_gap = _squeezes(situation, metric, groups, gap, done)
        done = _with(situation, done, squeezes, candidates)
        for squeezed in squeezes:
            _note(situation, metric, squeezed, operations)
    act = Act(
        action=ActionKind.THROTTLE,
        governing=governing,
        also=also,
        metric=metric,
        gap=gap,
        considered=(*_told(allowed, operations, reasons), *considered),
        operations=tuple(operations.values()),
        stopped="gap closed" if open_gap <= 0 else "nobody left who may be squeezed further",
    )
    return replace(done, acts=(*done.acts, act))


def _ratios(concerned: Iterable[Verdict]) -> Ratios:
    """The larger of each over the rules concerned."""
    knobs = [(v.rule.action.cpu_throttle if v.rule.action else None) or CpuThrottle() for v in concerned]
    return Ratios(
        floor=max(knob.min_ratio for knob in knobs),
        step=max(knob.step_ratio for knob in knobs),
        samples=max(verdict.rule.rule.avoidance_threshold for verdict in concerned),
    )


def _groups(
    situation: Situation, candidates: Iterable[Allowed], held: Held, ratios: Ratios, reasons: dict[str, str]
) -> Iterator[list[Ladder]]:
    for group in order.grouped(one.pod for one in candidates):
        ladders = []
        for pod in group:
            ladder = ladder_of(situation, pod, held, ratios)
            if isinstance(ladder, Ladder):
                ladders.append(ladder)
            else:
                reasons.setdefault(pod.uid, ladder)
        yield ladders


def _squeezes(
    situation: Situation, metric: Metric, groups: Iterator[list[Ladder]], gap: Amount, done: Throttling
) -> tuple[list[Squeeze], Amount]:
    """Until the gap is closed, less what this tick has released in this metric already; and what is still open."""
    if metric.from_cpu is None:
        told = sum(amounts.get(metric.name, 0.0) for amounts in done.amounts.values())
        return stepping.walk(situation.scene, metric, groups, Amount(gap - told))
    open_cpu = Millicores(situation.cpu_for(metric, gap) - situation.counted(metric, done.released))
    squeezes, open_cpu = _walk(groups, open_cpu)
    return squeezes, metric.from_cpu(open_cpu, situation.capacity)


def _walk(groups: Iterator[list[Ladder]], open_cpu: Millicores) -> tuple[list[Squeeze], Millicores]:
    """Group by group until the gap is closed; a group that is not reached is not even looked at."""
    squeezes: list[Squeeze] = []
    while open_cpu > 0 and (group := next(groups, None)) is not None:
        taken, open_cpu = squeeze(group, open_cpu)
        squeezes += taken
    return squeezes, open_cpu


def _with(
    situation: Situation,
    done: Throttling,
    squeezes: Iterable[Squeeze],
    allowed: Iterable[Allowed],
) -> Throttling:
    by = {one.pod.uid: one.verdicts for one in allowed}
    held, released, amounts = dict(done.held), dict(done.released), dict(done.amounts)
    for squeezed in squeezes:
        pod = squeezed.ladder.pod.uid
        released[pod] = Millicores(released.get(pod, 0) + squeezed.release)
        if squeezed.amounts:
            amounts[pod] = _sum(amounts.get(pod, {}), squeezed.amounts)
        for rung, quota in squeezed.quotas:
            old = held.get((pod, rung.container))
            causes = {verdict.state.id for verdict in by[pod]} | set(old.causes if old else ())
            held[pod, rung.container] = Throttled(
                pod=pod,
                container=rung.container,
                quota=quota,
                reference=rung.reference,
                floor=rung.floor,
                weight=any(verdict.rule.yields for verdict in by[pod]) or bool(old and old.weight),
                causes=tuple(sorted(causes)),
                since=old.since if old else situation.now,
                starved_at=situation.now,
            )
    return Throttling(held, released, amounts, done.acts)


def _sum(one: Mapping[str, Amount], other: Mapping[str, Amount]) -> dict[str, Amount]:
    return {name: Amount(one.get(name, 0.0) + other.get(name, 0.0)) for name in one.keys() | other.keys()}


def _note(
    situation: Situation, metric: Metric, squeezed: Squeeze, operations: dict[tuple[str, str], Operation]
) -> None:
    pod = squeezed.ladder.pod
    for rung, quota in squeezed.quotas:
        earlier = operations.get((pod.uid, rung.container))
        expected = _expected(situation, metric, squeezed, rung, quota)
        operations[pod.uid, rung.container] = Operation(
            pod=pod.key,
            uid=pod.uid,
            container=rung.container,
            knob="quota",
            before=earlier.before if earlier else rung.quota,
            after=quota,
            expected=expected + (earlier.expected or 0.0) if earlier and expected is not None else expected,
            who=who(pod),
        )


def _expected(situation: Situation, metric: Metric, squeezed: Squeeze, rung: Rung, quota: Millicores) -> Amount | None:
    """Of what the pod releases, this container's part; None where nobody can say."""
    if metric.from_cpu is not None:
        return metric.from_cpu(Millicores(max(0, rung.usage - quota)), situation.capacity)
    whole = sum(one.start - level for one, level in squeezed.quotas)
    told = squeezed.amounts.get(metric.name)
    return None if told is None or not whole else Amount(told * (rung.start - quota) / whole)


def _told(
    allowed: Iterable[Allowed],
    operations: dict[tuple[str, str], Operation],
    reasons: dict[str, str],
    otherwise: str = "not needed: the gap is closed",
) -> Iterator[Considered]:
    squeezed: dict[str, list[str]] = {}
    for (uid, container), operation in operations.items():
        squeezed.setdefault(uid, []).append(f"{container} {cores(operation.before)} -> {cores(operation.after)}")
    for one in allowed:
        uid = one.pod.uid
        if uid in squeezed:
            yield Considered(one.pod.key, taken=True, why=", ".join(squeezed[uid]))
        else:
            yield Considered(one.pod.key, taken=False, why=reasons.get(uid, otherwise))


def _one_step(
    situation: Situation, concerned: list[Verdict], done: Throttling, through: Metric, *, reason: str, stopped: str
) -> Throttling:
    """One step of everybody in the lowest group that is not at its floor, whatever it releases."""
    governing, also = governed(concerned)
    allowed, considered = sorted_out(situation, through, concerned, evicts=False)
    reasons: dict[str, str] = {}
    groups = _groups(situation, allowed, done.held, _ratios(concerned), reasons)
    squeezes = _single_steps(situation, through, groups)
    operations: dict[tuple[str, str], Operation] = {}
    for squeezed in squeezes:
        _note(situation, through, squeezed, operations)
    act = Act(
        action=ActionKind.THROTTLE,
        governing=governing,
        also=also,
        metric=governing.rule.metric,
        considered=(*_told(allowed, operations, reasons, "not yet: a lower group goes first"), *considered),
        operations=tuple(in_no_unit(governing, through, operation) for operation in operations.values()),
        reason=reason,
        stopped=stopped if squeezes else "nobody left who may be squeezed further",
    )
    return replace(_with(situation, done, squeezes, allowed), acts=(*done.acts, act))


def _single_steps(situation: Situation, through: Metric, groups: Iterable[list[Ladder]]) -> list[Squeeze]:
    """Of a metric with steps of its own everybody takes one; through CPU only the lowest group that can."""
    if through.stepped:
        return stepping.single(situation.scene, through, [ladder for group in groups for ladder in group])
    return one_step(next((group for group in groups if group), []))


def in_no_unit(verdict: Verdict, through: Metric, operation: Operation) -> Operation:
    """What a rule's metric cannot count is not expected in it."""
    return operation if verdict.rule.metric == through else replace(operation, expected=None)
