"""
What may go wrong in a scenario: the kinds of fault with their fields, and how one is read.

A kind exists because it stands in this table; the reader, `simulate --faults` and the documentation all go by it. What a fault does to a simulation is in `inflicting`.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.loading import Object
from slackwater.api.units import Seconds

FOR_EVER = Seconds(float("inf"))


class FaultKind(StrEnum):
    MISSING_USAGE = "missing-usage"
    MISSING_METRIC = "missing-metric"
    POLICY_DELETED = "policy-deleted"
    POLICY_CHANGED = "policy-changed"
    CLOCK_JUMP = "clock-jump"
    AGENT_CRASH = "agent-crash"
    AGENT_AWAY = "agent-away"
    JOURNAL_LOST = "journal-lost"
    WRITE_REFUSED = "write-refused"
    EVICTION_REFUSED = "eviction-refused"


class Shape(Struct, frozen=True):
    """The fields of one kind beside `at` and `kind`; `lasts`: it may say `for`, without which it goes on to the end."""

    fields: tuple[str, ...]
    lasts: bool
    meaning: str


SHAPES: Mapping[FaultKind, Shape] = {
    FaultKind.MISSING_USAGE: Shape(("pod",), lasts=True, meaning="the pod's counters cannot be read"),
    FaultKind.MISSING_METRIC: Shape(("metric",), lasts=True, meaning="the node's value of the metric cannot be read"),
    FaultKind.POLICY_DELETED: Shape(("policy",), lasts=False, meaning="the policy is deleted"),
    FaultKind.POLICY_CHANGED: Shape(
        ("policy", "to"),
        lasts=False,
        meaning="the policy is replaced: by a file beside the scenario, or by one in place",
    ),
    FaultKind.CLOCK_JUMP: Shape(("by",), lasts=False, meaning="the calendar jumps, back with a minus: -3600s"),
    FaultKind.AGENT_CRASH: Shape(
        (),
        lasts=False,
        meaning="the agent dies between two writes of that tick, chosen by the seed, and is started again at the next",
    ),
    FaultKind.AGENT_AWAY: Shape((), lasts=True, meaning="no agent runs; then one is started"),
    FaultKind.JOURNAL_LOST: Shape((), lasts=False, meaning="the journal is gone; the next agent to start finds none"),
    FaultKind.WRITE_REFUSED: Shape(("pod",), lasts=True, meaning="the kernel refuses every write to the pod's groups"),
    FaultKind.EVICTION_REFUSED: Shape(("pod",), lasts=True, meaning="the cluster refuses to evict the pod, with a 429"),
}


class Fault(Struct, frozen=True, kw_only=True):
    at: Seconds  # since the beginning: the first look of the agent that it concerns
    kind: FaultKind
    lasts: Seconds = FOR_EVER
    pod: str = ""  # namespace/name
    metric: str = ""
    policy: str = ""
    to: tuple[Object, ...] = ()
    by: Seconds = Seconds(0)

    def holds(self, at: Seconds) -> bool:
        return self.at <= at < self.at + self.lasts

    @property
    def about(self) -> str:
        """For people: missing-usage default/etl-0."""
        jumped = f"{self.by:+g}s" if self.kind is FaultKind.CLOCK_JUMP else ""
        return " ".join(filter(None, (self.kind, self.pod, self.metric, self.policy, jumped)))


class Known(Struct, frozen=True):
    """What a fault may name."""

    pods: Collection[str]  # namespace/name
    policies: Collection[str]
    metrics: Collection[str]


def read(fields: Fields, known: Known, to: tuple[Object, ...]) -> Fault | None:
    """None: it is wrong, and reported. `to` is what its field of that name came to."""
    before = fields.failures
    if not fields.has("kind"):
        fields.error(None, "does not say its kind", f"write kind: and one of {', '.join(FaultKind)}")
        return None
    named = fields.choice("kind", list(FaultKind), "")
    if not named:
        return None
    kind = FaultKind(named)
    at = _required(fields, "at")
    _check(fields, kind, at)
    if fields.failures > before or at is None:
        return None
    lasts = fields.duration("for") if fields.has("for") else None
    fault = Fault(
        at=at,
        kind=kind,
        lasts=FOR_EVER if lasts is None else lasts,
        pod=_pod(fields, known.pods),
        metric=_one_of(fields, "metric", known.metrics),
        policy=_one_of(fields, "policy", known.policies),
        to=to,
        by=_jump(fields),
    )
    return None if fields.failures > before else fault


def _check(fields: Fields, kind: FaultKind, at: Seconds | None) -> None:
    """Each kind has its own fields: one too many was meant for something, and one too few leaves it empty."""
    shape = SHAPES[kind]
    valid = ("at", "kind", *shape.fields, *(("for",) if shape.lasts else ()))
    for key in fields.values:
        if key not in valid:
            fields.error(key, f"is no field of {kind}", f"its fields are {', '.join(valid)}", fields.values[key])
    for key in shape.fields:
        if not fields.has(key):
            fields.error(None, f"{kind} does not say {key}", f"its fields are {', '.join(valid)}")
    if at is not None and fields.get("for") == "0s":
        fields.error("for", "lasts no time at all", "write for how long, or leave it out: then to the end", "0s")


def _required(fields: Fields, key: str) -> Seconds | None:
    if not fields.has(key):
        fields.error(None, f"does not say {key}", f"write {key}: and a time since the beginning: {key}: 20m")
        return None
    return fields.duration(key)


def _pod(fields: Fields, pods: Collection[str]) -> str:
    written = fields.text("pod")
    if not written:
        return ""
    keys = [key for key in pods if written in (key, key.partition("/")[2])]
    if len(keys) > 1:
        fields.error("pod", "is in more than one namespace", f"write {' or '.join(sorted(keys))}", written)
    if not keys:
        shown = ", ".join(sorted(key.partition("/")[2] for key in pods)[:10])
        fields.error("pod", "there is no such pod", f"the pods here are {shown or 'none'}", written)
    return keys[0] if keys else ""


def _one_of(fields: Fields, key: str, names: Collection[str]) -> str:
    written = fields.text(key)
    if written and written not in names:
        shown = ", ".join(sorted(names)) or "none"
        fields.error(key, f"there is no such {key}", f"those here are {shown}", written)
    return written


def _jump(fields: Fields) -> Seconds:
    written = fields.get("by")
    if written is None:
        return Seconds(0)
    text = str(written)
    unsigned = Fields(
        fields.document, {**fields.values, "by": text.lstrip("+-")}, fields.findings, fields.path, fields.prefix
    )
    by = unsigned.duration("by")
    return Seconds(0) if by is None else Seconds(-by if text.startswith("-") else by)
