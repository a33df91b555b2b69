"""
Why nothing is done: each rule in force and how far it is from acting, what stands in the way of giving back, which
brakes hold, and who could be touched at all.

It is computed from what a tick left in the journal and from nothing else, so it can be asked of a copied file, long
after, and of any tick that is replayed. It judges nothing anew and decides nothing: rules are joined as the agent joins
them, their states are those that were carried on, and the questions are the engine's own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.objects import Pod
from slackwater.api.problems import Severity
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.api.units import Instant, Seconds, Wall
from slackwater.decide.act import who
from slackwater.decide.memory import Memory
from slackwater.decide.obstacles import obstacles
from slackwater.decide.plan import ActionKind, Decision
from slackwater.decide.reach import Reach, reaches, refusal_of
from slackwater.decide.scheduling import scheduling
from slackwater.decide.settings import Settings
from slackwater.decide.situation import Situation
from slackwater.decide.standing import (
    Brakes,
    Closed,
    Elsewhere,
    GivingBack,
    HeldBack,
    LastAct,
    PassedOver,
    PodReach,
    PodStanding,
    RuleStanding,
    Standstill,
)
from slackwater.judge.rules import RuleInForce, rules_in_force
from slackwater.judge.states import Phase, adopt
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Catalogue
from slackwater.snapshot.usage import Capacity, Frames
from slackwater.snapshot.view import View

HOUR = Seconds(3600)
OFF, ACT = "off", "act"


class Left(Struct, frozen=True, kw_only=True):
    """What a tick was given, and what it left behind."""

    now: Instant
    wall: Wall
    mode: str  # act | preview | off
    mode_why: str  # who said so
    settings: Settings
    capacity: Capacity
    view: View
    memory: Memory
    frames: Frames = Frames()
    decisions: tuple[Decision, ...] = ()  # up to then, oldest first; as many as are at hand


def standstill(left: Left, catalogue: Catalogue, pod: str = "") -> Standstill:
    """`pod` is a name or namespace/name."""
    rules = rules_in_force(left.view, catalogue, left.capacity)
    verdicts = _verdicts(rules, left.memory) if left.mode != OFF else ()
    real = tuple(v for v in verdicts if left.mode == ACT and not v.rule.preview)
    situation = _situation(left, catalogue, real)
    reach = tuple(one for verdict in verdicts for one in reaches(situation, verdict))
    standings = _rules(rules, verdicts, left)
    held = tuple(_held(situation))
    asked = [one for one in left.view.pods if pod and pod in (one.key, one.name)]
    return Standstill(
        at=left.wall,
        mode=left.mode,
        mode_why=left.mode_why,
        rules=standings,
        elsewhere=tuple(_elsewhere(left.view)),
        errors=tuple(str(one) for one in left.view.problems if one.severity is Severity.ERROR),
        giving_back=GivingBack(held, obstacles(situation) if held else ()),
        closed=tuple(_closed(situation)),
        brakes=_brakes(situation) if any(rule.evicts for rule in rules) else None,
        reach=reach,
        asked=pod,
        pods=tuple(_pod(situation, one, reach, standings, left) for one in asked),
    )


def _verdicts(rules: Iterable[RuleInForce], memory: Memory) -> tuple[Verdict, ...]:
    """The rules with the states that they were left in; nothing is counted."""
    ready = [rule for rule in rules if not rule.error]
    return tuple(
        Verdict(rule=rule, state=state, value=None if state.unknown_since is not None else state.value)
        for rule, state in zip(ready, adopt(memory.states, ready), strict=True)
    )


def _situation(left: Left, catalogue: Catalogue, verdicts: tuple[Verdict, ...]) -> Situation:
    return Situation(
        now=left.now,
        wall=left.wall,
        view=left.view,
        frames=left.frames,
        capacity=left.capacity,
        catalogue=catalogue,
        settings=left.settings,
        verdicts=verdicts,
        memory=left.memory,
    )


def _rules(rules: Iterable[RuleInForce], verdicts: Iterable[Verdict], left: Left) -> tuple[RuleStanding, ...]:
    judged = {id(verdict.rule): verdict for verdict in verdicts}
    return tuple(_rule(rule, judged.get(id(rule)), left) for rule in rules)


def _rule(rule: RuleInForce, verdict: Verdict | None, left: Left) -> RuleStanding:
    standing = RuleStanding(
        policy=rule.policy,
        rule=rule.rule.name,
        action=rule.rule.action,
        does=_does(rule),
        preview=rule.preview,
        state="error" if rule.error else OFF,
        error=rule.error,
        metric=rule.rule.metric or "",
        unit=rule.metric.unit.value if rule.metric else "",
        waterline=rule.rule.value,
        bad_ticks_needed=rule.rule.avoidance_threshold,
        good_ticks_needed=rule.rule.restore_threshold,
    )
    return standing if verdict is None else _judged(standing, verdict, left)


def _does(rule: RuleInForce) -> tuple[ActionKind, ...]:
    kinds = {
        ActionKind.THROTTLE: rule.throttles,
        ActionKind.EVICT: rule.evicts,
        ActionKind.DISABLE_SCHEDULING: rule.disables_scheduling,
    }
    return tuple(kind for kind, does in kinds.items() if does)


def _judged(standing: RuleStanding, verdict: Verdict, left: Left) -> RuleStanding:
    state, line = verdict.state, verdict.rule.rule.value
    unseen = state.counted_at is None and state.unknown_since is None
    return replace(
        standing,
        state="new" if unseen else state.phase.value,
        value=state.value,
        distance=None if verdict.value is None or line is None else line - verdict.value,
        bad_ticks=state.bad_ticks,
        good_ticks=state.count if state.phase is Phase.RECOVERING else 0,
        missing_s=None if state.unknown_since is None else elapsed(state.unknown_since, left.now),
        cools_s=_cools(verdict, left.now),
        last=tuple(_last(standing, left)),
    )


def elapsed(begin: Instant, end: Instant) -> Seconds:
    """To the millisecond: finer is noise of the clock's arithmetic."""
    return Seconds(round(end - begin, 3))


