"""
The rules in force on this node: policies, actions and metrics joined, each either ready to be judged or with the one
reason why it is not.

This runs when the view changes, not at every tick. An error here is that rule's alone: it is reported and plays no
part, and everything else goes on.
"""

import math
from collections.abc import Iterable, Iterator

from msgspec import Struct

from slackwater.api import quantity
from slackwater.api.objects import AvoidanceAction, CpuThrottle, Policy, Rule, Strategy, Weight
from slackwater.api.units import Seconds
from slackwater.metrics.metric import Catalogue, Metric, OwnUnit, Unit
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

LEAST_PART_OF_CAPACITY = 0.01
WATERLINE = "metricRule.value"

_EXAMPLES: dict[Unit | OwnUnit, str] = {
    Unit.MILLICORES: "six cores are 6000 or 6k",
    Unit.PERCENT: "four fifths are 80",
    Unit.BYTES: "twenty gibibytes are 20Gi",
}
_MAY_BE = "give it an action that can; `slackwater metrics` lists what may be done about each"


class Refused(Struct, frozen=True, kw_only=True):
    """What of a rule cannot be done here, for whoever shows it: the agent at run time, `check` before that."""

    field: str  # of the rule
    found: str  # what stands there
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"waterline {self.found} {self.why}" if self.field == WATERLINE else self.why


class RuleInForce(Struct, frozen=True, kw_only=True):
    """A rule whose policy applies to this node. With an error it is shown, and does nothing."""

    policy_kind: str
    policy: str
    rule: Rule
    cache_ttl: Seconds | None = None
    action: AvoidanceAction | None = None
    metric: Metric | None = None
    error: str = ""

    @property
    def title(self) -> str:
        return f"{self.policy}/{self.rule.name}"

    @property
    def object(self) -> str:
        return f"{self.policy_kind}/{self.policy}"

    @property
    def preview(self) -> bool:
        return self.rule.strategy is Strategy.PREVIEW

    @property
    def throttles(self) -> bool:
        """CPU, that is: what an action says of memory has no part in a quota."""
        return self.action is not None and self.action.throttles_cpu

    @property
    def evicts(self) -> bool:
        return self.action is not None and self.action.eviction is not None

    @property
    def disables_scheduling(self) -> bool:
        """An action with neither does this; an evicting one does it too, or what it evicted comes straight back."""
        if self.action is None:
            return False
        if self.action.eviction is not None:
            return not self.action.eviction.keep_schedulable
        return not self.action.throttles

    @property
    def yields(self) -> bool:
        """Whether what it throttles yields, and services are lifted meanwhile."""
        throttle = self.action.cpu_throttle if self.action else None
        return (throttle or CpuThrottle()).weight is Weight.YIELD

    @property
    def cool_down(self) -> Seconds:
        return self.action.cool_down if self.action else Seconds(0)


def rules_in_force(view: View, catalogue: Catalogue, capacity: Capacity) -> tuple[RuleInForce, ...]:
    policies = sorted(view.policies, key=lambda policy: (policy.kind, policy.namespace or "", policy.name))
    return tuple(_rules(policies, view, catalogue, capacity))


def _rules(policies: Iterable[Policy], view: View, catalogue: Catalogue, capacity: Capacity) -> Iterator[RuleInForce]:
    for policy in policies:
        if policy.selector is not None and not policy.selector.matches(view.node.labels):
            continue
        for rule in policy.rules:
            action = view.actions.get(rule.action)
            metric = catalogue.get(rule.metric) if rule.metric else None
            yield RuleInForce(
                policy_kind=policy.kind,
                policy=policy.name,
                rule=rule,
                cache_ttl=policy.cache_ttl,
                action=action,
                metric=metric,
                error=_error(policy, rule, action, metric, catalogue=catalogue, capacity=capacity),
            )


def _error(
    policy: Policy,
    rule: Rule,
    action: AvoidanceAction | None,
    metric: Metric | None,
    *,
    catalogue: Catalogue,
    capacity: Capacity,
) -> str:
    if rule.text is not None or policy.namespace is not None:
        return f"policies {'in Rego' if rule.text is not None else 'for pods'} are not served yet"
    if action is None:
        return f"there is no AvoidanceAction named {rule.action!r}"
    if metric is None:
        return catalogue.why_not(rule.metric or "")
    if rule.value is None:
        return "metricRule.value is missing"
    return _not_served(metric, action) or str(refused(rule, action, metric, capacity) or "")


def _not_served(metric: Metric, action: AvoidanceAction) -> str:
    if action.throttles and not action.throttles_cpu and action.eviction is None:
        return f"{metric.name} cannot be throttled by memoryThrottle: reclaiming memory is not served yet"
    return ""


def refused(rule: Rule, action: AvoidanceAction | None, metric: Metric, capacity: Capacity) -> Refused | None:
    """None: the rule can be judged on a node of this size, and what it wants be done. Without an action only the first is asked."""
    return (
        _unselectable(rule, metric)
        or _implausible(rule, metric, capacity)
        or (_unable(metric, action) if action else None)
    )


def _unselectable(rule: Rule, metric: Metric) -> Refused | None:
    if rule.selector is None or not rule.selector.requirements or metric.vector is not None:
        return None
    field = "metricRule.selector"
    why = f"{field}: {metric.name} carries no labels to select by"
    return Refused(field=field, found="", why=why, remedy="leave the selector out")


def _implausible(rule: Rule, metric: Metric, capacity: Capacity) -> Refused | None:
    """A waterline on a part of the node's capacity that is next to nothing of it: the unit was not what was thought."""
    if not metric.part_of_node or rule.value is None:
        return None
    wholes: dict[Unit | OwnUnit, float] = {
        Unit.MILLICORES: float(capacity.cpu),
        Unit.PERCENT: 100.0,
        Unit.BYTES: float(capacity.memory),
    }
    whole = wholes.get(metric.unit, 0.0)
    least = whole * LEAST_PART_OF_CAPACITY
    if rule.value >= least or not whole:
        return None
    return Refused(
        field=WATERLINE,
        found=written(rule.value, metric.unit),
        why=f"is under 1 % of the node's {written(whole, metric.unit)}: {metric.name} counts in {metric.unit.value}",
        remedy=f"write at least {_rounded_up(least, metric.unit)}: {_EXAMPLES[metric.unit]}",
    )


def written(value: float, unit: Unit | OwnUnit) -> str:
    """As a manifest would have it, so that it can be compared with what was written there."""
    return quantity.binary(value) if unit is Unit.BYTES else f"{value:.15g}"


def _rounded_up(least: float, unit: Unit | OwnUnit) -> str:
    """What is written as it is told must then be taken."""
    step = 1 << 20 if unit is Unit.BYTES else 1
    return written(math.ceil(least / step) * step, unit)


def _unable(metric: Metric, action: AvoidanceAction) -> Refused | None:
    why = ""
    if action.throttles_cpu and not metric.throttle.able:
        why = f"{metric.name} cannot be throttled: {metric.throttle.why}"
    elif action.eviction is not None and not metric.evict.able:
        why = f"{metric.name} cannot be lowered by eviction: {metric.evict.why}"
    return Refused(field="actionName", found=action.name, why=why, remedy=_MAY_BE) if why else None
