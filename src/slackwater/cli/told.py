"""
Decisions as scripts and people are shown them: the JSON document that scripts are written against, and one line each;
and beside them how the node stands.

The document's names are fixed; fields are only ever added. Figures stay in the metric's own unit, a moment is RFC 3339 in UTC, and the sentence is the one that people read.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from slackwater.api.units import Wall
from slackwater.cli.folds import Fold
from slackwater.cli.last_tick import LastTick
from slackwater.decide import sentence, standing_words
from slackwater.decide.plan import Considered, Decision, Operation

MISSED_TICKS = 3


def document(decisions: Iterable[Decision]) -> dict[str, Any]:
    return {"decisions": [_decision(decision) for decision in decisions]}


def line(fold: Fold, *, brief: bool) -> str:
    words = sentence.brief(fold.newest) if brief else sentence.full(fold.newest)
    # At length the sentence itself begins by saying that it is a preview.
    preview = " (preview)" if brief and fold.newest.preview else ""
    return f"{moment(fold.first)} {title(fold, preview)}: {words}"


def title(fold: Fold, mark: str = "") -> str:
    """The figures of a fold are those of its newest."""
    decision = fold.newest
    often = f" x {fold.count}, {_times(fold.first, decision.at)}" if fold.count > 1 else ""
    return f"{decision.action}{mark}{often}"


def _times(first: Wall, last: Wall) -> str:
    """By the clock alone where both are of one day."""
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, last))
    form = "%H:%M:%S" if begin.date() == end.date() else "%Y-%m-%dT%H:%M:%SZ"
    return f"{begin.strftime(form)} - {end.strftime(form)}"


def moment(at: Wall) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def standing(last: LastTick | str | None) -> dict[str, Any]:
    """How it stood at the newest tick; null where that cannot be told, and then why."""
    if last is None or isinstance(last, str):
        return {"standing": None, "standing_unknown": last}
    found = msgspec.to_builtins(last.standing)
    ended = None if last.ended_at is None else moment(last.ended_at)
    said = list(standing_words.lines(last.standing))
    return {"standing": {**found, "at": moment(last.standing.at), "ended_at": ended, "sentences": said}}


def standing_head(last: LastTick, now: Wall) -> str:
    """`now` shows whether an agent is still at work."""
    at = moment(last.standing.at)
    if last.ended_at is not None:
        return f"How it stood at {at}, before the agent ended at {moment(last.ended_at)} and gave everything back"
    ago = now - last.standing.at
    if ago > MISSED_TICKS * last.interval:
        return f"How it stood at {at}, and no tick has come in the {sentence.span(ago)} since (does an agent run?)"
    return f"How it stands, as of {at}"


def standing_lines(last: LastTick | str, now: Wall) -> list[str]:
    if isinstance(last, str):
        return [f"Why cannot be told: {last}."]
    return [f"{standing_head(last, now)}:", *(f"  {line}" for line in standing_words.lines(last.standing))]


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.id,
        "at": moment(decision.at),
        "policy": decision.policy,
        "rule": decision.rule,
        "also": list(decision.also),
        "metric": decision.metric,
        "unit": decision.unit,
        "value": decision.value,
        "waterline": decision.waterline,
        "gap": decision.gap,
        "bad_ticks": decision.bad_ticks,
        "action": str(decision.action),
        "preview": decision.preview,
        "reason": decision.reason,
        "stopped": decision.stopped,
        "sentence": sentence.full(decision),
        "brief": sentence.brief(decision),
        "candidates": [_candidate(candidate) for candidate in decision.candidates],
        "operations": [_operation(operation) for operation in decision.operations],
        "outcome": {"recovered": decision.outcome.recovered, "after_s": decision.outcome.after_s},
    }


def _candidate(candidate: Considered) -> dict[str, Any]:
    return {"pod": candidate.pod, "taken": candidate.taken, "why": candidate.why}


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "pod": operation.pod,
        "uid": operation.uid,
        "container": operation.container,
        "who": operation.who,
        "knob": operation.knob or None,
        "before": operation.before,
        "after": operation.after,
        "expected": operation.expected,
        "actual": operation.actual,
        "refused": operation.refused,
    }
