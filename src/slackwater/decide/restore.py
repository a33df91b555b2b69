"""
Giving back: how much, and to whom first.

When the wait is over (`decide.waiting`), what the metrics leave free below their waterlines, less a margin, is the
room, and grants stop at the smallest. Who was squeezed last gets first. A container that its quota stops in most
periods will use all it is given, and is counted so; another gets its step for nothing, once a tick.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.objects import CpuThrottle, Pod
from slackwater.api.units import Amount, Millicores, Seconds
from slackwater.claims.base import container_limit
from slackwater.claims.claim import Throttled
from slackwater.decide import order
from slackwater.decide.act import Act, governed, who
from slackwater.decide.memory import Wait
from slackwater.decide.plan import ActionKind, Operation
from slackwater.decide.returning import Returned, returns
from slackwater.decide.room import LEAST_GRANT, UNBOUNDED, base_wait, room_in
from slackwater.decide.situation import Situation
from slackwater.decide.waiting import all_waits, binds, is_over, metrics_of, uncounted, wait_left
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric
from slackwater.snapshot import usage

Held = dict[tuple[str, str], Throttled]


class Room(Struct, frozen=True):
    """
    The CPU that may be given back, and the rules on the metric that leaves so little; infinite: nothing bounds it.
    """

    cpu: float
    rules: list[Verdict]


class Restoring(Struct, frozen=True):
    held: Held
    granted: dict[str, Millicores] = {}  # by pod: what it is expected to use of it
    acts: tuple[Act, ...] = ()
    waits: dict[str, Wait] = {}
    amounts: dict[str, Amount] = {}  # by metric: what those with steps of their own say that it takes


def restore(situation: Situation, held: Held, freed: Mapping[str, Millicores]) -> Restoring:
    """What is left of the throttles after this tick's giving back. `freed` is what others were given in it already."""
    concerned = [verdict for verdict in situation.verdicts if binds(verdict)]
    waits = all_waits(situation, concerned)
    if not held or not situation.sampled or _blocked(concerned):
        return Restoring(held, waits=waits)
    base = base_wait(situation, concerned)
    if any(wait_left(situation, verdict, waits, base) for verdict in concerned):
        return Restoring(held, waits=waits)
    room = room_for(situation, concerned, base, freed)
    if room is None or room.cpu < LEAST_GRANT:
        return Restoring(held, waits=waits)
    return _granted(situation, held, concerned, room, waits)


def _blocked(concerned: Iterable[Verdict]) -> bool:
    return any(v.state.engaged or v.state.bad_now for v in concerned)


def room_for(
    situation: Situation, concerned: Sequence[Verdict], window: Seconds, freed: Mapping[str, Millicores]
) -> Room | None:
    """The least over the metrics; None where something is not known."""
    room = Room(UNBOUNDED, list(concerned) or [v for v in situation.verdicts if v.rule.throttles])
    for metric in situation.catalogue.by_rank(metrics_of(concerned)):
        here = [verdict for verdict in concerned if verdict.rule.metric == metric]
        left = room_in(situation, metric, here, window)
        if left is None:
            return None
        if left == UNBOUNDED:
            continue
        free = Millicores(situation.cpu_for(metric, left) - situation.counted(metric, freed))
        if free < room.cpu:
            room = Room(free, here)
    return room


class _Grant(Struct, frozen=True):
    pod: Pod
    claim: Throttled
    starved: bool
    stepwise: bool  # some rule behind it cannot count what giving back costs: one step a tick
    step: Millicores
    limited: bool  # now: a limit may have come or changed since it was squeezed
    top: Millicores


def _granted(
    situation: Situation, held: Held, concerned: list[Verdict], room: Room, waits: dict[str, Wait]
) -> Restoring:
    left = dict(held)
    by_pod: dict[str, Millicores] = {}
    granted, eased = 0, False  # whether the step of this tick has been taken, of what comes back one step a tick
    free, grouped = _over(situation, held, waits), _grouped(situation, held)
    own = returns(situation, (pod for group in grouped for pod in group), free)
    for pods in grouped:
        group = [grant for pod in pods for grant in _grants(situation, pod, free, concerned, own.get(pod.uid))]
        hungry = group
        if eased:
            hungry = [grant for grant in group if not grant.stepwise]
        while hungry and granted < room.cpu:
            again = []
            for grant in hungry:
                given, after = _give(situation, grant, left, room.cpu - granted, concerned)
                granted += given
                by_pod[grant.pod.uid] = Millicores(by_pod.get(grant.pod.uid, 0) + given)
                if after is not None and given and not grant.stepwise:
                    again.append(grant)
            hungry = again if room.cpu != UNBOUNDED else []
        eased = eased or any(grant.stepwise and left.get(grant.claim.where) != grant.claim for grant in group)
    behind = _behind(situation, held, left)
    if room.cpu == UNBOUNDED:
        room = Room(room.cpu, behind or room.rules)
    operations = _operations(situation, governed(room.rules)[0].rule.metric, held, left)
    if not operations:
        return Restoring(held, waits=waits)
    now = situation.now
    granting = metrics_of([*concerned, *behind])
    fresh = {m: replace(waits.get(m, Wait()), granted_at=now, proven_at=None) for m in granting}
    act = _act(situation, room, operations, over=not left)
    amounts = _taken(own, {operation.uid for operation in operations})
    return Restoring(left, by_pod, (act,), {**waits, **fresh}, amounts)


def _taken(own: Mapping[str, Returned], eased: Collection[str]) -> dict[str, Amount]:
    """What giving back to these pods takes of each metric that says so."""
    total: dict[str, Amount] = {}
    for uid in sorted(own.keys() & set(eased)):
        for metric, amount in own[uid].amounts.items():
            total[metric] = Amount(total.get(metric, 0.0) + amount)
    return total


