"""
A decision told as a person would tell it: what the node had, what was wanted, what was taken from whom, who was left
alone, and how it ended.

Pure text from a value: the same decision reads the same in an event, in `explain` and in a replay. There are two
lengths. `full` tells everything in one sentence of clauses, shortening only long lists; `brief` is one line for an
event. Nothing is computed here but the form of numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from msgspec import Struct

from slackwater.decide.plan import ActionKind, Decision, Operation

_PODS_SHOWN = 6
_NAMES_SHOWN = 3
_REASONS_SHOWN = 4
_SMALL = 0.1
_METRICS = {
    "cpu_total_usage": "node CPU",
    "cpu_total_utilization": "node CPU",
    "memory_total_usage": "node memory",
    "memory_total_utilization": "node memory",
}
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_ITS = re.compile(r"\bits\b")
_TO_DO = {
    ActionKind.THROTTLE: "to release",
    ActionKind.RESTORE: "room to give back",
    ActionKind.EVICT: "to release",
}


class Telling(Struct, frozen=True, kw_only=True):
    """The clauses of a decision, for those who lay them out otherwise than in one sentence."""

    head: str  # what the node had, and which rule spoke
    why: tuple[str, ...]  # what the rule said beyond the numbers, and how much was to be done
    deeds: tuple[str, ...]  # one per pod that was touched
    left_alone: tuple[str, ...]  # one per reason
    end: tuple[str, ...]  # why it went no further, and what came of it


def full(decision: Decision) -> str:
    told = telling(decision)
    return "; ".join((told.head, *told.why, *told.deeds, *told.left_alone, *told.end))


def telling(decision: Decision) -> Telling:
    return Telling(
        head=_head(decision),
        why=_said(decision.reason if decision.metric else "", _gap(decision)),
        deeds=_deeds(decision),
        left_alone=_left_alone(decision),
        end=_end(decision),
    )


def brief(decision: Decision) -> str:
    done = [_brief_deed(decision, pod, operations) for pod, operations in _by_pod(decision)]
    what = _shortened(done, 1) if done else _scheduling(decision) or "nothing taken"
    because = (
        f"{_situation(decision)} ({decision.policy}/{decision.rule})"
        if decision.metric
        else decision.reason + _behind(decision)
    )
    return f"{what}: {because}"


def amount(value: float, unit: str) -> str:
    """With its unit, as people say it: millicores as cores, bytes as GiB."""
    return " ".join(filter(None, (figure(value, unit), _unit(unit))))


def figure(value: float, unit: str) -> str:
    if unit == "millicores":
        return _number(value / 1000)
    if unit == "bytes":
        return _number(value / (1 << 30))
    return _number(value)


def subject(metric: str) -> str:
    """A metric by the name that people have for it."""
    return _METRICS.get(metric, metric)


def span(seconds: float) -> str:
    """A time as people say it: in its two largest units."""
    if seconds < 1:
        return f"{_number(seconds)} s"
    counts, left = [], round(seconds)
    for length, unit in _SPANS:
        count, left = divmod(left, length)
        counts.append((count, unit))
    largest = next(place for place, (count, _) in enumerate(counts) if count)
    return " ".join(f"{count} {unit}" for count, unit in counts[largest : largest + 2] if count)


def _unit(unit: str) -> str:
    return {"millicores": "cores", "bytes": "GiB", "percent": "%"}.get(unit, unit)


def _number(value: float) -> str:
    """Two decimals, three where two would show next to nothing; no zeros that say nothing."""
    text = f"{value:.{3 if abs(value) < _SMALL else 2}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _situation(decision: Decision) -> str:
    value = "not measured" if decision.value is None else amount(decision.value, decision.unit)
    limit = "" if decision.waterline is None else f", waterline {figure(decision.waterline, decision.unit)}"
    return f"{subject(decision.metric)} {value}{limit}"


def _head(decision: Decision) -> str:
    ticks = decision.bad_ticks
    since = f", bad for {ticks} {'tick' if ticks == 1 else 'ticks'}" if ticks else ""
    also = f"; also {_shortened(decision.also, _NAMES_SHOWN)}" if decision.also else ""
    preview = "preview, nothing is changed: " if decision.preview else ""
    if not decision.metric:
        return f"{preview}{decision.reason}{_behind(decision)}"
    return f"{preview}{_situation(decision)} (policy {decision.policy}, rule {decision.rule}{since}{also})"


def _behind(decision: Decision) -> str:
    return f" (policy {decision.policy}, rule {decision.rule})" if decision.rule else ""


def _gap(decision: Decision) -> str:
    words = _TO_DO.get(decision.action)
    return "" if words is None or decision.gap is None else f"{words} {figure(decision.gap, decision.unit)}"


def _deeds(decision: Decision) -> tuple[str, ...]:
    deeds = [_deed(decision, pod, operations) for pod, operations in _by_pod(decision)]
    more = len(deeds) - _PODS_SHOWN
    rest = "" if more <= 0 else f"and {more} more {'pod' if more == 1 else 'pods'}"
    return _said(_scheduling(decision), *deeds[:_PODS_SHOWN], rest)


def _deed(decision: Decision, pod: str, operations: list[Operation]) -> str:
    who = next((f" ({operation.who})" for operation in operations if operation.who), "")
    several = sum(operation.knob == "quota" for operation in operations) > 1
    told = ", ".join(_operation(decision, operation, named=several) for operation in operations)
    return f"{'would: ' if decision.preview else ''}{pod}{who} {told}"


def _operation(decision: Decision, operation: Operation, *, named: bool) -> str:
    container = f"{operation.container} " if named and operation.container else ""
    return f"{container}{_change(decision, operation)}{_release(decision, operation)}"


def _change(decision: Decision, operation: Operation) -> str:
    if not operation.knob:
        done = "not evicted" if operation.refused else "evicted"
        return "evict" if decision.preview else done
    if operation.knob == "quota":
        return f"{_cores(operation.before)} -> {_cores(operation.after)}"
    return f"{_weight_words(decision, operation)}: weight {_plain(operation.before)} -> {_plain(operation.after)}"


def _weight_words(decision: Decision, operation: Operation) -> str:
    if decision.action is ActionKind.RESTORE:
        return "weighs as before"
    raised = operation.before is not None and operation.after is not None and operation.after > operation.before
    return "is lifted" if raised else "yields"


def _release(decision: Decision, operation: Operation) -> str:
    """What was expected and what came of it, only where either is known."""
    stayed = bool(operation.refused) and not operation.knob
    expected = (
        ""
        if operation.expected is None or stayed
        else f" {_expects(decision)} {figure(operation.expected, decision.unit)}"
    )
    actual = "" if operation.actual is None else f", was {figure(operation.actual, decision.unit)}"
    refused = f", refused: {operation.refused}" if operation.refused else ""
    return f"{expected}{actual}{refused}"


def _expects(decision: Decision) -> str:
    return "grants" if decision.action is ActionKind.RESTORE else "expected"


def _scheduling(decision: Decision) -> str:
    if decision.action is ActionKind.DISABLE_SCHEDULING:
        return "would disable scheduling" if decision.preview else "scheduling disabled"
    if decision.action is ActionKind.ENABLE_SCHEDULING:
        return "would enable scheduling again" if decision.preview else "scheduling enabled again"
    return ""


def _left_alone(decision: Decision) -> tuple[str, ...]:
    """Those who were looked at and not taken, together by reason, in the order in which they were looked at."""
    names = _names(decision)
    by_reason: dict[str, list[str]] = {}
    for considered in decision.candidates:
        if not considered.taken:
            by_reason.setdefault(considered.why, []).append(names[considered.pod])
    told = [f"{_shortened(pods, _NAMES_SHOWN)} {_of(len(pods), why)}" for why, pods in by_reason.items()]
    rest = sum(len(pods) for pods in list(by_reason.values())[_REASONS_SHOWN:])
    return _said(*told[:_REASONS_SHOWN], f"{rest} more not taken" if rest else "")


def _of(pods: int, why: str) -> str:
    """Reasons are put for one pod; of several they are told in the plural."""
    return why if pods == 1 else _ITS.sub("their", why.replace("uses ", "use ", 1) if why.startswith("uses ") else why)


def _end(decision: Decision) -> tuple[str, ...]:
    outcome = decision.outcome
    after = "" if outcome.after_s is None else f" after {_number(outcome.after_s)} s"
    words = {None: "", True: f"back under the waterline{after}", False: f"not back under the waterline{after}"}
    return _said(f"stopped: {decision.stopped}" if decision.stopped else "", words[outcome.recovered])


def _brief_deed(decision: Decision, pod: str, operations: list[Operation]) -> str:
    would = "would: " if decision.preview else ""
    first = next((operation for operation in operations if operation.knob != "weight"), operations[0])
    if first.knob == "quota" and first.after is None:
        return f"{would}{pod} {_cores(first.before)} cores -> unlimited"
    cores = " cores" if first.knob == "quota" else ""
    return f"{would}{pod} {_change(decision, first)}{cores}"


def _by_pod(decision: Decision) -> list[tuple[str, list[Operation]]]:
    """Operations together by pod, in the order in which the pods were first touched."""
    names = _names(decision)
    order = {operation.pod: place for place, operation in reversed(list(enumerate(decision.operations)))}
    ordered = sorted(decision.operations, key=lambda operation: order[operation.pod])
    return [(names[pod], list(operations)) for pod, operations in groupby(ordered, key=lambda operation: operation.pod)]


def _names(decision: Decision) -> dict[str, str]:
    """A pod by its bare name, where no other in this decision has it too."""
    looked_at, touched = [one.pod for one in decision.candidates], [one.pod for one in decision.operations]
    keys = dict.fromkeys(looked_at + touched)
    times = Counter(map(_bare, keys))
    return {key: key if times[_bare(key)] > 1 else _bare(key) for key in keys}


def _bare(key: str) -> str:
    return key.rpartition("/")[2]


def _said(*clauses: str) -> tuple[str, ...]:
    return tuple(filter(None, clauses))


def _shortened(names: Iterable[str], at_most: int) -> str:
    shown = list(names)
    more = len(shown) - at_most
    return ", ".join(shown) if more <= 0 else f"{', '.join(shown[:at_most])} and {more} more"


def _cores(millicores: int | None) -> str:
    return "unlimited" if millicores is None else figure(millicores, "millicores")


def _plain(value: int | None) -> str:
    return "unset" if value is None else str(value)
