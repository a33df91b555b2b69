"""
Faults of a scenario, done to its simulation at the looks of the agent that they concern.

A fault is asked at every look whether it holds, so what it does is put right again by asking alone: a pod that comes back under its name is hidden too, and what ends leaves
nothing behind. The seed says between which two writes an agent dies; the same seed, the same death.
"""

import errno
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from slackwater.api.objects import Policy
from slackwater.api.units import Seconds
from slackwater.sim.faults import death_before
from slackwater.sim.gates import Gate
from slackwater.sim.mishaps import Fault, FaultKind
from slackwater.sim.world import Simulation
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob
from slackwater.snapshot.usage import groups_of

ROUND_THE_TICK = 2  # a death may also come after the last write of a tick like the one before


class Inflictor:
    """Told before each look, and after it."""

    def __init__(self, simulation: Simulation, faults: Sequence[Fault], gates: Mapping[str, Gate], seed: int) -> None:
        self.agent_runs = True
        self.refuses = False  # somebody's writes are refused now
        self._simulation = simulation
        self._left = sorted(faults, key=lambda fault: fault.at)
        self._standing: list[Fault] = []
        self._seed = seed
        self._gates = gates
        self._effects = 0  # of the look before
        self._dies = False
        self._loses = False

    def before(self, at: Seconds) -> tuple[Fault, ...]:
        """The agent is about to look, at this moment; what began to hold comes back."""
        begun = []
        while self._left and self._left[0].at <= at:
            begun.append(self._left.pop(0))
        ended = [fault for fault in self._standing if not fault.holds(at)]
        if begun or ended or self._standing:
            self._standing = [fault for fault in (*self._standing, *begun) if fault.holds(at)]
            for fault in ended:
                self._apply(fault, holds=False)
            self._still(at)
        for fault in begun:
            self._once(fault)
        return tuple(begun)

    def after(self) -> None:
        faults = self._simulation.faults
        self._effects = faults.count
        if self._dies:
            # Where the tick had fewer writes than were counted on, it dies after its last.
            self._simulation.kill()
            self._dies = False
        if self._loses:
            # Also what the tick itself wrote: an agent that died in it must find nothing.
            self._simulation.journal.lose()
            self._loses = False
        faults.begin()

    def lift(self) -> None:
        """Nothing goes wrong any more."""
        for fault in self._standing:
            self._apply(fault, holds=False)
        self._left, self._standing = [], []

    def _still(self, at: Seconds) -> None:
        """What holds now, again: who it concerns may have come since."""
        away = any(fault.kind is FaultKind.AGENT_AWAY for fault in self._standing)
        if away and self.agent_runs:
            self._simulation.kill()
        self.agent_runs = not away
        self.refuses = any(fault.kind is FaultKind.WRITE_REFUSED for fault in self._standing)
        for fault in self._standing:
            self._apply(fault, holds=fault.holds(at))

    def _apply(self, fault: Fault, *, holds: bool) -> None:
        match fault.kind:
            case FaultKind.MISSING_USAGE:
                for uid in self._uids(fault):
                    self._simulation.node.placed(uid).hidden = holds
            case FaultKind.MISSING_METRIC:
                self._gates[fault.metric].shut = holds
            case FaultKind.WRITE_REFUSED:
                for uid in self._uids(fault):
                    self._refuse(uid, errno.EINVAL if holds else None)
            case FaultKind.EVICTION_REFUSED:
                for uid in self._uids(fault):
                    if holds:
                        self._simulation.cluster.refuse_evictions(uid)
                    else:
                        self._simulation.cluster.refusing.pop(uid, None)
            case _:
                pass

    def _once(self, fault: Fault) -> None:
        match fault.kind:
            case FaultKind.POLICY_DELETED:
                self._simulation.delete_policy(fault.policy)
            case FaultKind.POLICY_CHANGED:
                if any(isinstance(one, Policy) for one in fault.to):
                    self._simulation.delete_policy(fault.policy)
                self._simulation.put(*fault.to)
            case FaultKind.CLOCK_JUMP:
                self._simulation.clock.jump(fault.by)
            case FaultKind.JOURNAL_LOST:
                self._simulation.journal.lose()
                self._loses = True
            case FaultKind.AGENT_CRASH:
                self._dies = True
                self._simulation.faults.begin(death_before(self._number(fault)))
            case _:
                pass

    def _number(self, fault: Fault) -> int:
        """Which of the tick's writes it does not live to see."""
        drawn = blake2b(f"{self._seed}/{fault.at}".encode(), digest_size=8).digest()
        return 1 + int.from_bytes(drawn, "big") % (self._effects + ROUND_THE_TICK)

    def _uids(self, fault: Fault) -> list[str]:
        return [pod.uid for pod in self._simulation.node.pods if pod.key == fault.pod]

    def _refuse(self, uid: str, answer: int | None) -> None:
        host, pod = self._simulation.host, self._simulation.node.placed(uid).pod
        host.refuse(GroupId(uid), Knob.WEIGHT, answer)
        for _, group in groups_of(pod):
            host.refuse(group, Knob.QUOTA, answer)
