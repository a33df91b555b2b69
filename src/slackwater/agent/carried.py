"""
What the agent holds between two ticks, as one value.

Only `memory` outlives the process; the rest is read or computed anew at the start: samples, the rules in force (made
when the view changes, not at every tick), and which marks are ours.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from slackwater.agent.auditing import Audit
from slackwater.agent.edges import Package
from slackwater.agent.marks import Ours
from slackwater.decide.memory import Memory
from slackwater.decide.plan import Decision
from slackwater.decide.settings import Settings
from slackwater.judge.rules import RuleInForce
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.samples import SampleReadings
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.usage import Capacity, Frames
from slackwater.snapshot.view import View


class Carried(Struct, frozen=True, kw_only=True):
    memory: Memory = Memory()
    ours: Ours = Ours()
    frames: Frames = Frames()
    readings: SampleReadings = SampleReadings()
    view: View | None = None
    capacity: Capacity | None = None
    rules: tuple[RuleInForce, ...] = ()
    following: tuple[PodGroups, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    last_action: Decision | None = None
    told: frozenset[str] = frozenset()  # problems and troubles that have been said
    packages: tuple[Package, ...] = ()
    faults: Mapping[str, str] = {}  # what is wrong with packages' metrics now, by metric
    status: bytes = b""
    audit: Audit = Audit()
    journal_holds: bool = True  # the last commit succeeded


class Given(Struct, frozen=True, kw_only=True):
    """What a tick was given beside what the host and the cluster showed: with it a decision can be computed again."""

    mode: str
    mode_why: str
    capacity: Capacity
    settings: Settings
    stuck: tuple[GroupId, ...] = ()
    backend: str  # by which weights follow from shares


class Page(Struct, frozen=True):
    """What the journal keeps of a tick for the next one, and for replay."""

    memory: Memory
    given: Given | None = None  # None: no tick but a farewell, after which nothing is claimed


def encoded(page: Page) -> bytes:
    # Sets have no order of their own: the same page must be the same bytes in every process.
    return msgspec.json.encode(page, order="deterministic")


def decoded(text: bytes) -> Page:
    """Raises msgspec.MsgspecError on what no version of ours wrote."""
    return msgspec.json.decode(text, type=Page)
