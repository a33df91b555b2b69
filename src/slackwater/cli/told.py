"""
Decisions as scripts and people are shown them: the JSON document that scripts are written against, and one line each.

The document's names are fixed; fields are only ever added. Figures stay in the metric's own unit, a moment is RFC 3339 in UTC, and the sentence is the one that people read.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from slackwater.api.units import Wall
from slackwater.decide import sentence
from slackwater.decide.plan import Considered, Decision, Operation


def document(decisions: Iterable[Decision]) -> dict[str, Any]:
    return {"decisions": [_decision(decision) for decision in decisions]}


def line(decision: Decision, *, brief: bool) -> str:
    words = sentence.brief(decision) if brief else sentence.full(decision)
    return f"{moment(decision.at)} {title(decision)}: {words}"


def title(decision: Decision) -> str:
    return f"{decision.action} (preview)" if decision.preview else str(decision.action)


def moment(at: Wall) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
