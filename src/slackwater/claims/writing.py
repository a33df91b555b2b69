"""
What is to be done to one knob: nothing, a write, or a restoration; and what the mark says before and after.

The mark is what makes this safe. It holds what stood there before and after our last write, so a value found later is
ours or somebody else's, and a crash between the mark and the write, or between the write and the next tick, is told
apart from both. A knob without a claim and without a mark is never touched.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.claims.desired import Wanted, cause_of, desired
from slackwater.snapshot.knobs import KnobMark, Value


class Computed(Struct, frozen=True):
    """A base that can be computed. Where there is none of these, what was found is the base."""

    value: Value


class Act(Struct, frozen=True, kw_only=True):
    """
    First the mark is set (where there is one), then the value is written (where `writes`), then, if no mark is to stay,
    it is taken away.

    That order is the crash rule: nothing of ours ever stands in a group that does not say so.
    """

    mark: KnobMark | None = None
    writes: bool = False
    value: Value = None
    before: Value = None
    unmark: bool = False
    foreign: bool = False  # what stood there was not ours and not the base: somebody wrote over it
    differs: bool = False  # before our first write the file held something else than kubelet would have set


NOTHING_TO_DO = Act()


def act_on(found: Value, claims: Sequence[Wanted], mark: KnobMark | None, computed: Computed | None) -> Act:
    if not claims:
        return NOTHING_TO_DO if mark is None else _give_back(found, mark, computed)
    if mark is None:
        return _first_write(found, claims, computed)
    return _hold(found, claims, mark, computed)


def _first_write(found: Value, claims: Sequence[Wanted], computed: Computed | None) -> Act:
    remembered = computed is None or computed.value != found
    value = desired(found, claims)
    differs = computed is not None and computed.value != found
    if value == found:
        return Act(differs=differs)
    mark = KnobMark(base=found, remembered=remembered, before=found, after=value, cause=cause_of(claims))
    return Act(mark=mark, writes=True, value=value, before=found, differs=differs)


def _is_ours(found: Value, mark: KnobMark) -> bool:
    return found in {mark.before, mark.after}


def _rebased(found: Value, mark: KnobMark, computed: Computed | None) -> KnobMark:
    """
    The mark with the base as it is now: computed anew, unless it had to be remembered; and what another wrote over it
    is then the new one.
    """
    if not _is_ours(found, mark) and mark.remembered:
        return replace(mark, base=found, remembered=computed is None or computed.value != found)
    if not mark.remembered and computed is not None:
        return replace(mark, base=computed.value)
    return mark


def _hold(found: Value, claims: Sequence[Wanted], mark: KnobMark, computed: Computed | None) -> Act:
    now = _rebased(found, mark, computed)
    foreign = not _is_ours(found, mark)
    value = desired(now.base, claims)
    if value == now.base:
        return replace(_give_back(found, now, computed), foreign=foreign)
    if value == found:
        return Act(mark=None if now == mark else now)
    return Act(
        mark=replace(now, before=found, after=value, cause=cause_of(claims)),
        writes=True,
        value=value,
        before=found,
        foreign=foreign,
    )


def _give_back(found: Value, mark: KnobMark, computed: Computed | None) -> Act:
    now = _rebased(found, mark, computed)
    if found == now.base or not _is_ours(found, mark):
        # Back already, or another's by now: what is not ours is not put right by us.
        return Act(unmark=True)
    return Act(writes=True, value=now.base, before=found, unmark=True)
