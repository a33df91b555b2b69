"""
A rule's state, and how one more look at its metric changes it: idle -> arming -> active -> recovering -> idle.

The step is a pure function of the state before, what this tick says (bad, good or unknown) and the time; so it is the
same in the agent, in tests, in the simulator and in replay. A rule keeps its state through a changed threshold, text or
name, and starts anew with another metric or action.
"""

from collections.abc import Callable, Collection, Iterable
from enum import Enum
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Amount, Instant, Seconds
from slackwater.judge.rules import RuleInForce


class Phase(Enum):
    IDLE = "idle"
    ARMING = "arming"
    ACTIVE = "active"
    RECOVERING = "recovering"


class Mark(Enum):
    """What one tick says of a rule."""

    BAD = "bad"
    GOOD = "good"
    UNKNOWN = "unknown"


class RuleState(Struct, frozen=True, kw_only=True):
    id: str  # stays through a change of name: claims name their causes by it
    object: str
    name: str
    metric: str | None
    text: str | None
    action: str
    phase: Phase = Phase.IDLE
    count: int = 0  # of bad ticks while arming, of good ones while recovering
    bad_ticks: int = 0  # since it last was good: for people
    bad_now: bool = False  # the newest counted tick was bad
    counted_at: Instant | None = None  # the newest sample that was counted
    value: Amount | None = None  # what it said
    activated_at: Instant | None = None
    last_harm: Instant | None = None  # active and bad
    unknown_since: Instant | None = None
    stale_told: bool = False
    blind_step: bool = False  # this activation has taken its one step without a reading
    released_blind: bool = False  # nothing has been known for so long that it ended, and that it bounds nothing

    @property
    def engaged(self) -> bool:
        """Active, or on the way out of it."""
        return self.phase in {Phase.ACTIVE, Phase.RECOVERING}


class Needed(Struct, frozen=True):
    """Consecutive ticks."""

    bad: int  # to activate
    good: int  # to end it


class Patience(Struct, frozen=True):
    """How long a rule waits for a reading that does not come."""

    stale: Seconds
    release: Seconds  # 0: for ever


def adopt(states: Iterable[RuleState], rules: Iterable[RuleInForce]) -> tuple[RuleState, ...]:
    """
    Each rule's state, in the order of the rules: that of the same object and name, else of the same object, subject and
    action; else a new one.

    Names are matched first for all rules, so that a renamed rule cannot take the state of one that kept its name.
    """
    states, wanted = list(states), list(rules)
    left = list(states)
    found: list[RuleState | None] = [_take(left, rule, _same_name) for rule in wanted]
    found = [state or _take(left, rule, _same_work) for state, rule in zip(found, wanted, strict=True)]
    # Not even an id that nobody took up is given again at once: claims that name it must not find another rule there.
    used = {state.id for state in states}
    adopted = []
    for rule, state in zip(wanted, found, strict=True):
        adopted.append(_renamed(state, rule) if state else _new(rule, used))
        used.add(adopted[-1].id)
    return tuple(adopted)


def _take(left: list[RuleState], rule: RuleInForce, same: Callable[[RuleState, RuleInForce], bool]) -> RuleState | None:
    for state in left:
        if same(state, rule):
            left.remove(state)
            return state
    return None


def _same_name(state: RuleState, rule: RuleInForce) -> bool:
    both_texts = rule.rule.metric is None and state.metric is None
    same_work = both_texts or state.metric == rule.rule.metric
    return (state.object, state.name) == (rule.object, rule.rule.name) and _same_action(state, rule) and same_work


def _same_work(state: RuleState, rule: RuleInForce) -> bool:
    same_subject = (state.metric, state.text) == (rule.rule.metric, rule.rule.text)
    return state.object == rule.object and same_subject and _same_action(state, rule)


def _same_action(state: RuleState, rule: RuleInForce) -> bool:
    return state.action == rule.rule.action


def _renamed(state: RuleState, rule: RuleInForce) -> RuleState:
    return replace(state, name=rule.rule.name, text=rule.rule.text)


def _new(rule: RuleInForce, used: Collection[str]) -> RuleState:
    stem = f"{rule.object}/{rule.rule.name}"
    free = next(name for n in count(1) if (name := stem if n == 1 else f"{stem}#{n}") not in used)
    return RuleState(
        id=free,
        object=rule.object,
        name=rule.rule.name,
        metric=rule.rule.metric,
        text=rule.rule.text,
        action=rule.rule.action,
    )


def step(state: RuleState, mark: Mark, at: Instant, needed: Needed, patience: Patience) -> RuleState:
    """The state after one counted look. `at` is now; a good or bad mark ends whatever was unknown."""
    if mark is Mark.UNKNOWN:
        return _unknown(state, at, patience)
    known = replace(state, unknown_since=None, stale_told=False, released_blind=False, bad_now=mark is Mark.BAD)
    return _bad(known, at, needed) if mark is Mark.BAD else _good(known, needed)


def _bad(state: RuleState, at: Instant, needed: Needed) -> RuleState:
    state = replace(state, bad_ticks=state.bad_ticks + 1)
    if state.engaged:
        return replace(state, phase=Phase.ACTIVE, count=0, last_harm=at)
    if state.count + 1 < needed.bad:
        return replace(state, phase=Phase.ARMING, count=state.count + 1)
    return replace(state, phase=Phase.ACTIVE, count=0, activated_at=at, last_harm=at, blind_step=False)


def _good(state: RuleState, needed: Needed) -> RuleState:
    state = replace(state, bad_ticks=0)
    if state.engaged and state.count + 1 < needed.good:
        return replace(state, phase=Phase.RECOVERING, count=state.count + 1)
    return replace(state, phase=Phase.IDLE, count=0)


def _unknown(state: RuleState, at: Instant, patience: Patience) -> RuleState:
    since = state.unknown_since if state.unknown_since is not None else at
    waited = at - since
    state = replace(state, unknown_since=since, bad_now=False)
    if state.phase is Phase.ARMING and waited >= patience.stale:
        return replace(state, phase=Phase.IDLE, count=0, bad_ticks=0)
    if patience.release and waited >= patience.release:
        return replace(state, phase=Phase.IDLE, count=0, bad_ticks=0, released_blind=True)
    return state
