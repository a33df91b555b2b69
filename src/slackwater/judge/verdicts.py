"""
Judging: every rule in force against its metric, once for each newer sample.

What gives a mark is a seam: a threshold over a reading now, a policy's answer later. A verdict is what everything after
this reads of a rule; it carries what it rests on.
"""

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Amount, Instant
from slackwater.judge.rules import RuleInForce
from slackwater.judge.states import Mark, Needed, Patience, Phase, RuleState, adopt, step
from slackwater.metrics.reading import Element, Reading, Readings, is_fresh

NAMED = 3


class Change(Enum):
    """What happened to a rule in this tick and is worth an event."""

    ACTIVATED = "activated"
    ENDED = "ended"
    STALE = "stale"  # nothing has been known of its metric for staleSeconds
    RELEASED = "released"  # ... for unknownReleaseSeconds: it ends as if all were good


class Verdict(Struct, frozen=True, kw_only=True):
    rule: RuleInForce
    state: RuleState
    counted: bool = False  # this tick had a newer sample for it
    value: Amount | None = None  # the largest element; None: missing
    still_missing: bool = (
        False  # at the tick before too: the first sample of a process gives no rate, and proves nothing
    )
    changes: tuple[Change, ...] = ()
    victims: tuple[str, ...] = ()  # uids of the pods that are hurt, where the rule can tell
    reason: str = ""

    @property
    def acts(self) -> bool:
        """Active, and found bad by a sample that has not been acted on: the only moment at which a step is taken."""
        return self.state.phase is Phase.ACTIVE and self.counted and self.state.bad_now

    @property
    def missing(self) -> bool:
        return self.state.unknown_since is not None


def is_blind(verdict: Verdict) -> bool:
    """Active, and its metric has gone missing. One that was recovering had last been good: it takes no step."""
    return verdict.state.phase is Phase.ACTIVE and verdict.still_missing


def judge(
    rules: Sequence[RuleInForce],
    states: Sequence[RuleState],
    readings: Readings,
    now: Instant,
    patience: Patience,
    *,
    sampled: bool = True,
) -> tuple[Verdict, ...]:
    """
    Rules with an error are not judged and keep no state; what was theirs is gone as if they were deleted. A tick that
    was woken early (`sampled` False) counts nothing, not even for a rule that is new.
    """
    ready = [rule for rule in rules if not rule.error]
    return tuple(
        _judged(rule, state, readings.read(rule.rule.metric or ""), now, patience, sampled=sampled)
        for rule, state in zip(ready, adopt(states, ready), strict=True)
    )


def _judged(
    rule: RuleInForce, state: RuleState, reading: Reading | None, now: Instant, patience: Patience, *, sampled: bool
) -> Verdict:
    elements = selected(rule, reading)
    if reading is None or not elements or not is_fresh(reading, now, rule.cache_ttl):
        after = step(state, Mark.UNKNOWN, now, _needed(rule), patience)
        verdict = Verdict(rule=rule, state=after, still_missing=state.unknown_since is not None)
        return _told(verdict, state, now, patience)
    value = max(element.value for element in elements)
    if not sampled or (state.counted_at is not None and reading.at <= state.counted_at):
        return Verdict(rule=rule, state=state, value=value)
    after = step(state, threshold(rule, value), now, _needed(rule), patience)
    after = replace(after, counted_at=reading.at, value=value)
    verdict = Verdict(rule=rule, state=after, counted=True, value=value, reason=_reason(rule, elements, reading))
    return _told(verdict, state, now, patience)


def selected(rule: RuleInForce, reading: Reading | None) -> tuple[Element, ...]:
    """The elements that the rule speaks of; one without labels is of the whole node, and always among them."""
    selector = rule.rule.selector
    if reading is None or selector is None:
        return reading.elements if reading else ()
    return tuple(one for one in reading.elements if not one.labels or selector.matches(one.labels))


def _reason(rule: RuleInForce, elements: Iterable[Element], reading: Reading) -> str:
    beside = "" if reading.beside is None else f"the whole node {reading.beside:.3g}"
    return ", ".join(filter(None, (_who(rule, elements), beside)))


def _who(rule: RuleInForce, elements: Iterable[Element]) -> str:
    """Of a metric with labels: the largest elements that are above the waterline."""
    above = [e for e in elements if e.labels and rule.rule.value is not None and e.value > rule.rule.value]
    largest = sorted(above, key=lambda element: (-element.value, sorted(element.labels.items())))[:NAMED]
    return ", ".join(f"{'/'.join(element.labels.values())} {element.value:.3g}" for element in largest)


def threshold(rule: RuleInForce, value: Amount) -> Mark:
    """Strictly above is bad."""
    return Mark.BAD if rule.rule.value is not None and value > rule.rule.value else Mark.GOOD


def _needed(rule: RuleInForce) -> Needed:
    return Needed(bad=rule.rule.avoidance_threshold, good=rule.rule.restore_threshold)


def _told(verdict: Verdict, before: RuleState, now: Instant, patience: Patience) -> Verdict:
    after = verdict.state
    stale = after.unknown_since is not None and now - after.unknown_since >= patience.stale and not after.stale_told
    happened = {
        Change.ACTIVATED: after.phase is Phase.ACTIVE and not before.engaged,
        Change.ENDED: before.engaged and not after.engaged,
        Change.STALE: stale,
        Change.RELEASED: before.engaged and after.released_blind,
    }
    changes = tuple(change for change, did in happened.items() if did)
    return replace(verdict, changes=changes, state=replace(after, stale_told=after.stale_told or stale))
