"""
The result for programs: what `slackwater demo -o json` prints.

The names in here are promised to scripts; more may come, none goes. A phase's figures are medians over its rounds, and the ranges stand beside them under `range`.
"""

from datetime import UTC, datetime
from typing import Any

from slackwater.decide import sentence
from slackwater.decide.plan import Decision
from slackwater.demo import doubts, wording
from slackwater.demo.figures import PhaseFigures, Spread
from slackwater.demo.performance import Performance


def outcome(performance: Performance) -> dict[str, Any]:
    squeeze = performance.squeeze
    return {
        "backend": performance.facts.backend,
        "phases": [_phase(phase) for phase in performance.phases],
        "rounds": performance.options.rounds,
        "actions": [_action(decision) for decision in performance.actions],
        "gap_millicores": squeeze and squeeze.gap,
        "released_millicores": squeeze and squeeze.released,
        "actual_millicores": squeeze and squeeze.actual,
        "restored": performance.restored,
        "not_restored": list(performance.differences),
        "reaction_s": list(performance.reactions),
        "given_back_after_s": performance.giving_back.after,
        "waterline_millicores": performance.calibration.waterline,
        "service_class": wording.service_class(performance),
        "machine": dict(wording.header(performance)),
        "not_conclusive": doubts.not_conclusive(performance) or None,
        "warnings": list(doubts.warnings(performance)),
    }


def _phase(phase: PhaseFigures) -> dict[str, Any]:
    milliseconds = {
        "wait_ms": phase.wait_ms,
        "p50_ms": phase.p50_ms,
        "p90_ms": phase.p90_ms,
        "p99_ms": phase.p99_ms,
    }
    return {
        "name": phase.name,
        "service": {
            **{name: round(value.median, 4) for name, value in milliseconds.items()},
            "requests": phase.requests,
        },
        "batch": {"work": round(phase.work.median), "unit": "hashes per second"},
        "node": {"cpu_cores": round(phase.cpu_cores.median, 3), "steal_cores": round(phase.steal_cores.median, 3)},
        "range": {
            **{name: _range(value) for name, value in milliseconds.items()},
            "work": _range(phase.work),
            "cpu_cores": _range(phase.cpu_cores),
            "steal_cores": _range(phase.steal_cores),
        },
    }


def _action(decision: Decision) -> dict[str, Any]:
    return {
        "at": datetime.fromtimestamp(decision.at, UTC).isoformat().replace("+00:00", "Z"),
        "action": decision.action.value,
        "policy": decision.policy,
        "rule": decision.rule,
        "metric": decision.metric,
        "value": decision.value,
        "waterline": decision.waterline,
        "gap": decision.gap,
        "sentence": sentence.full(decision),
        "operations": [
            {
                "pod": one.pod,
                "container": one.container,
                "knob": one.knob,
                "before": one.before,
                "after": one.after,
                "expected": one.expected,
                "actual": one.actual,
            }
            for one in decision.operations
        ],
    }


def _range(spread: Spread) -> list[float]:
    return [round(spread.low, 4), round(spread.high, 4)]
