"""
Giving back what was taken because of metrics that tell their own steps: one step a tick, bounded by their rooms.

Such a metric bounds only what its own rules took. Its function may say how large a step is and what that takes of the
room; where it has nothing to say a step is as large as any other, so what was taken comes back whatever a package
thinks of it.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from slackwater.api.objects import CpuThrottle, Pod
from slackwater.api.units import Amount, Millicores
from slackwater.claims.base import container_limit
from slackwater.claims.claim import Throttled
from slackwater.decide.room import LEAST_GRANT, UNBOUNDED, base_wait, room_in
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric
from slackwater.metrics.steps import Standing
from slackwater.snapshot import usage

Held = Mapping[tuple[str, str], Throttled]
Rooms = Mapping[str, float | None]


class Returned(Struct, frozen=True):
    """One pod's step of giving back: by how much each container's quota rises, and what that takes of each metric."""

    rises: Mapping[str, Millicores]
    amounts: Mapping[str, Amount] = {}


def speaks(verdict: Verdict) -> bool:
    """Whether a rule bounds what its own metric took: it can count it."""
    metric = verdict.rule.metric
    return metric is not None and metric.stepped and metric.throttle.quantified


def returns(situation: Situation, pods: Iterable[Pod], held: Held) -> dict[str, Returned]:
    """By pod, of those that a metric with steps of its own took from; who was squeezed last comes first."""
    rooms = _rooms(situation)
    given: dict[str, Returned] = {}
    for pod in pods:
        standings = _standings(situation, pod, held)
        metrics = _behind(situation, pod, held)
        if standings and metrics:
            given[pod.uid] = one = _one(situation, pod, standings, metrics, rooms)
            rooms = {name: _less(room, one.amounts.get(name, 0.0)) for name, room in rooms.items()}
    return given


def _less(room: float | None, taken: float) -> float | None:
    return None if room is None else room - taken


def _rooms(situation: Situation) -> Rooms:
    here: dict[str, list[Verdict]] = {}
    for verdict in situation.verdicts:
        if verdict.rule.metric and speaks(verdict) and (verdict.rule.throttles or verdict.rule.evicts):
            here.setdefault(verdict.rule.metric.name, []).append(verdict)
    metrics = situation.catalogue.by_rank(here)
    return {
        metric.name: room_in(situation, metric, here[metric.name], base_wait(situation, here[metric.name]))
        for metric in metrics
    }


def _behind(situation: Situation, pod: Pod, held: Held) -> tuple[Metric, ...]:
    causes = {cause for (uid, _), claim in held.items() if uid == pod.uid for cause in claim.causes}
    metrics = (verdict.rule.metric for verdict in situation.verdicts if verdict.state.id in causes)
    return situation.catalogue.by_rank(metric.name for metric in metrics if metric and metric.stepped)


def _standings(situation: Situation, pod: Pod, held: Held) -> tuple[Standing, ...]:
    groups = {container.name: group for container, group in usage.groups_of(pod)}
    found = []
    for container in pod.containers:
        claim, group = held.get((pod.uid, container.name)), groups.get(container.name)
        if claim is None:
            continue
        reference = container_limit(container) or claim.reference
        used = usage.container_cpu(situation.frames, group) if group else None
        found.append(
            Standing(
                container=container.name,
                usage=used or Millicores(0),
                level=claim.quota,
                floor=claim.floor,
                step=Millicores(max(LEAST_GRANT, reference * _ratio(situation.verdicts, claim) // 100)),
                reference=reference,
            )
        )
    return tuple(found)


def _ratio(verdicts: Sequence[Verdict], claim: Throttled) -> int:
    actions = [verdict.rule.action for verdict in verdicts if verdict.state.id in claim.causes]
    knobs = [(action.cpu_throttle if action else None) or CpuThrottle() for action in actions]
    return max((knob.step_ratio for knob in knobs), default=CpuThrottle().step_ratio)


def _one(
    situation: Situation, pod: Pod, standings: tuple[Standing, ...], metrics: Iterable[Metric], rooms: Rooms
) -> Returned:
    """One step that every metric behind it has room for; nothing rises where one of them has none."""
    rises = {one.container: one.step for one in standings}
    amounts: dict[str, Amount] = {}
    for metric in metrics:
        room = rooms.get(metric.name, UNBOUNDED)
        if room is None or room <= 0:
            return Returned({})
        told = metric.restore_step(situation.scene, pod, standings) if metric.restore_step else None
        if told is None:
            continue
        takes = max(0.0, told.amounts.get(metric.name, 0.0))
        part = min(1.0, room / takes) if takes else 1.0
        for one in standings:
            asked = told.quotas.get(one.container, one.level) - one.level
            # Something always comes back while there is room: who asks for too much must not hold it for ever.
            rises[one.container] = Millicores(min(rises[one.container], max(LEAST_GRANT, int(asked * part))))
        amounts[metric.name] = Amount(takes * part)
    return Returned(rises, amounts)
