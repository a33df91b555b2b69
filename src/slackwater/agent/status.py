"""
The node's own status: mode, what works here, every rule and how far it is from acting, what is claimed now, and the
last thing that was done.

In a folder cluster it lies in DIR/.slackwater/nodeslack.json; `slackwater status` shows it. It is what a person looks
at when nothing seems to happen.
"""

from typing import Any

import msgspec

from slackwater.agent.carried import Carried
from slackwater.agent.edges import Package
from slackwater.agent.observing import Seen
from slackwater.claims.claim import Claim
from slackwater.decide import sentence
from slackwater.decide.engine import Plan
from slackwater.judge.rules import RuleInForce
from slackwater.judge.verdicts import Verdict
from slackwater.snapshot.knobs import Knob


def encoded(seen: Seen, held: Carried, plan: Plan) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "slackwater.dev/v1alpha1",
            "kind": "NodeSlack",
            "metadata": {"name": seen.view.node.name},
            "status": _status(seen, held, plan),
        }
    )


def overview(held: Carried) -> str:
    """What an agent that has just begun finds, in one line: most often the answer to why nothing happens."""
    running = len(held.following)
    newest = held.frames.newest
    here = len({group.pod for group in newest.groups}) if newest else 0
    missing = "" if here >= running else f", {running - here} of them without a cgroup here (is the lab up?)"
    policies = len(held.view.policies) if held.view else 0
    rules = len(held.rules)
    return f"{running} pods run{missing}; {policies} policies, {rules} rules apply to this node"


def ended(last: bytes) -> bytes:
    """The last status, as it is once everything is given back and the agent is gone. Empty where there was none."""
    try:
        document = msgspec.json.decode(last) if last else None
    except msgspec.MsgspecError:
        document = None
    if not isinstance(document, dict) or "status" not in document:
        return b""
    gone = {"mode": "off", "modeWhy": "the agent has ended", "claims": [], "schedulingDisabled": False}
    return msgspec.json.encode({**document, "status": {**document["status"], **gone}})


def _status(seen: Seen, held: Carried, plan: Plan) -> dict[str, Any]:
    pods = {pod.uid: pod.key for pod in seen.view.pods}
    return {
        "mode": seen.mode.value,
        "modeWhy": seen.mode_why,
        "backend": seen.survey.backend,
        "knobs": [{"name": knob.name, "works": knob.works, "why": knob.why} for knob in seen.survey.knobs],
        "policies": _policies(seen, held),
        "rules": _rules(held),
        "claims": [_claim(claim, pods) for claim in plan.claims],
        "schedulingDisabled": plan.scheduling.disabled,
        "lastAction": _last(held),
        "packages": [_package(package) for package in held.packages],
        "problems": [str(problem) for problem in seen.view.problems],
    }


def _policies(seen: Seen, held: Carried) -> list[dict[str, Any]]:
    errors: dict[tuple[str, str], list[str]] = {}
    for rule in held.rules:
        if rule.error:
            errors.setdefault((rule.policy_kind, rule.policy), []).append(f"{rule.rule.name}: {rule.error}")
    return [
        {"kind": one.kind, "name": one.name, "error": "; ".join(errors.get((one.kind, one.name), []))}
        for one in seen.view.policies
    ]


def _rules(held: Carried) -> list[dict[str, Any]]:
    judged = {id(verdict.rule): verdict for verdict in held.verdicts}
    return [_rule(rule, judged.get(id(rule)), held.faults.get(rule.rule.metric or "", "")) for rule in held.rules]


def _package(package: Package) -> dict[str, Any]:
    return {
        "name": package.name,
        "version": package.version,
        "metrics": list(package.metrics),
        "refused": list(package.refused),
        "error": package.error,
    }


def _rule(rule: RuleInForce, verdict: Verdict | None, fault: str) -> dict[str, Any]:
    value = verdict.value if verdict else None
    state = verdict.state if verdict else None
    return {
        "policy": rule.policy,
        "rule": rule.rule.name,
        "action": rule.rule.action,
        "metric": rule.rule.metric,
        "unit": rule.metric.unit.value if rule.metric else "",
        "preview": rule.preview,
        "state": state.phase.value if state else ("error" if rule.error else "off"),
        "value": value,
        "waterline": rule.rule.value,
        "distance": None if value is None or rule.rule.value is None else rule.rule.value - value,
        "badTicks": state.bad_ticks if state else 0,
        "needed": rule.rule.avoidance_threshold,
        "missing": bool(verdict and verdict.missing),
        "error": rule.error or fault,
    }


def _claim(claim: Claim, pods: dict[str, str]) -> dict[str, Any]:
    return {
        "pod": pods.get(claim.pod, claim.pod),
        "container": claim.container,
        "knob": claim.knob.value,
        "value": claim.quota if claim.knob is Knob.QUOTA else claim.shares,
        "source": claim.source.value,
        "cause": claim.cause,
    }


def _last(held: Carried) -> dict[str, Any] | None:
    last = held.last_action
    if last is None:
        return None
    return {
        "at": last.at,
        "kind": last.action.value,
        "policy": last.policy,
        "rule": last.rule,
        "sentence": sentence.brief(last),
    }
