"""
What a scenario says of a pod's CPU or memory over time, read into a demand: a number, steps, a day, or a recorded trace, each with noise if wanted.

Reading is strict and demands are pure: everything that can be wrong with a curve is found here, with its line, before a simulation begins. The text of a trace comes from whoever
can open files; nothing here can.
"""

import csv
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api import quantity
from slackwater.api.manifests.fields import Fields, Findings
from slackwater.api.paths import told
from slackwater.api.problems import Problem
from slackwater.api.units import Seconds
from slackwater.sim.demand import Demand, day, noisy, recorded, steps

Opened = Callable[[str], str | Problem]
"""The text of a file that stands beside the scenario, or why there is none."""

T = TypeVar("T")
FORMS = ("value", "steps", "day", "csv")
TIMES = ("ts", "timestamp", "time")
"""Columns that say when, in a trace: seconds, or a time as 2026-03-02T08:00:00Z."""


class Measure(Struct, frozen=True):
    """CPU or memory: how amounts of it are written, and what all of it is."""

    key: str  # the workload's field
    factor: int  # what one of the written unit is in the demand's own
    unit: str  # as a trace calls it
    whole: float  # of the node, in the demand's own unit
    example: str


class Setting(Struct, frozen=True):
    """What a curve is read under."""

    midnight: Seconds  # when the simulation's first day began
    tick: Seconds
    seed: int
    opened: Opened


class Curve(Struct, frozen=True):
    """A demand, and the noise that each pod has of its own upon it."""

    demand: Demand
    noise: float
    seed: int

    def of(self, name: str) -> Demand:
        return noisy(self.demand, self.noise, self.seed, name) if self.noise else self.demand


def read(fields: Fields, measure: Measure, setting: Setting) -> Curve | None:
    """None: it is not said, or wrong and reported."""
    written = fields.get(measure.key)
    if written is None:
        return None
    if not isinstance(written, dict):
        amount = _amount(fields, measure.key, measure)
        return None if amount is None else Curve(steps([(Seconds(0), amount)]), 0.0, setting.seed)
    inside = fields.inside(measure.key)
    return None if inside is None else _form(inside, measure, setting)


def _form(fields: Fields, measure: Measure, setting: Setting) -> Curve | None:
    of_trace = ("column", "unit", "every") if fields.has("csv") else ()
    if not _only(fields, (*FORMS, *of_trace, "noise")):
        return None
    said = [form for form in FORMS if fields.has(form)]
    if len(said) != 1:
        found = f"has {' and '.join(said)}" if said else "says nothing of how much"
        fields.error(None, found, f"write exactly one of {', '.join(FORMS)}")
        return None
    demand = _READERS[said[0]](fields, measure, setting)
    noise = _amount(fields, "noise", measure) if fields.has("noise") else 0.0
    return None if demand is None or noise is None else Curve(demand, noise, setting.seed)


def _value(fields: Fields, measure: Measure, setting: Setting) -> Demand | None:
    del setting
    amount = _amount(fields, "value", measure)
    return None if amount is None else steps([(Seconds(0), amount)])


def _steps(fields: Fields, measure: Measure, setting: Setting) -> Demand | None:
    del setting
    listed = Fields(fields.document, {}, fields.findings, (*fields.path, "steps"), fields.prefix)
    entries = fields.entries("steps")
    read_steps = [_step(listed, index, entry, measure) for index, entry in enumerate(entries)]
    levels = [step for step in read_steps if step is not None]
    if not entries and fields.get("steps") == []:
        fields.error("steps", "is empty", f"write pairs of a time and an amount: [[0s, {measure.example}]]")
    if len(levels) < len(entries) or not levels:
        return None
    for index, (before, after) in enumerate(pairwise(levels), start=1):
        if after[0] <= before[0]:
            listed.error(index, "comes no later than the step before it", "write the steps in order of time")
            return None
    return steps(levels)


def _step(listed: Fields, index: int, entry: Any, measure: Measure) -> tuple[Seconds, float] | None:
    if not isinstance(entry, list) or len(entry) != 2:  # noqa: PLR2004 - a pair
        listed.error(index, "is no step", f"write a time and an amount: [30m, {measure.example}]", entry)
        return None
    pair = _Pair(listed, index, entry)
    at = pair.read(0, lambda fields: fields.duration("0"))
    amount = pair.read(1, lambda fields: _amount(fields, "1", measure))
    return None if at is None or amount is None else (at, amount)