def _cools(verdict: Verdict, now: Instant) -> Seconds:
    harm = verdict.state.last_harm
    if harm is None or verdict.state.engaged:
        return Seconds(0)
    return Seconds(max(0.0, verdict.rule.cool_down - elapsed(harm, now)))


def _last(standing: RuleStanding, left: Left) -> Iterator[LastAct]:
    """The newest of each kind that this rule governed or took part in."""
    for kind in (ActionKind.THROTTLE, ActionKind.EVICT):
        decision = last_of(standing.title, kind, standing.preview, left.decisions)
        if decision is not None:
            aside = Counter(one.why for one in decision.candidates if not one.taken)
            yield LastAct(
                action=kind,
                ago_s=elapsed(decision.instant, left.now),
                taken=len({operation.pod for operation in decision.operations}),
                stopped=decision.stopped,
                left_alone=dict(aside.most_common()),
            )


def last_of(title: str, kind: ActionKind, preview: bool, decisions: Sequence[Decision]) -> Decision | None:
    mine = (one for one in reversed(decisions) if one.action is kind and one.preview is preview)
    return next((one for one in mine if title in (f"{one.policy}/{one.rule}", *one.also)), None)


def _elsewhere(view: View) -> Iterator[Elsewhere]:
    for policy in view.policies:
        if policy.selector is not None and not policy.selector.matches(view.node.labels):
            yield Elsewhere(policy.name, _unmet(policy.selector, view.node.labels))


def _unmet(selector: LabelSelector, labels: Mapping[str, str]) -> str:
    failing = (one for one in selector.requirements if not one.holds(labels))
    return ", ".join(f"{_wanted(one)} ({_present(one.key, labels)})" for one in failing)


def _wanted(requirement: Requirement) -> str:
    match requirement.operator:
        case Operator.EXISTS:
            return f"it wants a label {requirement.key}"
        case Operator.DOES_NOT_EXIST:
            return f"it wants no label {requirement.key}"
    words = " or ".join(sorted(requirement.values))
    wants = "wants" if requirement.operator is Operator.IN else "does not want"
    return f"it {wants} {requirement.key}={words}"


def _present(key: str, labels: Mapping[str, str]) -> str:
    return f"the node has {key}={labels[key]}" if key in labels else "the node has no such label"


def _held(situation: Situation, pod: str = "") -> Iterator[HeldBack]:
    """Of one pod by its uid, or of all."""
    for claim in situation.memory.throttled:
        if claim.pod in situation.pods and pod in ("", claim.pod):
            yield HeldBack(
                pod=situation.pods[claim.pod].key,
                container=claim.container,
                quota=claim.quota,
                since_s=elapsed(claim.since, situation.now),
            )


def _closed(situation: Situation) -> Iterator[Closed]:
    _, closing = scheduling(situation.verdicts, situation.now)
    for verdict in closing:
        left = None if verdict.state.engaged else _cools(verdict, situation.now)
        yield Closed(rule=verdict.rule.title, left_s=left)


def _brakes(situation: Situation) -> Brakes:
    settings, now = situation.settings, situation.now
    within = sorted(at for at in situation.memory.evicted_at if now - at < HOUR)
    full = bool(settings.evictions_per_hour) and len(within) >= settings.evictions_per_hour
    # One more may go when so many of the hour's have passed out of it that one place is free.
    frees = within[len(within) - settings.evictions_per_hour] if full else None
    refused = (one for one in situation.memory.backoffs if one.until > now and one.pod in situation.pods)
    return Brakes(
        used=len(within),
        per_hour=settings.evictions_per_hour,
        per_tick=settings.evictions_per_tick,
        next_s=None if frees is None else elapsed(now, Instant(frees + HOUR)),
        passed_over=tuple(PassedOver(situation.pods[one.pod].key, elapsed(now, one.until)) for one in refused),
    )


def _pod(
    situation: Situation, pod: Pod, reach: Iterable[Reach], standings: Iterable[RuleStanding], left: Left
) -> PodStanding:
    rules = {standing.title: standing for standing in standings}
    return PodStanding(
        pod=pod.key,
        who=who(pod),
        phase="Terminating" if pod.deleted_at is not None else pod.phase,
        held=tuple(_held(situation, pod.uid)),
        rules=tuple(_pod_reach(situation, pod, one, rules[one.rule], left) for one in reach),
    )


def _pod_reach(situation: Situation, pod: Pod, reach: Reach, rule: RuleStanding, left: Left) -> PodReach:
    decision = last_of(rule.title, reach.does, rule.preview, left.decisions)
    said = next((one.why for one in decision.candidates if one.pod == pod.key), "") if decision else ""
    return PodReach(
        rule=rule.title,
        action=reach.action,
        does=reach.does,
        preview=rule.preview,
        state=rule.state,
        why_not=refusal_of(situation, reach, pod),
        place=reach.may.index(pod.key) + 1 if pod.key in reach.may else None,
        of=len(reach.may),
        last=said,
        last_s=elapsed(decision.instant, left.now) if decision and said else None,
    )
