"""
What the agent carries from one tick to the next, and across restarts: everything that a decision depends on beside the
newest samples and the cluster's view.

It is one value, replaced as a whole, and written to the journal with each tick. Its times are on the agent's own clock,
which goes on across restarts, so nothing here is shifted or forgotten when the agent starts again. Losing it loses
counts and cool-downs, never what must come back: that stands in the marks.
"""

from msgspec import Struct

from slackwater.api.units import Amount, Instant, Seconds
from slackwater.claims.claim import Throttled
from slackwater.decide.plan import ActionKind
from slackwater.judge.states import RuleState
from slackwater.snapshot.knobs import Mark


class Wait(Struct, frozen=True, kw_only=True):
    """
    How long a metric must have been harmless before anything is given back; it grows where giving back brought the harm
    back.
    """

    seconds: Seconds = Seconds(0)  # 0: as long as the rules' cool-down
    granted_at: Instant | None = None
    proven_at: Instant | None = None  # the last time it was shortened, for having held


class Flight(Struct, frozen=True, kw_only=True):
    """A release (or, negative, a grant) that the newest sample does not show yet."""

    at: Instant
    amounts: dict[str, Amount]  # by metric


class Evicting(Struct, frozen=True, kw_only=True):
    """An eviction that was accepted; its pod's usage counts as released until then."""

    pod: str  # uid
    until: Instant


class Backoff(Struct, frozen=True, kw_only=True):
    """A pod whose eviction was refused: passed over until then."""

    pod: str  # uid
    until: Instant
    tries: int


class Subject(Struct, frozen=True):
    """One operation whose effect is to be measured."""

    pod: str  # uid
    container: str  # name; empty: the whole pod
    before: (
        Amount | None
    )  # what it used when it was decided: a container's CPU in millicores, a pod in the metric's unit


class Awaiting(Struct, frozen=True, kw_only=True):
    """A decision of which a later sample is to say what came of it."""

    decision: str
    action: ActionKind
    metric: str
    waterline: float | None
    at: Instant
    subjects: tuple[Subject, ...] = ()
    measured: bool = False  # the actual releases have been written
    told: bool = False  # its outcome has been written


class Memory(Struct, frozen=True, kw_only=True):
    states: tuple[RuleState, ...] = ()
    throttled: tuple[Throttled, ...] = ()
    waits: dict[str, Wait] = {}  # by metric
    windows: dict[str, tuple[tuple[Instant, Amount], ...]] = {}  # by metric: the values of the longest cool-down
    flights: tuple[Flight, ...] = ()
    evicting: tuple[Evicting, ...] = ()
    backoffs: tuple[Backoff, ...] = ()
    evicted_at: tuple[Instant, ...] = ()  # in the last hour
    scheduling_disabled: bool = False
    previewed: dict[str, str] = {}  # what a preview last showed, by rule: it is told once
    awaiting: tuple[Awaiting, ...] = ()
    unmarked: dict[str, Mark] = {}  # marks of groups that cannot carry one, by group
