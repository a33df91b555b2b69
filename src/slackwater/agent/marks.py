"""
What of the host is ours, as the agent knows it between ticks: the marks, and the trouble there is with single knobs.

The marks on the groups themselves are the truth; this is read from them at the start and kept in step by the only one
who writes them. A group that cannot carry a mark has it here, and it counts from when the journal has it.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Instant, Seconds
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob, KnobMark, Mark

TOLD_AFTER = 3
FIRST_BACKOFF = Seconds(20)
LONGEST_BACKOFF = Seconds(300)

Place = tuple[GroupId, Knob]


class Trouble(Struct, frozen=True):
    """A knob that somebody else writes, or that the kernel refuses, at consecutive ticks."""

    count: int = 0
    next_try: Instant = Instant(0.0)
    wait: Seconds = FIRST_BACKOFF


class Ours(Struct, frozen=True, kw_only=True):
    marks: dict[GroupId, Mark] = {}
    unmarkable: frozenset[GroupId] = frozenset()  # their marks are in the journal instead
    kept: dict[Place, KnobMark] = {}  # of those: what the journal has committed
    settled: frozenset[Place] = frozenset()  # whose last write is known to have been made
    troubles: dict[Place, Trouble] = {}

    def knob(self, group: GroupId, knob: Knob) -> KnobMark | None:
        """
        What the mark says of a knob. Only a mark that was found may be one whose write never came, so that what stood
        there before still counts as ours; of our own writes we know, and the same value found later is another's.
        """
        mark = self.marks.get(group)
        found = mark.knobs.get(knob) if mark else None
        return replace(found, before=found.after) if found and (group, knob) in self.settled else found


def again(trouble: Trouble, now: Instant) -> Trouble:
    """One more tick of it; from the third on the next try waits, longer each time."""
    count = trouble.count + 1
    if count < TOLD_AFTER:
        return Trouble(count, now, trouble.wait)
    return Trouble(count, Instant(now + trouble.wait), Seconds(min(2 * trouble.wait, LONGEST_BACKOFF)))


def stuck(ours: Ours) -> frozenset[GroupId]:
    """Containers of which nothing can be expected: what was written last did not stay, or was refused."""
    return frozenset(group for (group, knob), trouble in ours.troubles.items() if knob is Knob.QUOTA and trouble.count)


def journalled(ours: Ours) -> dict[str, Mark]:
    """What the journal must keep because the groups cannot."""
    return {f"{group.pod}/{group.container}": ours.marks[group] for group in ours.unmarkable if group in ours.marks}


def recalled(found: Mapping[GroupId, Mark], kept: Mapping[str, Mark]) -> Ours:
    """At the start: what the groups say, and what the journal says of those that cannot."""
    recorded = {GroupId(*name.split("/", 1)): mark for name, mark in kept.items()}
    unmarkable = frozenset(recorded) - frozenset(found)
    return Ours(marks={**recorded, **found}, unmarkable=unmarkable, kept=_knobs(recorded))


def committed(ours: Ours) -> Ours:
    """After a commit that had them: these knobs may be written, to exactly what their marks say."""
    kept = _knobs({group: ours.marks[group] for group in ours.unmarkable if group in ours.marks})
    return ours if kept == ours.kept else replace(ours, kept=kept)


def _knobs(marks: Mapping[GroupId, Mark]) -> dict[Place, KnobMark]:
    return {(group, knob): one for group, mark in marks.items() for knob, one in mark.knobs.items()}
