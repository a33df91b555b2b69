"""
The machine with CPU counters that are told: nothing runs in the groups, and yet some pods can be said to use much.

Everything else (settings, marks, writes, the other counters) is the kernel's. It also notes when a sample ended and when a quota was last written, by the wall and by CPU time.
"""

import time
from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from scene.clock import TICK_SECONDS
from slackwater.api.units import Nanoseconds, Shares
from slackwater.host.edge import Survey
from slackwater.host.machine import Machine
from slackwater.snapshot.counters import CpuTimes, HostSample
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, Mark, Settings, Value

OTHERS_MILLICORES = 40  # each
CALM_MILLICORES, HOT_MILLICORES = 100, 1_000  # each of those that are to be throttled


class Told:
    """The machine, with counters that are told and an eye on the clock."""

    def __init__(self, machine: Machine, hungry: Collection[str]) -> None:
        self._machine = machine
        self._hungry = hungry  # uids of pods
        self._used: dict[GroupId, float] = {}
        self.hot = False
        self.sampled = self.written = (0.0, 0.0)  # wall and CPU time
        self.quotas = 0

    def sample(self, closely: Collection[GroupId] = ()) -> HostSample:
        seen = self._machine.sample(closely)
        for group in seen.groups:
            self._used[group] = self._used.get(group, 0.0) + self._rate(group) * TICK_SECONDS * 1e6
        groups = {group: replace(one, cpu=Nanoseconds(int(self._used[group]))) for group, one in seen.groups.items()}
        idle = Nanoseconds(0)
        total = CpuTimes(Nanoseconds(int(sum(self._used.values()))), idle, idle, idle, idle, idle, idle, idle)
        told = replace(seen, groups=groups, node=replace(seen.node, cpu=total))
        self.sampled = moment()
        return told

    def write(self, group: GroupId, knob: Knob, value: Value) -> None:
        self._machine.write(group, knob, value)
        if knob is Knob.QUOTA:
            self.written = moment()
            self.quotas += 1

    def _rate(self, group: GroupId) -> int:
        if group.pod not in self._hungry:
            return OTHERS_MILLICORES
        return HOT_MILLICORES if self.hot else CALM_MILLICORES

    def survey(self) -> Survey:
        return self._machine.survey()

    def follow(self, pods: Iterable[PodGroups]) -> None:
        self._machine.follow(pods)

    def settings(self, group: GroupId) -> Settings:
        return self._machine.settings(group)

    def weight_of(self, shares: Shares) -> int:
        return self._machine.weight_of(shares)

    def mark(self, group: GroupId) -> Mark | None:
        return self._machine.mark(group)

    def set_mark(self, group: GroupId, mark: Mark | None) -> None:
        self._machine.set_mark(group, mark)

    def marks(self) -> Mapping[GroupId, Mark]:
        return self._machine.marks()

    def close(self) -> None:
        self._machine.close()


def moment() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()
