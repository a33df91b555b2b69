"""
A scenario, run: tick after tick pods come and go, things go wrong, the agent looks, and what came of it is taken down.

The agent is the real one and never knows that it is simulated. The result is one frozen value; the same scenario gives the same one, whatever the machine and however often.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

from slackwater.api.objects import AvoidanceAction, Pod
from slackwater.api.units import Seconds
from slackwater.judge.rules import RuleInForce, rules_in_force
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.metric import Catalogue
from slackwater.sim.account import Reversals
from slackwater.sim.gates import gates_for, through
from slackwater.sim.hearing import Hearing
from slackwater.sim.inflicting import Inflictor
from slackwater.sim.population import Population
from slackwater.sim.promises import Promises
from slackwater.sim.result import AtEnd, Moment, Point, Result, Waterline
from slackwater.sim.scenario import Manifests, Scenario
from slackwater.sim.world import Simulation
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

FAULT = "fault"
POINTS = 600  # of a picture, at most
SHORTEST_WAIT_TICKS = 3
UNMOVED = frozenset(
    {"cpu_load_1m", "cpu_load_5m", "cpu_load_15m"}
    | {f"disk_{what}" for what in ("read_rate", "write_rate", "busy")}
    | {f"network_{what}_rate" for what in ("receive", "transmit")}
    | {f"{of}_pressure_{how}_10s" for of in ("memory", "io") for how in ("some", "full")}
)
"""Metrics that a simulated node does not have."""
CORES: Mapping[str, float] = MappingProxyType({"cpu_total_usage": 1 / 1000, "cpu_total_utilization": 1 / 100})
"""What one of a metric's unit is: of cores, or of all the node's."""


def run(scenario: Scenario, policies: Manifests | None = None, catalogue: Catalogue = BUILTIN) -> Result:
    """`policies` stand in place of the scenario's own."""
    return _Run(scenario, policies or scenario.policies, catalogue).result()


class _Run:
    def __init__(self, scenario: Scenario, policies: Manifests, catalogue: Catalogue) -> None:
        self.scenario = scenario
        self.policies = policies
        gates = gates_for(catalogue, scenario.faults)
        self.simulation = Simulation(
            cpu=scenario.cpu,
            memory=scenario.memory,
            node=scenario.node,
            configuration=scenario.configuration,
            start=scenario.start,
            catalogue=through(catalogue, gates),
        )
        self.simulation.put(*(one for one in policies.objects if not isinstance(one, Pod)))
        self.population = Population(self.simulation, scenario.workloads)
        self.inflictor = Inflictor(self.simulation, scenario.faults, gates, scenario.seed)
        self.hearing = Hearing(self.simulation)
        self.promises = Promises(self.simulation)
        self.reversals = Reversals(self._longest_wait())
        self.above: dict[str, Seconds] = {}
        self.waterlines: dict[str, Waterline] = {}
        self.faults: list[Moment] = []
        self.points: list[Point] = []
        self._rules: tuple[RuleInForce, ...] = ()
        self._view: View | None = None

    def result(self) -> Result:
        stride = max(1, math.ceil(self.scenario.ticks / POINTS))
        for number in range(1, self.scenario.ticks + 1):
            self._tick()
            if number % stride == 0 or number == self.scenario.ticks:
                self._draw()
        at_end = self._at_end()
        rows, moments = tuple(self.hearing.rows()), tuple(self.hearing.moments())
        released = self.hearing.released()
        work = self.population.work()
        self.inflictor.lift()
        self.promises.end()
        return Result(
            name=self.scenario.name,
            policies=self.policies.name,
            seed=self.scenario.seed,
            tick=self.scenario.tick,
            ticks=self.scenario.ticks,
            cores=self.scenario.cpu / 1000,
            seconds_above=dict(sorted(self.above.items())),
            released=released,
            reversals=self.reversals.count,
            workloads=work,
            actions=rows,
            at_end=at_end,
            promises_broken=tuple(self.promises.broken),
            moments=tuple(sorted((*self.faults, *moments), key=lambda moment: moment.at)),
            waterlines=tuple(self.waterlines.values()),
            points=tuple(self.points),
            blind=tuple(sorted({one.metric for one in self.waterlines.values()} & UNMOVED)),
        )

    def _tick(self) -> None:
        simulation, tick = self.simulation, self.scenario.tick
        self.population.before(tick)
        looks_at = Seconds(simulation.clock.elapsed + tick)
        for fault in self.inflictor.before(looks_at):
            self.faults.append(Moment(looks_at, f"fault: {fault.about}", FAULT))
        self.hearing.new.clear()
        try:
            simulation.tick(agent=self.inflictor.agent_runs)
        except Exception as error:  # noqa: BLE001 - as in the agent's own loop: whatever fails in a tick is told, and the next one comes
            self.promises.failed(error)
            simulation.look_again()
        undisturbed = simulation.held is not None and not self.inflictor.refuses
        self.promises.look(self.hearing.new, undisturbed=undisturbed)
        self.inflictor.after()
        self.reversals.look(simulation)
        self._count_above()

    def _count_above(self) -> None:
        if self.simulation.view is not self._view:
            self._take_rules()
        for rule in self._rules:
            value = self._value(rule.rule.metric or "")
            if value is not None and rule.rule.value is not None and value > rule.rule.value:
                self.above[rule.title] = Seconds(self.above[rule.title] + self.scenario.tick)

    def _take_rules(self) -> None:
        self._view = self.simulation.view
        capacity = Capacity(self._view.node.cpu or self.scenario.cpu, self._view.node.memory or self.scenario.memory)
        self._rules = rules_in_force(self._view, self.simulation.catalogue, capacity)
        for rule in self._rules:
            self.above.setdefault(rule.title, Seconds(0))
            metric, value = rule.rule.metric or "", rule.rule.value
            scale = CORES.get(metric)
            whole = capacity.cpu / 1000 if metric == "cpu_total_utilization" else 1.0
            cores = None if scale is None or value is None else value * scale * whole
            self.waterlines[rule.title] = Waterline(rule.title, metric, cores)

    def _value(self, metric: str) -> float | None:
        """As it is, whether the agent could read it or not; what only the agent computes, as it read it."""
        node, scenario = self.simulation.node, self.scenario
        match metric:
            case "cpu_total_usage":
                return float(node.usage)
            case "cpu_total_utilization":
                return 100.0 * node.usage / scenario.cpu
            case "memory_total_usage":
                return float(node.memory)
            case "memory_total_utilization":
                return 100.0 * node.memory / scenario.memory
        reading = self.simulation.held.readings.read(metric) if self.simulation.held else None
        return max((element.value for element in reading.elements), default=None) if reading else None

    def _draw(self) -> None:
        self.points.append(Point(self.simulation.clock.elapsed, self.simulation.node.used, self.population.got()))

    def _at_end(self) -> AtEnd:
        """What stands on the node itself, whoever thinks it should."""
        groups = self.simulation.host.groups().values()
        return AtEnd(
            claims=sum(len(group.mark.knobs) for group in groups if group.mark is not None),
            taints=int(self.simulation.cluster.scheduling.disabled),
        )

    def _longest_wait(self) -> Seconds:
        """Before anything is given back, as far as the policies say it at the beginning."""
        cool_downs = [one.cool_down for one in self.policies.objects if isinstance(one, AvoidanceAction)]
        return Seconds(max((*cool_downs, SHORTEST_WAIT_TICKS * self.scenario.tick)))
