"""
A claim is a value: what one component wants of one knob of one container, or of the pod itself, and because of which
rules.

Nobody writes to a cgroup for a reason of its own: components claim, `claims.desired` merges, one reconciler writes. To
give back is to drop the claim. A claim names its container by the pod's uid and the container's name, so it outlives a
restart of the container.
"""

from enum import Enum

from msgspec import Struct

from slackwater.api.units import Instant, Millicores, Shares
from slackwater.snapshot.knobs import Knob


class Kind(Enum):
    CAP = "cap"  # no more than this
    REPLACE = "replace"  # this instead of the base


class Source(Enum):
    """Who claims. Between two that replace, the one that stands first here wins."""

    LIFT = "lift"
    THROTTLE = "throttle"
    YIELD = "yield"


PRECEDENCE = tuple(Source)


class Claim(Struct, frozen=True, kw_only=True):
    pod: str  # uid
    container: str = ""  # its name; empty: the pod's own group
    knob: Knob
    kind: Kind
    source: Source
    quota: Millicores | None = None  # of a quota claim
    shares: Shares | None = None  # of a weight claim
    cause: str  # for people: "policy waterline2, rule cpu-usage"


class Throttled(Struct, frozen=True, kw_only=True):
    """
    A throttle on one container, as it is carried from tick to tick; its quota claim, and the pod's yield, follow from
    it.

    `reference` is what the ratios are counted from. For a container without a limit it is the mean usage that made the
    rule active, and is kept here, for once squeezed nobody can tell it.
    """

    pod: str  # uid
    container: str
    quota: Millicores
    reference: Millicores
    floor: Millicores
    weight: bool  # its pod yields, if it is offline work
    causes: tuple[str, ...]  # ids of the rules behind it
    since: Instant
    starved_at: Instant  # when its quota last stopped it

    @property
    def where(self) -> tuple[str, str]:
        return (self.pod, self.container)
