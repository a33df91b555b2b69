"""
The configuration's keys one by one: what each is called in a file, in the environment and as a flag, and how its value is read from a text.

Derived from the structs in `configuration`, so a key cannot be documented and not exist, or the other way round. A value that cannot be taken raises `Unfit` with what
was expected; whoever knows where the value stood turns that into a problem.
"""

import math
import re
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from slackwater.agent import configuration
from slackwater.api import quantity

PREFIX = "SLACKWATER"
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
ACRONYMS = {"cpu_cfs_quota": "cpuCFSQuota", "cpu_cfs_quota_period": "cpuCFSQuotaPeriod"}  # kubelet's own spelling
DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)")
MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000}


class Unfit(ValueError):
    """The text is no value of this key; the message says what would be one."""


class Key(Struct, frozen=True, kw_only=True):
    path: str  # as in a file: host.cgroupRoot
    attributes: tuple[str, ...]  # as in Python: (host, cgroup_root)
    kind: type
    default: object
    summary: str
    unit: str
    fixed: bool
    least: float | None = None
    most: float | None = None
    above: float | None = None
    pattern: str | None = None
    min_length: int = 0

    @property
    def words(self) -> list[str]:
        return [word.lower() for part in self.path.split(".") for word in HUMPS.split(part)]

    @property
    def flag(self) -> str:
        return "--" + "-".join(self.words)

    @property
    def variable(self) -> str:
        return "_".join([PREFIX, *self.words]).upper()

    @property
    def expects(self) -> str:
        """What a value must be, for errors and for documentation."""
        return f"{self._noun}{self._range}"

    @property
    def _noun(self) -> str:
        if issubclass(self.kind, Enum):
            return "one of " + ", ".join(str(member.value) for member in self.kind)
        if self.pattern is not None:
            return "kube or folder:DIR"
        if self.unit in ("bytes", "duration"):
            return {"bytes": "a quantity such as 256Mi", "duration": "a duration such as 100ms"}[self.unit]
        nouns = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list of names"}
        return nouns.get(self.kind, "a text that is not empty" if self.min_length else "a text")

    @property
    def _range(self) -> str:
        least = None if self.least is None else shown(self, self.least)
        most = None if self.most is None else shown(self, self.most)
        if self.above is not None:
            return f" above {self.above:g}" + (f", at most {most}" if most else "")
        if least and most:
            return f"{',' if self.unit == 'duration' else ''} from {least} to {most}"
        return f", at least {least}" if least else ""


def _keys(struct: type[Struct], attributes: tuple[str, ...] = (), path: str = "") -> Iterator[Key]:
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        hint, here, name = hints[field.name], (*attributes, field.name), path + camel(field.name)
        if get_origin(hint) is Annotated:
            yield _key(hint, here, name, field.default)
        elif hint is not configuration.Layers:
            yield from _keys(hint, here, f"{name}.")


def _key(hint: Any, attributes: tuple[str, ...], path: str, default: object) -> Key:
    base, *metas = get_args(hint)
    kind = getattr(base, "__supertype__", get_origin(base) or base)
    facts = next(meta for meta in metas if meta.description)
    limits = next((meta for meta in metas if meta is not facts), Meta())
    return Key(
        path=path, attributes=attributes, kind=kind, default=default,
        summary=facts.description, unit=facts.extra["unit"], fixed=facts.extra["fixed"],
        least=limits.ge, most=limits.le, above=limits.gt, pattern=limits.pattern, min_length=limits.min_length or 0,
    )  # fmt: skip


def camel(name: str) -> str:
    if name in ACRONYMS:
        return ACRONYMS[name]
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


KEYS: dict[str, Key] = {key.path: key for key in _keys(configuration.Configuration)}


def parsed(key: Key, text: str) -> object:
    """The value that `text` stands for. Raises Unfit."""
    value = _read(key, text.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        _within(key, value)
    return value


def _read(key: Key, text: str) -> object:
    if key.unit == "bytes":
        return _bytes(key, text)
    if key.unit == "duration":
        return _duration(key, text)
    if issubclass(key.kind, Enum):
        return _member(key, text)
    if key.kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if key.kind in (bool, int, float):
        return _number(key, text)
    if len(text) < key.min_length or (key.pattern is not None and not re.match(key.pattern, text)):
        raise Unfit(key.expects)
    return text


def _member(key: Key, text: str) -> object:
    try:
        return key.kind(text)
    except ValueError:
        raise Unfit(key.expects) from None


def _number(key: Key, text: str) -> object:
    if key.kind is bool:
        if text.lower() not in ("true", "false"):
            raise Unfit(key.expects)
        return text.lower() == "true"
    try:
        value = key.kind(text)
    except ValueError:
        raise Unfit(key.expects) from None
    if not math.isfinite(value):
        raise Unfit(key.expects)
    return value


def _within(key: Key, value: float) -> None:
    low = (key.least is not None and value < key.least) or (key.above is not None and value <= key.above)
    if low or (key.most is not None and value > key.most):
        raise Unfit(key.expects)


def _bytes(key: Key, text: str) -> int:
    try:
        return quantity.whole_bytes(quantity.parse(text))
    except quantity.Malformed:
        raise Unfit(key.expects) from None


def _duration(key: Key, text: str) -> int:
    match = DURATION.fullmatch(text)
    if match is None:
        raise Unfit(key.expects)
    return round(float(match[1]) * MICROSECONDS[match[2]])


def shown(key: Key, value: object) -> str:
    """A value as a file would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if key.unit == "bytes" and isinstance(value, int | float):
        mebibytes, rest = divmod(int(value), 1 << 20)
        return f"{value}" if rest else f"{mebibytes}Mi"
    if key.unit == "duration" and isinstance(value, int | float):
        return f"{value / 1_000:g}ms"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(str, value)) + "]"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
