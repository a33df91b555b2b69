"""
How a node stands when nothing happens, as values: the rules and their distances, what is held back and why, the brakes,
and who could be touched.

`standstill` makes them from what a tick left behind; `standing_words` tells them. Their fields are what scripts read
(`explain --why-not -o json`): fields are only ever added. Times are spans in seconds, counted at the tick they tell of.
"""

from msgspec import Struct

from slackwater.api.units import Amount, Millicores, Seconds, Wall
from slackwater.decide.obstacles import Obstacle
from slackwater.decide.plan import ActionKind
from slackwater.decide.reach import Reach


class LastAct(Struct, frozen=True, kw_only=True):
    """What a rule did last, of one kind."""

    action: ActionKind
    ago_s: Seconds
    taken: int  # pods
    stopped: str
    left_alone: dict[str, int]  # pods by the reason for which they were not taken


class RuleStanding(Struct, frozen=True, kw_only=True):
    policy: str
    rule: str
    action: str  # the name of its AvoidanceAction
    does: tuple[ActionKind, ...]
    preview: bool
    state: str  # error | off | new | idle | arming | active | recovering
    error: str = ""
    metric: str = ""
    unit: str = ""
    value: Amount | None = None  # as it was last counted
    waterline: float | None = None
    distance: float | None = None  # waterline minus value: below zero it is bad
    bad_ticks: int = 0
    bad_ticks_needed: int = 1
    good_ticks: int = 0  # while recovering
    good_ticks_needed: int = 1
    missing_s: Seconds | None = None  # for how long nothing has been known of its metric
    cools_s: Seconds = Seconds(0)  # how long its cool-down still runs
    last: tuple[LastAct, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.policy}/{self.rule}"


class Elsewhere(Struct, frozen=True):
    """A policy that is not for this node."""

    policy: str
    unmet: str  # what of its node selector does not hold


class HeldBack(Struct, frozen=True, kw_only=True):
    pod: str
    container: str
    quota: Millicores
    since_s: Seconds


class GivingBack(Struct, frozen=True):
    held: tuple[HeldBack, ...]
    obstacles: tuple[Obstacle, ...]  # none: the next sample gives back


class Closed(Struct, frozen=True, kw_only=True):
    """A rule that keeps the node closed for scheduling."""

    rule: str
    left_s: Seconds | None  # None: it is active


class PassedOver(Struct, frozen=True):
    pod: str
    left_s: Seconds


class Brakes(Struct, frozen=True, kw_only=True):
    used: int  # evictions of the last hour
    per_hour: int  # 0: no limit
    per_tick: int  # the same
    next_s: Seconds | None  # how long until one more may go, where the hour's are used up
    passed_over: tuple[PassedOver, ...]  # whose eviction was refused


class PodReach(Struct, frozen=True, kw_only=True):
    """What one rule could do to one pod."""

    rule: str
    action: str
    does: ActionKind
    preview: bool
    state: str  # the rule's
    why_not: str  # empty: it may be touched
    place: int | None  # in the rule's order: 1 goes first
    of: int
    last: str  # what the rule's last decision said of it
    last_s: Seconds | None  # how long ago; None: there was none


class PodStanding(Struct, frozen=True, kw_only=True):
    pod: str
    who: str
    phase: str
    held: tuple[HeldBack, ...]
    rules: tuple[PodReach, ...]


class Standstill(Struct, frozen=True, kw_only=True):
    at: Wall
    mode: str
    mode_why: str
    rules: tuple[RuleStanding, ...]
    elsewhere: tuple[Elsewhere, ...]
    errors: tuple[str, ...]  # documents that could not be read
    giving_back: GivingBack
    closed: tuple[Closed, ...]
    brakes: Brakes | None  # None: no rule evicts
    reach: tuple[Reach, ...]
    asked: str  # the pod that was asked for
    pods: tuple[PodStanding, ...]  # of that name