def _grouped(situation: Situation, held: Held) -> list[list[Pod]]:
    """The pods that something is held back from, who is first in the order last; in groups."""
    ranking = order.by_cpu(lambda pod: situation.cpu_of(pod.uid, ""))
    pods = {situation.pods[uid].uid: situation.pods[uid] for uid, _ in held if uid in situation.pods}
    groups = order.grouped(order.ordered(pods.values(), ranking))
    return [list(reversed(group)) for group in reversed(groups)]


def _over(situation: Situation, held: Held, waits: Mapping[str, Wait]) -> Held:
    """What every rule behind it that cannot count in CPU has let go of."""
    return {
        where: claim
        for where, claim in held.items()
        if all(is_over(situation, verdict, waits) for verdict in uncounted(situation, claim))
    }


def _grants(
    situation: Situation, pod: Pod, free: Held, concerned: Sequence[Verdict], own: Returned | None
) -> Iterable[_Grant]:
    groups = {container.name: group for container, group in usage.groups_of(pod)}
    for container in pod.containers:
        claim = free.get((pod.uid, container.name))
        if claim is None:
            continue
        behind = uncounted(situation, claim)
        # One that does not run just now uses nothing of what it is given; it must not hold its throttle for ever.
        group, limit = groups.get(container.name), container_limit(container)
        starved = group is not None and usage.starved(situation.frames, group)
        ratio = max((_step_ratio(verdict) for verdict in (*concerned, *behind)), default=CpuThrottle().step_ratio)
        step = Millicores(max(LEAST_GRANT, (limit or claim.reference) * ratio // 100))
        if own is not None:
            step = own.rises.get(container.name, Millicores(0))
        if step:
            top = limit or _unlimited_top(situation, pod)
            yield _Grant(pod, claim, starved, bool(behind), step, limit is not None, top)


def _behind(situation: Situation, before: Held, after: Held) -> list[Verdict]:
    """The rules for which was taken what is given back now."""
    causes = {cause for where, claim in before.items() if after.get(where) != claim for cause in claim.causes}
    return [verdict for verdict in situation.verdicts if verdict.state.id in causes]


def _step_ratio(verdict: Verdict) -> int:
    throttle = verdict.rule.action.cpu_throttle if verdict.rule.action else None
    return (throttle or CpuThrottle()).step_ratio


def _unlimited_top(situation: Situation, pod: Pod) -> Millicores:
    whole = pod.limits.cpu
    return min(whole, situation.capacity.cpu) if whole else situation.capacity.cpu


def _give(
    situation: Situation, grant: _Grant, left: Held, room: float, concerned: Sequence[Verdict]
) -> tuple[Millicores, Throttled | None]:
    """One step to one container: what it is expected to use of it, and its throttle afterwards (None: over)."""
    key = grant.claim.where
    claim = left[key]
    step = grant.step
    if grant.starved:
        step = Millicores(int(min(step, room)))
        if step < LEAST_GRANT:
            return Millicores(0), claim
    calm = situation.now - claim.starved_at >= base_wait(situation, concerned or uncounted(situation, claim))
    if claim.quota + step >= grant.top or (not grant.limited and not grant.starved and calm):
        del left[key]
        return Millicores(max(0, grant.top - claim.quota) if grant.starved else 0), None
    left[key] = replace(claim, quota=Millicores(claim.quota + step))
    return step if grant.starved else Millicores(0), left[key]


def _operations(situation: Situation, metric: Metric | None, before: Held, after: Held) -> tuple[Operation, ...]:
    changed = [claim for key, claim in before.items() if after.get(key) != claim]
    return tuple(operation(situation, metric, claim, after.get(claim.where)) for claim in changed)


def operation(situation: Situation, metric: Metric | None, claim: Throttled, after: Throttled | None) -> Operation:
    """A throttle that is eased, or ends; expected is what the container will use of it."""
    pod = situation.pods.get(claim.pod)
    container = next((c for c in pod.containers if c.name == claim.container), None) if pod else None
    group = next((g for c, g in usage.groups_of(pod) if c is container), None) if pod else None
    starved = group is not None and usage.starved(situation.frames, group)
    to = after.quota if after else claim.reference
    base = container.limits.cpu if container and situation.settings.kubelet.cfs_quota else None
    grant = Millicores(max(0, to - claim.quota) if starved else 0)
    return Operation(
        pod=pod.key if pod else claim.pod,
        uid=claim.pod,
        container=claim.container,
        knob="quota",
        before=claim.quota,
        after=after.quota if after else base,
        expected=metric.from_cpu(grant, situation.capacity) if metric and metric.from_cpu else None,
        who=who(pod) if pod else "",
    )


def _act(situation: Situation, room: Room, operations: tuple[Operation, ...], *, over: bool) -> Act:
    governing, also = governed(room.rules)
    metric = governing.rule.metric
    bounded = room.cpu != UNBOUNDED
    free = Millicores(int(room.cpu)) if bounded else None
    return Act(
        action=ActionKind.RESTORE,
        governing=governing,
        also=also,
        metric=metric,
        gap=metric.from_cpu(free, situation.capacity) if free is not None and metric and metric.from_cpu else None,
        operations=operations,
        reason=_reason(room.rules, bounded=bounded),
        stopped="all is given back" if over else "no more room, or one step a tick",
    )


def _reason(concerned: Iterable[Verdict], *, bounded: bool) -> str:
    if not bounded and any(verdict.state.released_blind for verdict in concerned):
        return "nothing has been known of its metric for too long"
    return "harmless for long enough"
