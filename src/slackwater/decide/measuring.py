"""
What came of it: the actual release of each operation at the next fresh sample, and whether the metric came back under
its waterline, and after how long.

A decision waits here until both are known. What cannot be measured (the container is gone, the reading did not come) is
said to be unmeasured, never zero.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Amount, Millicores, Seconds
from slackwater.decide.memory import Awaiting, Subject
from slackwater.decide.plan import ActionKind, Decision, Measurement, Operation, Outcome
from slackwater.decide.situation import Situation
from slackwater.metrics.metric import Metric

OVER = frozenset({"Succeeded", "Failed"})
LONGEST_WAIT = Seconds(600)
AWAITED = frozenset({ActionKind.THROTTLE, ActionKind.RESTORE, ActionKind.EVICT, ActionKind.DISABLE_SCHEDULING})


class Measured(Struct, frozen=True):
    measurements: tuple[Measurement, ...]
    awaiting: tuple[Awaiting, ...]


def awaited(situation: Situation, decisions: Iterable[Decision]) -> tuple[Awaiting, ...]:
    """What later samples are to tell of these decisions."""
    return tuple(
        Awaiting(
            decision=decision.id,
            action=decision.action,
            metric=decision.metric,
            waterline=decision.waterline,
            at=decision.instant,
            subjects=_subjects(situation, situation.catalogue.get(decision.metric), decision.operations),
        )
        for decision in decisions
        if decision.action in AWAITED and not decision.preview and _has_effect(decision)
    )


def _has_effect(decision: Decision) -> bool:
    """An act that took nothing brings nothing about."""
    return bool(decision.operations) or decision.action is ActionKind.DISABLE_SCHEDULING


def unmeasured(awaiting: Iterable[Awaiting], refusals: Iterable[Measurement]) -> tuple[Awaiting, ...]:
    """What was refused did nothing: whatever its pod does meanwhile is no effect of it."""
    refused = {one.decision: one.refused for one in refusals}
    return tuple(
        replace(one, subjects=_without(one.subjects, refused[one.decision])) if one.decision in refused else one
        for one in awaiting
    )


def _without(subjects: tuple[Subject, ...], refused: tuple[str, ...]) -> tuple[Subject, ...]:
    return tuple(
        Subject(one.pod, one.container, None) if no else one for one, no in zip(subjects, refused, strict=True)
    )


def measure(situation: Situation) -> Measured:
    if not situation.sampled:
        return Measured((), situation.memory.awaiting)
    measurements, still = [], []
    for waiting in situation.memory.awaiting:
        measurement, left = _measure(situation, waiting)
        measurements += [measurement] if measurement else []
        still += [left] if left else []
    return Measured(tuple(measurements), tuple(still))


def _measure(situation: Situation, waiting: Awaiting) -> tuple[Measurement | None, Awaiting | None]:
    actual = () if waiting.measured else _actual(situation, waiting)
    outcome = None if waiting.told else _outcome(situation, waiting)
    left = replace(waiting, measured=waiting.measured or bool(actual), told=waiting.told or outcome is not None)
    over = left.told and (left.measured or not waiting.subjects)
    if not actual and outcome is None:
        return None, left
    return Measurement(decision=waiting.decision, actual=actual, outcome=outcome), None if over else left


def _outcome(situation: Situation, waiting: Awaiting) -> Outcome | None:
    """None: too early to say."""
    after = situation.now - waiting.at
    value = next((v.value for v in situation.verdicts if v.rule.metric and v.rule.metric.name == waiting.metric), None)
    if waiting.action is ActionKind.RESTORE:
        return Outcome()
    if value is not None and waiting.waterline is not None and value <= waiting.waterline:
        return Outcome(recovered=True, after_s=round(after, 1))
    return Outcome(recovered=None if value is None else False) if after > LONGEST_WAIT else None


def _actual(situation: Situation, waiting: Awaiting) -> tuple[float | None, ...]:
    """One per operation. An eviction is measured when the pod is gone, or its time is over."""
    metric = situation.catalogue.get(waiting.metric)
    if waiting.action is ActionKind.EVICT and any(one.pod in situation.leaving for one in waiting.subjects):
        return ()
    sign = -1 if waiting.action is ActionKind.RESTORE else 1
    return tuple(_released(situation, metric, one, sign) for one in waiting.subjects)


def _released(situation: Situation, metric: Metric | None, subject: Subject, sign: int) -> float | None:
    if metric is None or subject.before is None:
        return None
    now = _use(situation, metric, subject.pod, subject.container)
    if now is None:
        return None
    if not subject.container:
        return sign * (subject.before - now)
    if metric.from_cpu is None:
        return None
    return sign * metric.from_cpu(Millicores(round(subject.before - now)), situation.capacity)


def _use(situation: Situation, metric: Metric, uid: str, container: str) -> Amount | None:
    """A container's CPU, or what a whole pod uses of the metric; nothing once it is gone."""
    pod = situation.pods.get(uid)
    if pod is None or pod.phase in OVER:
        return Amount(0.0)
    if not container:
        return situation.usage_of(pod, metric)
    cpu = situation.cpu_of(uid, container)
    return None if cpu is None else Amount(cpu)


def _subjects(situation: Situation, metric: Metric | None, operations: Sequence[Operation]) -> tuple[Subject, ...]:
    """In a metric that tells its own steps only whole pods can be measured: with the first of a pod's operations."""
    if metric is None or not metric.stepped:
        return tuple(_subject(situation, metric, operation) for operation in operations)
    quotas = [operation if operation.knob == "quota" else None for operation in operations]
    first = {operation.uid: place for place, operation in reversed(list(enumerate(quotas))) if operation}
    return tuple(
        Subject(
            one.uid, "", _use(situation, metric, one.uid, "") if first.get(one.uid) == place or not one.knob else None
        )
        for place, one in enumerate(operations)
    )


def _subject(situation: Situation, metric: Metric | None, operation: Operation) -> Subject:
    measurable = metric is not None and operation.knob != "weight"
    before = _use(situation, metric, operation.uid, operation.container) if metric and measurable else None
    return Subject(operation.uid, operation.container, before)
