"""
What only shows when all files are seen together: actions that nobody defines, objects that stand twice, and waterlines
that nothing ever reaches.

Only `check` asks for this. The agent finds the same things at run time, where they are the errors of single rules. What
it refuses for the size of the node is not known here: `cli.refused` asks the agent's own test.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from slackwater.api import documents
from slackwater.api.manifests.loading import Item
from slackwater.api.objects import AvoidanceAction, PodQos, Policy, Rule
from slackwater.api.problems import Problem, Severity

_IN_PERCENT = frozenset(("cpu_total_utilization", "memory_total_utilization", "ext_cpu_total_distribute"))
_ALL = 100
_UNDEFINED = "there is no AvoidanceAction of this name"


class Spot(Struct, frozen=True):
    """A field of a document that has been read."""

    item: Item
    field: str
    value: str

    def error(self, message: str, remedy: str) -> Problem:
        return self._problem(Severity.ERROR, message, remedy)

    def warning(self, message: str, remedy: str) -> Problem:
        return self._problem(Severity.WARNING, message, remedy)

    def _problem(self, severity: Severity, message: str, remedy: str) -> Problem:
        return Problem(
            severity=severity,
            file=self.item.file,
            line=self.item.lines.get(self.field, self.item.line),
            field=self.field,
            value=documents.shown(self.value),
            message=message,
            remedy=remedy,
        )


def cross_check(items: Sequence[Item], *, whole: bool, metrics: Collection[str]) -> tuple[Problem, ...]:
    """
    `whole`: these are all the manifests there are. A part may well name an action that stands elsewhere. `metrics` are
    the names that a rule may have.
    """
    return (
        *_twice(items),
        *_undefined_actions(items, whole=whole),
        *_unknown_metrics(items, metrics),
        *_above_all(items),
    )


def _unknown_metrics(items: Sequence[Item], metrics: Collection[str]) -> Iterator[Problem]:
    for item, rule in rules(items):
        if rule.metric is not None and rule.metric not in metrics:
            near = difflib.get_close_matches(rule.metric, metrics, 1, 0.6)
            meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(metrics))}"
            spot = Spot(item, f"{rule.field}.metricRule.name", rule.metric)
            yield spot.error("there is no metric of this name", meant)


def _twice(items: Sequence[Item]) -> Iterator[Problem]:
    first: dict[tuple[str, str, str], Item] = {}
    for item in (item for item in items if item.objects):
        before = first.setdefault((item.kind, item.namespace or "default", item.name), item)
        if before is not item:
            message = f"a {item.kind} of this name stands in {before.file}:{before.line} too"
            yield Spot(item, "metadata.name", item.name).error(message, "give it another name, or take one of them out")


def _undefined_actions(items: Sequence[Item], *, whole: bool) -> Iterator[Problem]:
    # One that is wrong has been reported for what it is; it is not missing as well.
    defined = {item.name for item in items if item.kind == AvoidanceAction.__name__}
    for spot in _actions_of_rules(items):
        if spot.value not in defined:
            tell = spot.error if whole or defined else spot.warning
            yield tell(_UNDEFINED, _remedy(spot.value, defined))
    for spot in _allowed_actions(items):
        if defined and spot.value not in defined:
            yield spot.warning(_UNDEFINED, _remedy(spot.value, defined))


def _actions_of_rules(items: Sequence[Item]) -> Iterator["Spot"]:
    return (Spot(item, f"{rule.field}.actionName", rule.action) for item, rule in rules(items))


def _allowed_actions(items: Sequence[Item]) -> Iterator["Spot"]:
    owners = ((item, found) for item in items for found in item.objects if isinstance(found, PodQos))
    return (
        Spot(item, "spec.allowedActions", name)
        for item, found in owners
        for name in sorted(found.allowed_actions or ())
    )


def _remedy(name: str, defined: set[str]) -> str:
    near = difflib.get_close_matches(name, defined, 1, 0.6)
    if near:
        return f"did you mean {near[0]}?"
    return "define it, or give the file that does" + (f"; defined are {', '.join(sorted(defined))}" if defined else "")


def _above_all(items: Sequence[Item]) -> Iterator[Problem]:
    for item, rule in rules(items):
        if rule.metric in _IN_PERCENT and rule.value is not None and rule.value > _ALL:
            spot = Spot(item, f"{rule.field}.metricRule.value", f"{rule.value:.15g}")
            yield spot.warning("a node never gets above 100 percent", "write a percentage from 0 to 100")


def rules(items: Sequence[Item]) -> Iterable[tuple[Item, Rule]]:
    return [
        (item, rule) for item in items for found in item.objects if isinstance(found, Policy) for rule in found.rules
    ]
