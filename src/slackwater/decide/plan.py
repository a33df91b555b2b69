"""
What a tick means to do, as values: how the node should stand with the scheduler, which pods are to go, and the
decisions that say why.

Throttling has no orders of its own: it is the set of claims, which the reconciler makes true. A decision is what the
journal keeps and `explain` tells: one per tick, action and metric, under the rule whose waterline governed.
"""

from enum import Enum, StrEnum

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Instant, Seconds, Wall


class ActionKind(StrEnum):
    THROTTLE = "throttle"
    RESTORE = "restore"
    EVICT = "evict"
    DISABLE_SCHEDULING = "disable-scheduling"
    ENABLE_SCHEDULING = "enable-scheduling"


class Considered(Struct, frozen=True):
    """A pod that was looked at, in the order in which it was looked at, and what came of it."""

    pod: str  # namespace/name
    taken: bool
    why: str


class Operation(Struct, frozen=True, kw_only=True):
    """One knob of one container (or one pod) that changes; an eviction has no knob."""

    pod: str
    uid: str
    container: str = ""  # its name; empty: the pod itself
    knob: str = ""  # quota | weight; empty: the pod is evicted
    before: int | None = None  # a quota in millicores (None: unlimited), a weight as the kernel's file has it
    after: int | None = None
    expected: float | None = None  # release (restore: grant) in the metric's unit
    actual: float | None = None  # measured at the next fresh sample
    who: str = ""  # class and priority, for people: "BestEffort, -10"
    refused: str = ""  # the kernel's or the API's no, where there was one


class Outcome(Struct, frozen=True):
    """What became of an activation. None: not measured (yet)."""

    recovered: bool | None = None
    after_s: float | None = None


class Decision(Struct, frozen=True, kw_only=True):
    id: str  # unique in a journal, and grows
    at: Wall
    instant: Instant
    action: ActionKind
    preview: bool
    policy: str
    rule: str
    metric: str
    unit: str = ""  # millicores | percent | bytes | ...
    value: float | None = None
    waterline: float | None = None
    gap: float | None = None  # with its excess; of giving back: the room
    bad_ticks: int = 0  # how long the rule had been bad when it acted
    reason: str = ""  # what the rule said, beyond the numbers
    stopped: str = ""  # why it went no further
    also: tuple[str, ...] = ()  # the other rules that took part, policy/rule
    candidates: tuple[Considered, ...] = ()
    operations: tuple[Operation, ...] = ()
    outcome: Outcome = Outcome()


class Measurement(Struct, frozen=True, kw_only=True):
    """What a later sample says of an earlier decision."""

    decision: str  # its id
    actual: tuple[float | None, ...] = ()  # one per operation; empty: nothing new
    refused: tuple[str, ...] = ()  # one per operation; empty: nothing new
    outcome: Outcome | None = None


class Scheduling(Struct, frozen=True):
    """How the node should stand with the scheduler."""

    disabled: bool
    why: str = ""


class EvictionOrder(Struct, frozen=True, kw_only=True):
    pod: Pod
    grace: Seconds | None  # None: the pod's own
    why: str
    decision: str  # id of the decision it belongs to


class Answer(Enum):
    ACCEPTED = "accepted"
    REFUSED = "refused"  # a disruption budget said no; try again later
    GONE = "gone"  # no such pod, or another of that name
    FAILED = "failed"


class EvictionAnswer(Struct, frozen=True):
    answer: Answer
    why: str = ""
