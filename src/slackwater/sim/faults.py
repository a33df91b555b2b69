"""
Everything the agent does to a simulated world goes past here first, counted, so that anything can happen at any of it: the agent dies, the kernel refuses, the container is gone.

Host, cluster and journal are the in-memory ones, with this one step before each of their writes. What happens there is for whoever runs the simulation to say; without a word
from them it is nothing.
"""

import errno
import os
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Seconds
from slackwater.cluster.edge import Event
from slackwater.cluster.twin import TwinCluster
from slackwater.decide.plan import EvictionAnswer, Measurement, Scheduling
from slackwater.host.edge import Refused
from slackwater.host.twin import Twin
from slackwater.journal.edge import Entry
from slackwater.sim.journal import MemoryJournal
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob, Mark, Value


class Died(BaseException):
    """The agent's process ends here, as by SIGKILL; nothing in it may take this for a tick that failed."""


class Kind(StrEnum):
    WRITE = "write"
    MARK = "mark"
    COMMIT = "commit"
    AMEND = "amend"
    SCHEDULING = "scheduling"
    EVICT = "evict"
    EVENT = "event"
    STATUS = "status"


class Effect(Struct, frozen=True):
    """One thing that the agent is about to do."""

    number: int  # since the count began; the first is 1
    kind: Kind
    group: GroupId | None = None


Before = Callable[[Effect], None]


def nothing(effect: Effect) -> None:
    del effect


class Faults:
    def __init__(self) -> None:
        self.count = 0
        self.before: Before = nothing

    def begin(self, before: Before = nothing) -> None:
        """Counts from 1 again; from now on `before` is asked."""
        self.count = 0
        self.before = before

    def pass_by(self, kind: Kind, group: GroupId | None = None) -> None:
        self.count += 1
        self.before(Effect(self.count, kind, group))


def death_before(number: int) -> Before:
    """The agent dies between the effect before this one and this one."""

    def die(effect: Effect) -> None:
        if effect.number == number:
            raise Died(f"before {effect.kind.value} {effect.group or ''}")

    return die


def refusal_of(number: int, answer: int = errno.EINVAL) -> Before:
    """The kernel refuses that one, where it is a write or a mark."""

    def refuse(effect: Effect) -> None:
        if effect.number == number and effect.kind in {Kind.WRITE, Kind.MARK}:
            raise Refused(answer, f"{effect.kind.value} of {effect.group}: {os.strerror(answer)}")

    return refuse


class FallibleHost(Twin):
    faults: Faults

    def write(self, group: GroupId, knob: Knob, value: Value) -> None:
        self.faults.pass_by(Kind.WRITE, group)
        super().write(group, knob, value)

    def set_mark(self, group: GroupId, mark: Mark | None) -> None:
        self.faults.pass_by(Kind.MARK, group)
        super().set_mark(group, mark)


class FallibleCluster(TwinCluster):
    faults: Faults

    def set_scheduling(self, wanted: Scheduling) -> None:
        if wanted != self.scheduling:
            self.faults.pass_by(Kind.SCHEDULING)
        super().set_scheduling(wanted)

    def evict(self, pod: Pod, grace: Seconds | None, why: str) -> EvictionAnswer:
        self.faults.pass_by(Kind.EVICT)
        return super().evict(pod, grace, why)

    def emit(self, event: Event) -> None:
        self.faults.pass_by(Kind.EVENT)
        super().emit(event)

    def publish(self, status: bytes) -> None:
        self.faults.pass_by(Kind.STATUS)
        super().publish(status)


class FallibleJournal(MemoryJournal):
    faults: Faults

    def commit(self, entry: Entry) -> None:
        self.faults.pass_by(Kind.COMMIT)
        super().commit(entry)

    def amend(self, measurements: tuple[Measurement, ...]) -> None:
        self.faults.pass_by(Kind.AMEND)
        super().amend(measurements)
