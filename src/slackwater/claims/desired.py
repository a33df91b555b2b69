"""
What a knob should hold: `min(caps, replacement or base)`.

The merge is commutative: whatever the order in which claims arrive, the same value comes out. A cap never raises and
unlimited is None, never a number.
"""

from collections.abc import Iterable
from functools import reduce

from msgspec import Struct

from slackwater.claims.claim import PRECEDENCE, Kind, Source
from slackwater.snapshot.knobs import Value


class Wanted(Struct, frozen=True):
    """One claim on one knob, in the unit of the kernel's file."""

    kind: Kind
    source: Source
    value: int
    cause: str


def lesser(one: Value, other: Value) -> Value:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def desired(base: Value, claims: Iterable[Wanted]) -> Value:
    held = tuple(claims)
    replacements = [claim for claim in held if claim.kind is Kind.REPLACE]
    start: Value = base
    if replacements:
        start = min(replacements, key=lambda claim: (PRECEDENCE.index(claim.source), claim.value)).value
    return reduce(lesser, (claim.value for claim in held if claim.kind is Kind.CAP), start)


def cause_of(claims: Iterable[Wanted]) -> str:
    """The causes of all claims on a knob, each once, in an order that does not depend on theirs."""
    return "; ".join(sorted({claim.cause for claim in claims}))
