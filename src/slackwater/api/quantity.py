"""
Kubernetes' quantities, exactly: "500m", "1.5Gi", "2e3", ".5".

Everything users write as an amount comes through here, as a fraction without rounding: 0.5 is a half, not 1, and three times "0.1" is "0.3". Rounding happens only where a unit is
chosen, and always upwards, as Kubernetes does: whoever asks for 1.2m of CPU gets 2. Nothing here guesses: a text the published grammar does not have is refused, with what to
write instead.
"""

import math
import re
from fractions import Fraction
from typing import NewType

from slackwater.api.units import Bytes, Millicores

Quantity = NewType("Quantity", Fraction)

_GRAMMAR = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?")
_LONGEST = 64  # characters; real quantities have at most twenty or so
_HIGHEST_EXPONENT = 60
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_FACTORS = {suffix: Fraction(10) ** power for suffix, power in _DECIMAL.items()} | {
    suffix: Fraction(2) ** power for suffix, power in _BINARY.items()
}


class Malformed(ValueError):
    """The text is no quantity; `remedy` says what to write."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def parse(written: object) -> Quantity:
    """What stands in a document: a text, or a number as YAML and JSON read it. Raises Malformed."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        raise Malformed("is not a quantity", "write a number, with a suffix if need be: 500m, 2, 1.5Gi")
    # A float's repr is the shortest text that reads back as the same number, so it is what the user wrote.
    text = written if isinstance(written, str) else repr(written)
    found = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise Malformed("is not a quantity", _remedy(text))
    sign, digits, suffix = found.groups(default="")
    amount = Fraction(digits) * _factor(suffix)
    return Quantity(-amount if sign == "-" else amount)


def as_float(quantity: Quantity) -> float:
    return float(quantity)


def millicores(quantity: Quantity) -> Millicores:
    return Millicores(math.ceil(quantity * 1000))


def whole_bytes(quantity: Quantity) -> Bytes:
    return Bytes(math.ceil(quantity))


def binary(amount: float) -> str:
    """So many bytes as a person reads them, in the largest suffix that fits: 23.54Gi. Rounded, so for messages alone."""
    suffix, power = next(((name, power) for name, power in reversed(_BINARY.items()) if amount >= 2**power), ("", 0))
    number = f"{amount / 2**power:.2f}".rstrip("0").rstrip(".")
    return f"{number}{suffix}"


def _factor(suffix: str) -> Fraction:
    known = _FACTORS.get(suffix)
    if known is not None:
        return known
    exponent = int(suffix[1:])
    if abs(exponent) > _HIGHEST_EXPONENT:
        raise Malformed(
            "has an exponent out of range", f"write an exponent from -{_HIGHEST_EXPONENT} to {_HIGHEST_EXPONENT}"
        )
    return Fraction(10) ** exponent


def _remedy(text: str) -> str:
    near = {
        "K": "k (1000) or Ki (1024)",
        "ki": "Ki",
        "mi": "Mi",
        "gi": "Gi",
        "ti": "Ti",
        "g": "G or Gi",
        "t": "T or Ti",
    }
    suffix = text.lstrip("+-.0123456789 ")
    if suffix in near:
        return f"write the suffix {suffix} as {near[suffix]}"
    if text != text.strip() or " " in text:
        return "write it without spaces: 500m, 2, 1.5Gi"
    return (
        "write digits and one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent: 500m, 2, 1.5Gi, 1e3"
    )
