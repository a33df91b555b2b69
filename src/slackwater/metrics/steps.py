"""
What a metric with functions of its own says of one step on one pod: which quotas it would claim, and what that releases.

A step is told, never taken: it is bounded by the floors that hold for everybody, cut to what a gap needs, claimed,
logged and written by the house. What it releases of CPU is not asked for: that follows from the quotas.
"""

from collections.abc import Mapping

from msgspec import Struct

from slackwater.api.units import Amount, Millicores


class Standing(Struct, frozen=True, kw_only=True):
    """A container before a step, with what earlier steps of the same tick have left it."""

    container: str  # its name
    usage: Millicores  # over the newest interval
    level: Millicores  # from where the step counts: its quota, or what it uses on average if that is less
    floor: Millicores  # no quota is set below it, whatever a step says
    step: Millicores  # what one step of the rule's ratio would be
    reference: Millicores  # what 100 % of the ratios is: its limit, or its mean usage


class Step(Struct, frozen=True, kw_only=True):
    """A quota for each container that is to change; and how much of each metric that releases (giving back: takes)."""

    quotas: Mapping[str, Millicores]
    amounts: Mapping[str, Amount] = {}


def down(standings: tuple[Standing, ...]) -> dict[str, Millicores]:
    """Every container down by one step of the rule's ratio."""
    return {one.container: Millicores(max(one.floor, one.level - one.step)) for one in standings}


def up(standings: tuple[Standing, ...]) -> dict[str, Millicores]:
    """Every container up by one step of the rule's ratio."""
    return {one.container: Millicores(one.level + one.step) for one in standings}
