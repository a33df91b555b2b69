"""
The pods of a scenario as they come and go: they arrive, leave, are evicted, and return when the node is open.

A place is one replica of a workload; at most one pod stands in it. What a place wanted is counted whether a pod is there to want it or not: so much work would have been done if
nobody had held it back, and two ways of holding back can be compared.
"""

from collections.abc import Sequence

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Bytes, Seconds
from slackwater.sim.demand import Demand, constant
from slackwater.sim.node import Placed
from slackwater.sim.result import Work
from slackwater.sim.workloads import Workload
from slackwater.sim.world import OF_A_POD, Simulation

NOTHING = constant(0.0)


class Place(Struct):
    workload: int
    pod: Pod  # as the scenario has it
    cpu: Demand
    memory: Bytes | Demand
    arrives: Seconds
    leaves: Seconds | None
    returns: Seconds | None
    standing: Placed | None = None
    comes_at: Seconds | None = None  # None: nobody is to come
    gone: bool = False  # its time is over
    wanted: float = 0.0  # core seconds, while nobody stood here
    wanted_before: float = 0.0  # by those who stood here
    got_before: float = 0.0

    @property
    def work(self) -> Work:
        now = self.standing
        wanted = self.wanted + self.wanted_before + (now.wanted if now else 0.0)
        return Work(wanted, self.got_before + (now.got if now else 0.0))


class Population:
    def __init__(self, simulation: Simulation, workloads: Sequence[Workload]) -> None:
        self._simulation = simulation
        self._workloads = workloads
        self._places = [_place(index, one, pod) for index, one in enumerate(workloads) for pod in one.pods]
        self._asked = 0  # evictions that have been taken note of

    def before(self, tick: Seconds) -> None:
        """The next interval is about to begin."""
        now = self._simulation.clock.elapsed
        evicted = {one.pod.uid for one in self._simulation.cluster.evictions[self._asked :]}
        self._asked = len(self._simulation.cluster.evictions)
        for place in self._places:
            self._note_eviction(place, evicted, now)
            if not place.gone and place.leaves is not None and now >= place.leaves:
                self._leave(place)
            if place.standing is not None and not self._simulation.node.runs(place.standing.pod.uid):
                _cleared(place)
            if place.standing is None and not place.gone:
                self._come(place, now)
            if place.standing is None and not place.gone and now >= place.arrives:
                place.wanted += place.cpu(now) * tick / 1_000

    def work(self) -> dict[str, Work]:
        return {
            workload.name: Work(sum(one.wanted for one in works), sum(one.got for one in works))
            for index, workload in enumerate(self._workloads)
            for works in [[place.work for place in self._places if place.workload == index]]
        }

    def got(self) -> tuple[float, ...]:
        """Core seconds so far, by workload."""
        return tuple(work.got for work in self.work().values())

    def _note_eviction(self, place: Place, evicted: set[str], now: Seconds) -> None:
        if evicted and place.standing is not None and place.standing.pod.uid in evicted:
            place.comes_at = None if place.returns is None else Seconds(now + place.returns)

    def _come(self, place: Place, now: Seconds) -> None:
        if place.comes_at is None or now < place.comes_at:
            return
        if place.comes_at > place.arrives and self._simulation.cluster.scheduling.disabled:
            return
        pod = self._simulation.add(place.pod, place.cpu, place.memory)
        place.standing = self._simulation.node.placed(pod.uid)
        place.comes_at = None

    def _leave(self, place: Place) -> None:
        place.gone = True
        if place.standing is not None and self._simulation.node.runs(place.standing.pod.uid):
            self._simulation.remove_pod(place.standing.pod.uid)


def _place(index: int, workload: Workload, pod: Pod) -> Place:
    return Place(
        workload=index,
        pod=pod,
        cpu=NOTHING if workload.cpu is None else workload.cpu.of(pod.key),
        memory=OF_A_POD if workload.memory is None else workload.memory.of(f"{pod.key} memory"),
        arrives=workload.arrives,
        leaves=workload.leaves,
        returns=workload.returns,
        comes_at=workload.arrives,
    )


def _cleared(place: Place) -> None:
    if place.standing is not None:
        place.wanted_before += place.standing.wanted
        place.got_before += place.standing.got
        place.standing = None
