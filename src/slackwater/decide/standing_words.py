"""
How a node stands when nothing happens, told as a person would: in parts, each with a line that says it and lines below
that say more.

Pure text from a value, as `sentence` is of a decision; nothing is computed here but the form of numbers.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from slackwater.decide.plan import ActionKind
from slackwater.decide.reach import Reach
from slackwater.decide.sentence import amount, figure, span, subject
from slackwater.decide.standing import (
    Brakes,
    Closed,
    HeldBack,
    LastAct,
    PodReach,
    PodStanding,
    RuleStanding,
    Standstill,
)

_VERBS = {
    ActionKind.THROTTLE: "throttle",
    ActionKind.EVICT: "evict",
    ActionKind.DISABLE_SCHEDULING: "disable scheduling",
}
_THIRD = {
    ActionKind.THROTTLE: "throttles",
    ActionKind.EVICT: "evicts",
    ActionKind.DISABLE_SCHEDULING: "disables scheduling",
}
_HELD_SHOWN = 6
_WITHOUT_EFFECT = {"preview": "judged and shown, and nothing is done", "off": "not even judged"}


class Part(Struct, frozen=True):
    head: str
    lines: tuple[str, ...] = ()


def parts(standing: Standstill) -> tuple[Part, ...]:
    """Where a pod is asked for, it comes first, and what concerns others is left out."""
    pods = tuple(_pod(pod) for pod in standing.pods)
    if standing.asked and not pods:
        pods = (Part(f"there is no pod {standing.asked} on this node"),)
    about = (*_mode(standing), *pods, _rules(standing), *_errors(standing))
    if standing.asked:
        return (*about, *_giving_back(standing, only=[one for pod in standing.pods for one in pod.held]))
    return (
        *about,
        *_giving_back(standing, only=standing.giving_back.held),
        *_closed(standing.closed),
        *_brakes(standing.brakes),
        *_reach(standing.reach),
    )


def lines(standing: Standstill) -> Iterator[str]:
    """The same without a layout."""
    for part in parts(standing):
        yield part.head + (":" if part.lines else "")
        yield from (f"  {line}" for line in part.lines)


def _mode(standing: Standstill) -> Iterator[Part]:
    if standing.mode in _WITHOUT_EFFECT:
        yield Part(f"mode is {standing.mode} ({standing.mode_why}): rules are {_WITHOUT_EFFECT[standing.mode]}")


def _errors(standing: Standstill) -> Iterator[Part]:
    if standing.errors:
        yield Part("documents that play no part", standing.errors)


def _rules(standing: Standstill) -> Part:
    told = (
        *(f"{_who(rule)}: {state(rule)}" for rule in standing.rules),
        *(f"policy {one.policy} is not for this node: {one.unmet}" for one in standing.elsewhere),
    )
    if not standing.rules:
        return Part("no rule is in force on this node, so nothing is judged", told)
    return Part("rules", told)


def _who(rule: RuleStanding) -> str:
    if not rule.does:
        return rule.title
    does = " and ".join((_VERBS if rule.preview else _THIRD)[kind] for kind in rule.does)
    return f"{rule.title} ({f'preview: it would {does}' if rule.preview else does})"


def state(rule: RuleStanding) -> str:
    """What a rule waits for."""
    if rule.state == "error":
        return f"plays no part: {rule.error}"
    if rule.state in {"off", "new"}:
        return "is not judged" if rule.state == "off" else "has not been judged yet"
    told = _missing(rule) if rule.missing_s is not None else _counted(rule)
    return "; ".join(
        (told, *(_last(act, preview=rule.preview) for act in rule.last if rule.state in {"active", "recovering"}))
    )


def _counted(rule: RuleStanding) -> str:
    cools = f", cools down for {span(rule.cools_s)} more" if rule.cools_s else ""
    return f"{rule.state}, {_reading(rule)}{_count(rule)}{cools}"


def _reading(rule: RuleStanding) -> str:
    if rule.value is None or rule.waterline is None or rule.distance is None:
        return f"{subject(rule.metric)} not measured"
    line = f"its waterline of {figure(rule.waterline, rule.unit)}"
    where = f"{figure(abs(rule.distance), rule.unit)} {'above' if rule.distance < 0 else 'under'} {line}"
    if not rule.distance:
        where = f"at {line}, and only above it is bad"
    return f"{subject(rule.metric)} {amount(rule.value, rule.unit)}, {where}"


def _count(rule: RuleStanding) -> str:
    if rule.state == "arming":
        return f", bad for {rule.bad_ticks} of {_ticks(rule.bad_ticks_needed)}"
    if rule.state == "recovering":
        return f", good for {rule.good_ticks} of {_ticks(rule.good_ticks_needed)}"
    if rule.state == "active" and rule.bad_ticks:
        return f", bad for {_ticks(rule.bad_ticks)}"
    needed = rule.bad_ticks_needed
    return f" (it acts after {_ticks(needed)} above)" if rule.state == "idle" and needed > 1 else ""


def _ticks(number: int) -> str:
    return f"{number} {'tick' if number == 1 else 'ticks'}"


def _missing(rule: RuleStanding) -> str:
    last = "" if rule.value is None else f" (it was last {amount(rule.value, rule.unit)})"
    meanwhile = {
        "idle": "the rule is idle, and cannot tell good from bad",
        "arming": f"the rule is arming and stays at {rule.bad_ticks} of {_ticks(rule.bad_ticks_needed)}",
        "active": "the rule stays active, and takes no new action",
        "recovering": "the rule stays recovering, and takes no new action",
    }
    since = f"missing for {span(rule.missing_s)}" if rule.missing_s else "missing since this tick"
    return f"{subject(rule.metric)} has been {since}{last}; {meanwhile[rule.state]}"


def _last(act: LastAct, *, preview: bool) -> str:
    when = _when(act.ago_s)
    if act.taken:
        touched = f"{'would have touched' if preview else 'touched'} {_pods(act.taken)}"
        return f"its last {_VERBS[act.action]}, {when}, {touched}{f' ({act.stopped})' if act.stopped else ''}"
    why = _counts(act.left_alone) or act.stopped
    return f"its last {_VERBS[act.action]}, {when}, took nothing: {why}"


def _when(ago: float) -> str:
    return f"{span(ago)} earlier" if ago else "in this tick"


def _counts(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({_pods(number)})" for why, number in reasons.items())


def _pods(number: int) -> str:
    return f"{number} {'pod' if number == 1 else 'pods'}"


def _giving_back(standing: Standstill, only: Iterable[HeldBack]) -> Iterator[Part]:
    held = tuple(only)
    if not held:
        if not standing.asked:
            yield Part("nothing is held back")
        return
    more = len(held) - _HELD_SHOWN
    shown = ", ".join(_held(one) for one in held[:_HELD_SHOWN]) + (f" and {more} more" if more > 0 else "")
    obstacles = standing.giving_back.obstacles
    way = tuple(one.why for one in obstacles) or ("nothing: the next sample gives something back",)
    yield Part(f"held back: {shown}; in the way of giving back", way)


def _held(one: HeldBack) -> str:
    return f"{one.pod}/{one.container} at {amount(one.quota, 'millicores')} for {span(one.since_s)}"


def _closed(closed: Iterable[Closed]) -> Iterator[Part]:
    told = tuple(
        f"{one.rule} is {'active' if one.left_s is None else f'cooling down for {span(one.left_s)} more'}"
        for one in closed
    )
    if told:
        yield Part("scheduling stays disabled", told)


def _brakes(brakes: Brakes | None) -> Iterator[Part]:
    if brakes is None:
        return
    used = f"{brakes.used} in the last hour" + (f", of {brakes.per_hour}" if brakes.per_hour else "")
    told = (
        *(() if brakes.next_s is None else (f"no more may go for {span(brakes.next_s)} (evictionsPerHour)",)),
        *((f"at most {brakes.per_tick} a tick (evictionsPerTick)",) if brakes.per_tick else ()),
        *(f"{one.pod} was refused, and is passed over for {span(one.left_s)} more" for one in brakes.passed_over),
    )
    yield Part(f"evictions: {used}", told)


def _reach(reach: Iterable[Reach]) -> Iterator[Part]:
    """One line for all the rules that may touch the same pods in the same way."""
    told = dict.fromkeys(_reached(one) for one in reach)
    if told:
        yield Part("who may be touched", tuple(told))


def _reached(one: Reach) -> str:
    whole = len(one.may) + len(one.refused)
    if not whole:
        return f"action {one.action} finds no running pod to {_VERBS[one.does]}"
    not_these = f"; {_counts(one.reasons)}" if one.refused else ""
    return f"action {one.action} may {_VERBS[one.does]} {len(one.may)} of {_pods(whole)}{not_these}"


def _pod(pod: PodStanding) -> Part:
    told = tuple(_pod_reach(one) for one in pod.rules)
    phase = "" if pod.phase == "Running" else f", {pod.phase}"
    nobody = ("no rule could touch it: none that is in force throttles or evicts",)
    return Part(f"{pod.pod} ({pod.who}{phase})", told or nobody)


def _pod_reach(one: PodReach) -> str:
    if one.why_not:
        return f"{one.rule} may not {_VERBS[one.does]} it: {one.why_not}"
    last = "" if one.last_s is None else f"; {_when(one.last_s)}: {one.last}"
    preview = ", and only shows it" if one.preview else ""
    return f"{one.rule} may {_VERBS[one.does]} it, as number {one.place} of {one.of}{preview}; the rule is {one.state}{last}"
