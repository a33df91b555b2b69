"""
Acts that took nothing, tick after tick, as one.

A rule that stays bad while nobody is left to squeeze acts at every tick and takes nothing each time. The journal keeps
them all; whoever reads wants to hear it once, with how often and from when to when.
"""

from collections.abc import Iterable

from msgspec import Struct

from slackwater.api.units import Wall
from slackwater.decide.plan import ActionKind, Decision

TO_PODS = frozenset({ActionKind.THROTTLE, ActionKind.RESTORE, ActionKind.EVICT})

Key = tuple[object, ...]


class Fold(Struct, frozen=True):
    """One decision, or several that were the same but for the figures."""

    decisions: tuple[Decision, ...]  # never empty

    @property
    def newest(self) -> Decision:
        return self.decisions[-1]

    @property
    def first(self) -> Wall:
        return self.decisions[0].at

    @property
    def count(self) -> int:
        return len(self.decisions)


def folded(decisions: Iterable[Decision]) -> list[Fold]:
    """
    In the order of the first of each. Whatever does something ends every fold before it, so that nothing is told
    before what led to it.
    """
    folds: list[Fold] = []
    still: dict[Key, int] = {}
    for decision in decisions:
        key = _key(decision)
        place = still.get(key)
        if not _took_nothing(decision):
            still = {}
            folds.append(Fold((decision,)))
        elif place is not None and _goes_on(folds[place].newest, decision):
            folds[place] = Fold((*folds[place].decisions, decision))
        else:
            still[key] = len(folds)
            folds.append(Fold((decision,)))
    return folds


def _took_nothing(decision: Decision) -> bool:
    return decision.action in TO_PODS and not decision.operations


def _key(decision: Decision) -> Key:
    return (decision.action, decision.preview, decision.policy, decision.rule, decision.metric, decision.stopped)


def _goes_on(before: Decision, after: Decision) -> bool:
    """Whether the rule stayed bad in between: its count grew, or stayed because nothing was known."""
    return after.bad_ticks > before.bad_ticks or (after.bad_ticks == before.bad_ticks and after.value is None)
