"""
What only shows when all files are seen together: actions that nobody defines, objects that stand twice, waterlines that cannot be meant.

Only `check` asks for this. The agent finds the same things at run time, where they are the errors of single rules.
"""

import difflib
from collections.abc import Iterable, Sequence

from slackwater.api import documents
from slackwater.api.manifests.loading import Item
from slackwater.api.objects import AvoidanceAction, Node, PodQos, Policy, Rule
from slackwater.api.problems import Problem, Severity

LEAST_PER_CORE = 10  # millicores: a waterline on CPU below it is a mistake in the unit
_IN_MILLICORES = frozenset(("cpu_total_usage",))
_IN_PERCENT = frozenset(("cpu_total_utilization", "memory_total_utilization", "ext_cpu_total_distribute"))


def cross_check(items: Sequence[Item], *, whole: bool) -> tuple[Problem, ...]:
    """`whole`: these are all the manifests there are. A part may well name an action that stands elsewhere."""
    nodes = [found for item in items for found in item.objects if isinstance(found, Node)]
    return (*_twice(items), *_undefined_actions(items, whole=whole), *_implausible(items, nodes))


def _twice(items: Sequence[Item]) -> Iterable[Problem]:
    first: dict[tuple[str, str, str], Item] = {}
    for item in items:
        if not item.objects:
            continue
        before = first.setdefault((item.kind, item.namespace or "default", item.name), item)
        if before is not item:
            yield _problem(
                Severity.ERROR,
                item,
                "metadata.name",
                item.name,
                f"a {item.kind} of this name stands in {before.file}:{before.line} too",
                "give it another name, or take one of them out",
            )


def _undefined_actions(items: Sequence[Item], *, whole: bool) -> Iterable[Problem]:
    defined = {found.name for item in items for found in item.objects if isinstance(found, AvoidanceAction)}
    severity = Severity.ERROR if whole or defined else Severity.WARNING
    for item, rule in _rules(items):
        if rule.action not in defined:
            yield _problem(
                severity,
                item,
                f"{rule.field}.actionName",
                rule.action,
                "there is no AvoidanceAction of this name",
                _remedy(rule.action, defined),
            )
    for item in items:
        for found in item.objects:
            for name in sorted((isinstance(found, PodQos) and found.allowed_actions) or ()):
                if defined and name not in defined:
                    yield _problem(
                        Severity.WARNING,
                        item,
                        "spec.allowedActions",
                        name,
                        "there is no AvoidanceAction of this name",
                        _remedy(name, defined),
                    )


def _remedy(name: str, defined: set[str]) -> str:
    near = difflib.get_close_matches(name, defined, 1, 0.6)
    if near:
        return f"did you mean {near[0]}?"
    return "define it, or give the file that does" + (f"; defined are {', '.join(sorted(defined))}" if defined else "")


def _implausible(items: Sequence[Item], nodes: Sequence[Node]) -> Iterable[Problem]:
    for item, rule in _rules(items):
        if rule.value is None:
            continue
        field, value = f"{rule.field}.metricRule.value", f"{rule.value:g}"
        least = LEAST_PER_CORE * _cores(item, nodes)
        if rule.metric in _IN_MILLICORES and rule.value < least:
            yield _problem(
                Severity.WARNING,
                item,
                field,
                value,
                f"is {value} millicores: a node is always above that",
                f"write millicores: six cores are 6000; at least {least:g} here",
            )
        if rule.metric in _IN_PERCENT and rule.value > 100:  # noqa: PLR2004 - percent
            yield _problem(
                Severity.WARNING,
                item,
                field,
                value,
                "is above 100 percent: a node never gets there",
                "write a percentage from 0 to 100",
            )


def _cores(item: Item, nodes: Sequence[Node]) -> float:
    """Of the largest node that the policy is for. Where no node is known there is at least one core."""
    policies = [found for found in item.objects if isinstance(found, Policy)]
    chosen = [
        node.cpu
        for node in nodes
        for policy in policies
        if node.cpu is not None and (policy.selector is None or policy.selector.matches(node.labels))
    ]
    return max(chosen, default=1000) / 1000


def _rules(items: Sequence[Item]) -> Iterable[tuple[Item, Rule]]:
    return [
        (item, rule) for item in items for found in item.objects if isinstance(found, Policy) for rule in found.rules
    ]


def _problem(severity: Severity, item: Item, field: str, value: str, message: str, remedy: str) -> Problem:
    line = item.lines.get(field, item.line)
    return Problem(
        severity=severity,
        file=item.file,
        line=line,
        field=field,
        value=documents.shown(value),
        message=message,
        remedy=remedy,
    )
