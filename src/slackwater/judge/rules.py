"""
The rules in force on this node: policies, actions and metrics joined, each either ready to be judged or with the one
reason why it is not.

This runs when the view changes, not at every tick. An error here is that rule's alone: it is reported and plays no
part, and everything else goes on.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from slackwater.api.objects import AvoidanceAction, CpuThrottle, Policy, Rule, Strategy, Weight
from slackwater.api.units import Seconds
from slackwater.metrics.metric import Catalogue, Metric, OwnUnit, Unit
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

LEAST_PART_OF_CAPACITY = 0.01


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
    if rule.selector is not None and rule.selector.requirements and metric.vector is None:
        return f"metricRule.selector: {metric.name} carries no labels to select by"
    return _implausible(metric, rule.value, capacity) or _unable(metric, action)


def _implausible(metric: Metric, value: float, capacity: Capacity) -> str:
    """A waterline on a part of the node's capacity that is next to nothing of it: the unit was not what was thought."""
    if not metric.part_of_node:
        return ""
    wholes: dict[Unit | OwnUnit, float] = {
        Unit.MILLICORES: float(capacity.cpu),
        Unit.PERCENT: 100.0,
        Unit.BYTES: float(capacity.memory),
    }
    whole = wholes.get(metric.unit, 0.0)
    if value >= whole * LEAST_PART_OF_CAPACITY:
        return ""
    return f"waterline {value:g} is under 1 % of the node's {whole:g}: {metric.name} counts in {metric.unit.value}"


def _unable(metric: Metric, action: AvoidanceAction) -> str:
    if action.throttles and not action.throttles_cpu and action.eviction is None:
        return f"{metric.name} cannot be throttled by memoryThrottle: reclaiming memory is not served yet"
    if action.throttles_cpu and not metric.throttle.able:
        return f"{metric.name} cannot be throttled: {metric.throttle.why}"
    if action.eviction is not None and not metric.evict.able:
        return f"{metric.name} cannot be lowered by eviction: {metric.evict.why}"
    return ""