class _Pair(Struct, frozen=True):
    """A list of two, whose values are read as fields and told by their places."""

    listed: Fields
    index: int
    values: list[Any]

    def read(self, place: int, reader: Callable[[Fields], T | None]) -> T | None:
        listed, findings = self.listed, Findings()
        path = (*listed.path, self.index)
        found = reader(Fields(listed.document, {str(place): self.values[place]}, findings, path, listed.prefix))
        for problem in findings.problems:
            listed.findings.add(replace(problem, field=told((*listed.prefix, *path, place))))
        return found


def _day(fields: Fields, measure: Measure, setting: Setting) -> Demand | None:
    inside = fields.inside("day")
    if inside is None or not _only(inside, ("low", "high", "peak")):
        return None
    missing = [name for name in ("low", "high", "peak") if not inside.has(name)]
    for name in missing:
        inside.error(None, f"does not say {name}", 'write low, high and peak: {low: 0.5, high: 4, peak: "14:00"}')
    if missing:
        return None
    low, high, peak = _amount(inside, "low", measure), _amount(inside, "high", measure), _peak(inside)
    if low is None or high is None or peak is None:
        return None
    if low > high:
        inside.error("low", "is above high", "write the smaller amount as low", inside.get("low"))
        return None
    return day(low, high, peak, setting.midnight)


def _peak(fields: Fields) -> Seconds | None:
    written = fields.get("peak")
    hours, colon, minutes = str(written).partition(":")
    if not (colon and hours.isdecimal() and minutes.isdecimal()) or int(hours) >= 24 or int(minutes) >= 60:  # noqa: PLR2004 - a clock's
        fields.error("peak", "is not a time of day", 'write hours and minutes in UTC: "14:00"', written)
        return None
    return Seconds(int(hours) * 3600 + int(minutes) * 60)


def _trace(fields: Fields, measure: Measure, setting: Setting) -> Demand | None:
    units = (measure.unit, "percent")
    named, column = fields.required("csv", "name a file"), fields.text("column", "value")
    unit = fields.choice("unit", units, measure.unit)
    every = fields.duration("every") if fields.has("every") else setting.tick
    if not named or every is None:
        return None
    text = setting.opened(named)
    if isinstance(text, Problem):
        fields.error("csv", f"the file {text.message}", text.remedy, named)
        return None
    rows = list(csv.DictReader(text.splitlines()))
    if not rows or column not in rows[0]:
        found = ", ".join(rows[0]) if rows else "no rows"
        fields.error("column", f"the file has no column {column!r}", f"it has {found}", named)
        return None
    factor = measure.whole / 100.0 if unit == "percent" else float(measure.factor)
    return _recorded(fields, rows, column, factor, every)


def _recorded(
    fields: Fields, rows: Sequence[dict[str, str]], column: str, factor: float, every: Seconds
) -> Demand | None:
    clock = next((name for name in TIMES if name in rows[0] and name != column), None)
    levels: list[tuple[Seconds, float]] = []
    first: float | None = None
    for number, row in enumerate(rows):
        try:
            at = number * every if clock is None else _moment(row[clock])
            amount = max(0.0, float(row[column])) * factor
        except (ValueError, TypeError):
            fields.error("csv", f"line {number + 2} of the file is no sample", "write a time and a number", dict(row))
            return None
        first = at if first is None else first
        if levels and at - first <= levels[-1][0]:
            fields.error("csv", f"line {number + 2} of the file is no later than the one before it", "sort it by time")
            return None
        levels.append((Seconds(at - first), amount))
    return recorded(levels, every)


def _moment(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text).timestamp()


def _amount(fields: Fields, key: str, measure: Measure) -> float | None:
    amount = fields.quantity(key)
    if amount is None:
        if fields.get(key) is None:
            fields.error(key, "is missing", f"write an amount such as {measure.example}")
        return None
    if amount < 0:
        fields.error(key, "is below zero", "write an amount of 0 or more", fields.get(key))
        return None
    return quantity.as_float(quantity.Quantity(amount * measure.factor))


def _only(fields: Fields, names: Sequence[str]) -> bool:
    """A curve with a misspelt word is another curve: it is refused, not warned of."""
    unknown = [key for key in fields.values if key not in names]
    for key in unknown:
        fields.error(key, "is no field here", f"the fields here are {', '.join(names)}", fields.values[key])
    return not unknown


_READERS: dict[str, Callable[[Fields, Measure, Setting], Demand | None]] = {
    "value": _value,
    "steps": _steps,
    "day": _day,
    "csv": _trace,
}
