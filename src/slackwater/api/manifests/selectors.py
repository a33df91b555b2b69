"""Selectors as they are written: labels, and the scopes of a PodQOS."""

import re
from typing import Any

from slackwater.api.manifests.fields import Fields
from slackwater.api.objects import QosClass, Scope
from slackwater.api.selectors import LabelSelector, Operator, Requirement

SCOPES = ("QOSClass", "Priority", "Namespace")

_WITH_VALUES = (Operator.IN, Operator.NOT_IN)
# One priority, or a range of them: -10, 0-1000, -20--10.
_PRIORITY = re.compile(r"(-?[0-9]{1,10})(?:-(-?[0-9]{1,10}))?")


def labels(parent: Fields, key: str) -> LabelSelector | None:
    fields = parent.inside(key)
    if fields is None:
        return None
    fields.known(("matchLabels", "matchExpressions"))
    wanted = fields.named_texts("matchLabels")
    equal = tuple(Requirement(name, Operator.IN, frozenset((value,))) for name, value in sorted(wanted.items()))
    expressions = (_requirement(expression) for expression in fields.each("matchExpressions"))
    return LabelSelector(equal + tuple(found for found in expressions if found is not None))


def scopes(parent: Fields, key: str) -> tuple[Scope, ...]:
    fields = parent.inside(key)
    if fields is None:
        return ()
    fields.known(("matchExpressions",))
    read = (_scope(expression) for expression in fields.each("matchExpressions"))
    return tuple(scope for scope in read if scope is not None)


def _requirement(fields: Fields) -> Requirement | None:
    before = fields.failures
    fields.known(("key", "operator", "values"))
    key = fields.required("key", "name the label")
    operator = Operator(_operator(fields, tuple(option.value for option in Operator)))
    values = fields.texts("values")
    if fields.failures == before:
        _check_count(fields, operator, len(values))
    return Requirement(key, operator, frozenset(values)) if fields.failures == before else None


def _check_count(fields: Fields, operator: Operator, count: int) -> None:
    if operator in _WITH_VALUES and not count:
        fields.error("values", "is empty", f"{operator.value} needs at least one value")
    if operator not in _WITH_VALUES and count:
        fields.error("values", "must be absent", f"{operator.value} takes no values", fields.get("values"))


def _operator(fields: Fields, options: tuple[str, ...]) -> str:
    if not fields.has("operator"):
        fields.error("operator", "is missing", f"write {' or '.join(options)}")
    return fields.choice("operator", options, options[0])


def _scope(fields: Fields) -> Scope | None:
    before = fields.failures
    fields.known(("scopeName", "operator", "values"))
    if not fields.has("scopeName"):
        fields.error("scopeName", "is missing", f"write {' or '.join(SCOPES)}")
    name = fields.choice("scopeName", SCOPES, SCOPES[0])
    operator = _operator(fields, ("In", "NotIn"))
    written = fields.entries("values")
    if not written:
        fields.error("values", "is empty", "write at least one value")
    for value in written:
        _check_value(fields, name, value)
    return Scope(name, operator == "NotIn", frozenset(map(str, written))) if fields.failures == before else None


def _check_value(fields: Fields, name: str, value: Any) -> None:
    classes = [member.title for member in QosClass]
    if name == "QOSClass" and value not in classes:
        fields.error("values", "is no QoS class", f"write {' or '.join(classes)}", value)
    elif name == "Priority" and not _is_priority(value):
        fields.error("values", "is no priority", "write a number or a range: 0, -10, 0-1000", value)
    elif name == "Namespace" and not isinstance(value, str):
        fields.error("values", "is no namespace", "write its name as a text", value)


def _is_priority(value: Any) -> bool:
    found = _PRIORITY.fullmatch(str(value)) if not isinstance(value, bool | float) else None
    return found is not None and (found[2] is None or int(found[1]) <= int(found[2]))
