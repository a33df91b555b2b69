"""
The objectives of a policy. A rule that is wrong is reported and left out; the rules beside it go on.

Two dialects: `rules` of a NodeQOS, and `objectiveEnsurances` (or `objectiveEnsurance`) of the older kinds; `restoredThreshold` is read as `restoreThreshold`.
"""

from msgspec import Struct

from slackwater.api import quantity
from slackwater.api.manifests import selectors
from slackwater.api.manifests.fields import Fields
from slackwater.api.objects import Rule, Strategy
from slackwater.api.paths import told
from slackwater.api.selectors import LabelSelector

LISTS = ("rules", "objectiveEnsurances", "objectiveEnsurance")
FIELDS = (
    "name",
    "avoidanceThreshold",
    "restoreThreshold",
    "restoredThreshold",
    "actionName",
    "strategy",
    "metricRule",
    "policy",
)


class _Metric(Struct, frozen=True, kw_only=True):
    name: str
    value: float
    selector: LabelSelector | None = None


def read(spec: Fields) -> tuple[Rule, ...]:
    """Those that are right, in their order."""
    rules: list[Rule] = []
    for key in LISTS:
        for fields in spec.each(key):
            before = fields.failures
            rule = _rule(fields)
            if rule is not None and _is_new(fields, rule, rules):
                rules.append(rule)
            fields.findings.contain_since(before)
    if not any(spec.has(key) for key in LISTS):
        spec.warn(
            None, "has no rules, so nothing is judged by it", "write rules:, each with a metricRule and an actionName"
        )
    return tuple(rules)


def _is_new(fields: Fields, rule: Rule, rules: list[Rule]) -> bool:
    """Rules are told apart by their names, in the journal and across changes of the file."""
    if all(other.name != rule.name for other in rules):
        return True
    fields.error("name", "another rule of this object has the same name", "give each rule a name of its own", rule.name)
    return False


def _rule(fields: Fields) -> Rule | None:
    before = fields.failures
    fields.known(FIELDS)
    metric, text = _judged_by(fields)
    action = fields.required("actionName", "name the AvoidanceAction to take")
    rule = Rule(
        name=fields.text("name") or f"{metric.name if metric else 'policy'}-{action}",
        action=action,
        metric=metric.name if metric else None,
        value=metric.value if metric else None,
        selector=metric.selector if metric else None,
        text=text,
        avoidance_threshold=fields.whole("avoidanceThreshold", 1) or 1,
        restore_threshold=_restore_threshold(fields),
        strategy=Strategy(fields.choice("strategy", ("None", "Preview"), "None")),
        line=fields.line(),
        field=told(fields.path),
    )
    if fields.failures > before:
        return None
    if text is not None:
        fields.not_served("policy", "a policy in Rego")
    return rule


def _judged_by(fields: Fields) -> tuple[_Metric | None, str | None]:
    text = fields.text("policy")
    inside = fields.inside("metricRule")
    if text and inside is not None:
        fields.error("policy", "stands beside a metricRule", "keep one of the two, or make it two rules")
    if not text and not fields.has("metricRule"):
        fields.error(
            None, "has neither a metricRule nor a policy", "write metricRule: with the name of a metric and its value"
        )
    return (_metric(inside) if inside is not None else None), text or None


def _metric(fields: Fields) -> _Metric | None:
    before = fields.failures
    fields.known(("name", "selector", "value"))
    name = fields.required("name", "name the metric, for instance cpu_total_usage")
    if not fields.has("value"):
        fields.error(
            "value",
            "is missing",
            "write the waterline, in the metric's unit: 4000 or 4k millicores for cpu_total_usage",
        )
    value = fields.quantity("value")
    selector = selectors.labels(fields, "selector")
    if value is None or fields.failures > before:
        return None
    return _Metric(name=name, value=quantity.as_float(value), selector=selector)


def _restore_threshold(fields: Fields) -> int:
    if fields.has("restoreThreshold") and fields.has("restoredThreshold"):
        fields.warn(
            "restoredThreshold",
            "stands beside restoreThreshold, which is the one that counts",
            "keep restoreThreshold only",
        )
    key = "restoreThreshold" if fields.has("restoreThreshold") else "restoredThreshold"
    return fields.whole(key, 1) or 1
