"""
What a simulated run came to, as one value, and as the document that scripts are written against.

The document's names are fixed; fields are only ever added. It holds nothing of the machine it ran on and of how long that took: the same scenario and seed give the same bytes.
"""

from typing import Any

from msgspec import Struct

from slackwater.api.units import Seconds

PLACES = 6  # of a figure: what is beyond is how binary fractions are written


class Row(Struct, frozen=True, kw_only=True):
    """What was done to one pod in one tick, or to the node."""

    at: Seconds  # since the beginning
    kind: str
    pod: str | None  # None: the node
    policy: str
    rule: str
    metric: str
    unit: str
    preview: bool
    expected: float | None  # in the metric's unit; of a restore what it grants
    actual: float | None
    refused: str  # the kernel's or the cluster's no; empty: there was none
    sentence: str  # of the whole decision


class Moment(Struct, frozen=True):
    """One decision, or one fault, for people who follow it in time."""

    at: Seconds
    text: str
    kind: str  # fault, or what was done and under which rule: those that follow each other may be told together


class Released(Struct, frozen=True):
    """Over all decisions that took something: a gap that nobody can close any more is not counted at every tick."""

    gap: float
    released: float  # expected when it was decided
    actual: float | None  # as far as it was measured

    @property
    def ratio(self) -> float | None:
        return self.released / self.gap if self.gap > 0 else None


class Work(Struct, frozen=True):
    """Core seconds."""

    wanted: float
    got: float


class AtEnd(Struct, frozen=True):
    claims: int  # knobs that still differ from what kubelet set, or are marked
    taints: int


class Broken(Struct, frozen=True):
    """A promise that did not hold."""

    at: Seconds
    promise: str
    what: str


class Point(Struct, frozen=True):
    """Core seconds until one moment: a picture shows what came between two of them."""

    at: Seconds
    used: float  # on the node
    got: tuple[float, ...]  # by workload, in the scenario's order


class Waterline(Struct, frozen=True):
    rule: str  # policy/rule
    metric: str
    cores: float | None  # None: it is not about the node's CPU


class Result(Struct, frozen=True, kw_only=True):
    name: str
    policies: str  # where they came from
    seed: int
    tick: Seconds
    ticks: int
    cores: float
    seconds_above: dict[str, Seconds]
    released: dict[str, Released]
    reversals: int
    workloads: dict[str, Work]
    actions: tuple[Row, ...]
    at_end: AtEnd
    promises_broken: tuple[Broken, ...]
    moments: tuple[Moment, ...] = ()
    waterlines: tuple[Waterline, ...] = ()
    points: tuple[Point, ...] = ()
    blind: tuple[str, ...] = ()  # metrics that rules name and that nothing here moves


def document(result: Result) -> dict[str, Any]:
    return {
        "scenario": result.name,
        "policies": result.policies,
        "seed": result.seed,
        "ticks": result.ticks,
        "seconds_above": {rule: _figure(seconds) for rule, seconds in result.seconds_above.items()},
        "released": {metric: _released(one) for metric, one in result.released.items()},
        "reversals": result.reversals,
        "workloads": {
            name: {"wanted": _figure(work.wanted), "got": _figure(work.got)} for name, work in result.workloads.items()
        },
        "actions": [_row(row) for row in result.actions],
        "at_end": {"claims": result.at_end.claims, "taints": result.at_end.taints},
        "promises_broken": [
            {"at": _figure(broken.at), "promise": broken.promise, "what": broken.what}
            for broken in result.promises_broken
        ],
    }


def _released(one: Released) -> dict[str, float | None]:
    return {
        "gap": _figure(one.gap),
        "released": _figure(one.released),
        "ratio": _figure(one.ratio),
        "actual": _figure(one.actual),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "at": _figure(row.at),
        "kind": row.kind,
        "pod": row.pod,
        "policy": row.policy,
        "rule": row.rule,
        "metric": row.metric,
        "unit": row.unit,
        "preview": row.preview,
        "expected": _figure(row.expected),
        "actual": _figure(row.actual),
        "refused": row.refused,
        "sentence": row.sentence,
    }


def _figure(value: float | None) -> float | None:
    return None if value is None else round(value, PLACES)
