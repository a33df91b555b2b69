"""
Decisions as the journal keeps them, made from what the actions did: each with an id of its own and the numbers of the
rule that governed.
"""

from collections.abc import Iterable, Mapping, Sequence

from slackwater.api.objects import Pod
from slackwater.api.units import Instant, Wall
from slackwater.claims.claim import Throttled
from slackwater.decide.act import Act, governed, who
from slackwater.decide.memory import Memory
from slackwater.decide.plan import ActionKind, Decision, Operation, Scheduling
from slackwater.decide.situation import Situation
from slackwater.decide.upkeep import Ended
from slackwater.judge.verdicts import Verdict


class Ids:
    """Ids that grow within a journal: the agent's time in milliseconds, then a count within the tick."""

    def __init__(self, now: Instant, suffix: str = "") -> None:
        self._stem = f"{int(now * 1000):015d}{suffix}"
        self._count = 0

    def next(self) -> str:
        self._count += 1
        return f"{self._stem}-{self._count:03d}"


def decisions_of(situation: Situation, acts: Iterable[Act], ids: Ids) -> tuple[Decision, ...]:
    return tuple(_decision(situation, act, ids) for act in acts)


def _decision(situation: Situation, act: Act, ids: Ids) -> Decision:
    verdict, metric = act.governing, act.metric
    return Decision(
        id=ids.next(),
        at=situation.wall,
        instant=situation.now,
        action=act.action,
        preview=situation.preview,
        policy=verdict.rule.policy,
        rule=verdict.rule.rule.name,
        metric=metric.name if metric else "",
        unit=metric.unit.value if metric else "",
        value=verdict.value,
        waterline=verdict.rule.rule.value,
        gap=act.gap,
        bad_ticks=verdict.state.bad_ticks,
        reason=act.reason or verdict.reason,
        stopped=act.stopped,
        also=tuple(other.rule.title for other in act.also),
        candidates=act.considered,
        operations=act.operations,
    )


def switched(situation: Situation, standing: Scheduling, closing: Sequence[Verdict], ids: Ids) -> tuple[Decision, ...]:
    """One decision when scheduling opens or closes, none while it stays."""
    if standing.disabled == situation.memory.scheduling_disabled:
        return ()
    if standing.disabled:
        first, also = governed(list(closing))
        act = Act(action=ActionKind.DISABLE_SCHEDULING, governing=first, also=also, metric=first.rule.metric)
        return decisions_of(situation, (act,), ids)
    return (_plain(situation, ActionKind.ENABLE_SCHEDULING, "no rule closes the node any more", ids),)


def ended(situation: Situation, claims: Sequence[Ended], ids: Ids) -> tuple[Decision, ...]:
    """One decision per reason for which throttles ended at once."""
    reasons = dict.fromkeys(one.why for one in claims)
    return tuple(
        _plain(situation, ActionKind.RESTORE, why, ids, [one for one in claims if one.why == why]) for why in reasons
    )


def parting(now: Instant, wall: Wall, memory: Memory, pods: Mapping[str, Pod], why: str) -> tuple[Decision, ...]:
    """What an agent that ends (or `release` in its stead) gives back of what its memory holds."""
    ids = Ids(now, "e")
    restored = tuple(_given_back(claim, pods.get(claim.pod)) for claim in memory.throttled)
    told = (
        (ActionKind.RESTORE, restored) if restored else None,
        (ActionKind.ENABLE_SCHEDULING, ()) if memory.scheduling_disabled else None,
    )
    return tuple(
        Decision(
            id=ids.next(),
            at=wall,
            instant=now,
            action=one[0],
            preview=False,
            policy="",
            rule="",
            metric="",
            reason=why,
            operations=one[1],
        )
        for one in told
        if one is not None
    )


def _given_back(claim: Throttled, pod: Pod | None) -> Operation:
    container = next((c for c in pod.containers if c.name == claim.container), None) if pod else None
    return Operation(
        pod=pod.key if pod else claim.pod,
        uid=claim.pod,
        container=claim.container,
        knob="quota",
        before=claim.quota,
        after=container.limits.cpu if container else None,
        who=who(pod) if pod else "",
    )


def _plain(situation: Situation, action: ActionKind, why: str, ids: Ids, claims: Sequence[Ended] = ()) -> Decision:
    policy, rule = _behind(cause for one in claims for cause in one.claim.causes)
    return Decision(
        id=ids.next(),
        at=situation.wall,
        instant=situation.now,
        action=action,
        preview=situation.preview,
        policy=policy,
        rule=rule,
        metric="",
        reason=why,
        operations=tuple(one.operation for one in claims),
    )


def _behind(causes: Iterable[str]) -> tuple[str, str]:
    """Policy and rule of the first cause, from its id: kind/policy/rule."""
    _, policy, rule = next((cause.split("/", 2) for cause in causes if cause.count("/") > 1), ("", "", ""))
    return policy, rule
