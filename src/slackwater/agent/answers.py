"""
What a package's function may answer: each check gives the value as the house uses it, or says what was wanted instead.

Types are no promise of somebody else's code, so they are looked at here, once, where the answer comes in; nobody behind
this checks again. Pure.
"""

import math
from collections.abc import Callable, Mapping

from msgspec import Struct

from slackwater.api.units import Amount, Millicores
from slackwater.metrics.metric import SortKey
from slackwater.metrics.reading import Element
from slackwater.metrics.steps import Step

SHOWN = 60


class Unfit(ValueError):
    """An answer that cannot be used; the message says what it was and what was wanted."""


def _unfit(value: object, wanted: str) -> Unfit:
    try:
        shown = repr(value)[:SHOWN]
    except Exception:  # noqa: BLE001 - it is the package's own repr, and only shown
        shown = f"a {type(value).__name__}"
    return Unfit(f"answered {shown}; {wanted} is wanted")


def finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _unfit(value, "a finite number")
    return float(value)


def number(value: object) -> Amount | None:
    return None if value is None else Amount(finite(value))


def truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise _unfit(value, "True or False")
    return value


def elements(value: object) -> tuple[Element, ...]:
    if not isinstance(value, tuple) or not all(isinstance(one, Element) for one in value):
        raise _unfit(value, "a tuple of Elements")
    for one in value:
        labels = one.labels
        if not isinstance(labels, dict) or not all(isinstance(text, str) for pair in labels.items() for text in pair):
            raise _unfit(labels, "labels that are texts")
    return tuple(Element(Amount(finite(one.value)), one.labels) for one in value)


def amounts(value: object, names: frozenset[str]) -> dict[str, Amount]:
    """Of the package's own metrics: it does not say what it releases of another's."""
    if not isinstance(value, Mapping):
        raise _unfit(value, "numbers by metric")
    return {name: Amount(finite(amount)) for name, amount in value.items() if name in names}


def releases(names: frozenset[str]) -> Callable[[object], dict[str, Amount] | None]:
    return lambda value: None if value is None else amounts(value, names)


def step(names: frozenset[str]) -> Callable[[object], Step | None]:
    return lambda value: None if value is None else _step(value, names)


def _step(value: object, names: frozenset[str]) -> Step:
    if not isinstance(value, Step) or not isinstance(value.quotas, Mapping):
        raise _unfit(value, "a Step with quotas by container, or None")
    quotas = {str(container): _millicores(quota) for container, quota in value.quotas.items()}
    return Step(quotas=quotas, amounts=amounts(value.amounts, names))


def _millicores(value: object) -> Millicores:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _unfit(value, "a quota in whole millicores")
    return Millicores(value)


class Keys(Struct, frozen=True):
    """The sort keys of pods, by uid: all of one length, so that any two can be compared."""

    by_uid: Mapping[str, SortKey]


def keys(value: object) -> Keys:
    if not isinstance(value, dict):
        raise _unfit(value, "keys by pod")
    for key in value.values():
        if not isinstance(key, tuple):
            raise _unfit(key, "a tuple of numbers as sort key")
        for part in key:
            finite(int(part) if isinstance(part, bool) else part)
    if len({len(key) for key in value.values()}) > 1:
        raise _unfit(value, "sort keys of one length")
    return Keys(value)


def lasting(value: object) -> object:
    """What a collector hands over is read by another thread: nobody may change it any more."""
    try:
        hash(value)
    except TypeError:
        raise _unfit(value, "a value that cannot be changed (number, text, tuple, frozenset, frozen Struct)") from None
    return value
