"""
The knobs: what can be set on a group, what stands there, and the mark that says which of it is ours.

A mark lies on the group itself (an extended attribute), from before the first write until the knob is back at its base.
It says per knob what the base was and what stood there before and after our last write, so that after a crash ours is
never taken for another's, and losing every file of ours loses nothing.
"""

from enum import StrEnum

from msgspec import Struct

from slackwater.api.units import Microseconds


class Knob(StrEnum):
    QUOTA = "quota"  # on container groups only
    WEIGHT = "weight"  # on pod groups only


class Quota(Struct, frozen=True):
    """CPU time per period; None is unlimited."""

    time: Microseconds | None
    period: Microseconds = Microseconds(100_000)


Value = int | None
"""A knob's value as the kernel's file has it: microseconds of quota in the period that stands there (None: unlimited), or the weight."""


class KnobMark(Struct, frozen=True, kw_only=True, omit_defaults=True):
    base: Value  # what the knob goes back to
    remembered: bool = False  # the base was found there and cannot be computed from the pod
    before: Value = None  # what stood there before our last write
    after: Value = None  # what our last write put there
    cause: str = ""


class Mark(Struct, frozen=True):
    """Everything of a group that is ours, by knob."""

    knobs: dict[Knob, KnobMark] = {}

    def with_knob(self, knob: Knob, mark: KnobMark) -> "Mark":
        return Mark({**self.knobs, knob: mark})

    def without(self, knob: Knob) -> "Mark":
        return Mark({k: v for k, v in self.knobs.items() if k is not knob})


class Settings(Struct, frozen=True):
    """What stands in a group's files now; None: this group has no such knob, or it could not be read."""

    quota: Quota | None = None
    weight: int | None = None
