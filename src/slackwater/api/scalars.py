"""
What a plain word in YAML stands for: as Kubernetes' manifests mean it, not as YAML 1.1 has it.

`y`, `no`, `on` and `22:00` are texts: a country, a switch's label and a time of day have been lost to the old rules too often. Only true, false, null and numbers are more than
text, numbers also in base 2, 8 (0o17 and 017) and 16.
"""

import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
# Longer digits than any real number stay text: reading them would cost time and mean nothing.
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9_]{0,40})")
_OCTAL = re.compile(r"([-+]?)0o?([0-7_]{1,40})")
_HEXADECIMAL = re.compile(r"[-+]?0x[0-9a-fA-F_]{1,40}")
_BINARY = re.compile(r"[-+]?0b[01_]{1,80}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BEGINNINGS = frozenset("0123456789+-.~ntfNTF")


def read(word: str) -> Scalar:
    if word and word[0] not in _BEGINNINGS:
        return word
    if word in _WORDS:
        return _WORDS[word]
    return _number(word)


def _number(word: str) -> Scalar:
    if _WHOLE.fullmatch(word):
        return int(word.replace("_", ""))
    octal = _OCTAL.fullmatch(word)
    if octal:
        return int(octal[1] + (octal[2].replace("_", "") or "0"), 8)
    if _HEXADECIMAL.fullmatch(word):
        return int(word.replace("_", ""), 16)
    if _BINARY.fullmatch(word):
        return int(word.replace("_", ""), 2)
    if len(word) <= 64 and _FLOAT.fullmatch(word):  # noqa: PLR2004 - as for whole numbers: beyond that it is no number anybody meant
        return float(word)
    return word
