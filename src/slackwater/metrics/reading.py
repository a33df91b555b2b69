"""
Where judge and decide read a metric: a value or nothing, and how old.

A reading is a vector of labelled values, of which a plain node metric is the case with one element and no labels. Who
answers (the newest samples now, any store that keeps series) is of no concern to those who ask.
"""

from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Amount, Instant, Seconds


class Element(Struct, frozen=True):
    value: Amount
    labels: dict[str, str] = {}  # none: it stands for the whole node, whatever is selected


class Reading(Struct, frozen=True):
    elements: tuple[Element, ...]
    at: Instant  # of the newest sample that it rests on
    interval: Seconds  # at which its source is sampled
    beside: Amount | None = None  # what else is said of the whole node, for people


class Readings(Protocol):
    def read(self, metric: str) -> Reading | None:
        """None: there has been no value of this name, however old."""


def is_fresh(reading: Reading, now: Instant, cache_ttl: Seconds | None) -> bool:
    """Fresh for two and a half of its source's intervals, or for the policy's own patience where that is longer."""
    return now - reading.at <= max(2.5 * reading.interval, cache_ttl or 0.0)
