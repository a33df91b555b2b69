"""
What containers and pods ask for, with the defaults an API server fills in, and the QoS class that follows from it as kubelet computes it.

Amounts stay exact fractions here: 100.5m and 101m of CPU are two amounts to kubelet, and one in whole millicores.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from slackwater.api import quantity
from slackwater.api.manifests.fields import Fields
from slackwater.api.objects import QosClass, Resources
from slackwater.api.quantity import Quantity

Amounts = Mapping[str, Quantity]

CPU, MEMORY = "cpu", "memory"
ELASTIC_CPU, ELASTIC_MEMORY = "gocrane.io/cpu", "gocrane.io/memory"
COUNTED = frozenset((CPU, MEMORY))


class Asked(Struct, frozen=True):
    """Requests and limits of one container, or of a pod as such."""

    requests: Amounts
    limits: Amounts


NOTHING = Asked({}, {})


def of_container(fields: Fields) -> Asked:
    """A limit without a request is its request."""
    asked = read(fields)
    return Asked({**asked.limits, **asked.requests}, asked.limits)


def read(fields: Fields) -> Asked:
    inside = fields.inside("resources")
    if inside is None:
        return NOTHING
    return Asked(_amounts(inside, "requests"), _amounts(inside, "limits"))


def of_pod(written: Asked, containers: Iterable[Asked], initial: Iterable[tuple[Asked, bool]]) -> Asked:
    """What a pod says of itself; a request that it leaves out is what its containers ask for together, else its limit."""
    if not written.limits and not written.requests:
        return NOTHING
    together = _effective(containers, initial)
    requests = dict(written.requests)
    for name in COUNTED - set(requests):
        found = together.get(name, written.limits.get(name))
        if found is not None:
            requests[name] = found
    return Asked(requests, written.limits)


def qos_class(pod: Asked, containers: Iterable[Asked]) -> QosClass:
    """`containers` are all of them, those that initialise too. What a pod says of itself goes before what they say."""
    speaking = [pod] if pod.requests or pod.limits else list(containers)
    requests, limits = _sum(one.requests for one in speaking), _sum(one.limits for one in speaking)
    if not requests and not limits:
        return QosClass.BEST_EFFORT
    all_limited = all(_positive(one.limits).keys() >= COUNTED for one in speaking)
    return QosClass.GUARANTEED if all_limited and requests == limits else QosClass.BURSTABLE


def rounded(amounts: Amounts) -> Resources:
    cpu, memory, elastic_cpu, elastic_memory = (
        amounts.get(name) for name in (CPU, MEMORY, ELASTIC_CPU, ELASTIC_MEMORY)
    )
    return Resources(
        cpu=None if cpu is None else quantity.millicores(cpu),
        memory=None if memory is None else quantity.whole_bytes(memory),
        elastic_cpu=None if elastic_cpu is None else quantity.millicores(elastic_cpu),
        elastic_memory=None if elastic_memory is None else quantity.whole_bytes(elastic_memory),
    )


def _amounts(inside: Fields, key: str) -> Amounts:
    fields = inside.inside(key)
    if fields is None:
        return {}
    amounts: dict[str, Quantity] = {}
    for name in fields.values:
        amount = fields.quantity(name)
        if amount is not None and amount < 0:
            fields.error(name, "is below zero", "write an amount of 0 or more", fields.get(name))
        elif amount is not None:
            amounts[name] = amount
    _check(inside, key, amounts)
    return amounts


def _check(inside: Fields, key: str, amounts: Amounts) -> None:
    limits = inside.values.get("limits")
    if key == "requests" and isinstance(limits, dict):
        for name, amount in amounts.items():
            if _is_above(amount, limits.get(name)):
                inside.error(
                    key,
                    f"asks for more {name} than its limit",
                    "raise the limit or lower the request",
                    inside.values[key][name],
                )


def _is_above(amount: Quantity, limit: object) -> bool:
    try:
        return limit is not None and amount > quantity.parse(limit)
    except quantity.Malformed:
        return False  # reported where the limit itself is read


def _effective(containers: Iterable[Asked], initial: Iterable[tuple[Asked, bool]]) -> Amounts:
    """The most that is asked for at one time: while it initialises one after the other, beside the sidecars started so far, or afterwards all together."""
    sidecars: list[Amounts] = []
    peaks: list[Amounts] = []
    for asked, stays in initial:
        peaks.append(_sum((*sidecars, asked.requests)))
        if stays:
            sidecars.append(asked.requests)
    peaks.append(_sum((*sidecars, *(one.requests for one in containers))))
    return {
        name: max(peak[name] for peak in peaks if name in peak) for name in {name for peak in peaks for name in peak}
    }


def _sum(parts: Iterable[Amounts]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for part in parts:
        for name, amount in _positive(part).items():
            total[name] = Quantity(total[name] + amount) if name in total else amount
    return total


def _positive(amounts: Amounts) -> dict[str, Quantity]:
    return {name: amount for name, amount in amounts.items() if name in COUNTED and amount > 0}
