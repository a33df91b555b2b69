"""
A package's metric told in a few words, and a simulated node whose agent has it.

The metric counts files that pods have waiting. Who may use half as much CPU has half as many waiting; what the files
are is said by the test, as a collector would bring it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from slackwater.agent.edges import Package
from slackwater.agent.guarding import Guard
from slackwater.agent.hanging import LeftOut
from slackwater.agent.packages import Entry, Loaded, Packages, load
from slackwater.api.objects import Container, Owner, Pod, QosClass, Resources
from slackwater.api.units import Amount, Instant, Millicores
from slackwater.metrics.metric import PRECISE, Ability, Metric, OwnUnit
from slackwater.metrics.reading import Element
from slackwater.metrics.scene import Collected, Scene
from slackwater.metrics.steps import Standing, Step, down, up
from slackwater.sim.demand import constant
from slackwater.sim.world import Simulation

FILES = "files_waiting"
STEPWISE = Ability(able=True, quantified=False)

RULES = """
apiVersion: ensurance.crane.io/v1alpha1
kind: NodeQOSEnsurancePolicy
metadata: {{name: waterline}}
spec:
  objectiveEnsurances:
  - {{name: files, avoidanceThreshold: 1, actionName: act, metricRule: {{name: {metric}, value: {value}}}}}
  - {{name: cpu, avoidanceThreshold: 1, actionName: squeeze, metricRule: {{name: cpu_total_usage, value: 6000}}}}
---
apiVersion: ensurance.crane.io/v1alpha1
kind: AvoidanceAction
metadata: {{name: act}}
spec: {{coolDownSeconds: 30, {action}}}
---
apiVersion: ensurance.crane.io/v1alpha1
kind: AvoidanceAction
metadata: {{name: squeeze}}
spec: {{coolDownSeconds: 30, throttle: {{cpuThrottle: {{}}}}}}
"""
THROTTLE, EVICT = "throttle: {cpuThrottle: {}}", "eviction: {}"
BOTH = "throttle: {cpuThrottle: {}}, eviction: {}"


def files_of(scene: Scene, pod: Pod) -> float:
    collected = scene.collected.get(FILES)
    held = collected.value if collected else {}
    return float(held.get(pod.name, 0)) if isinstance(held, Mapping) else 0.0


def of_node(scene: Scene) -> Amount | None:
    return Amount(sum(files_of(scene, pod) for pod in scene.running)) if FILES in scene.collected else None


def of_pod(scene: Scene, pod: Pod) -> Amount | None:
    return Amount(files_of(scene, pod))


def stepped(scene: Scene, pod: Pod, standings: tuple[Standing, ...]) -> Step | None:
    quotas = down(standings)
    taken = sum(one.level - quotas[one.container] for one in standings) / sum(one.usage for one in standings)
    return Step(quotas=quotas, amounts={FILES: Amount(files_of(scene, pod) * taken)})


def returned(scene: Scene, pod: Pod, standings: tuple[Standing, ...]) -> Step | None:
    quotas, level = up(standings), sum(one.level for one in standings)
    return Step(quotas=quotas, amounts={FILES: Amount(files_of(scene, pod) * (sum(quotas.values()) - level) / level)})


def metric(name: str = FILES, **fields: Any) -> Metric:
    """Of files; precise in what it throttles and evicts unless something else is said."""
    given: dict[str, Any] = {
        "unit": OwnUnit("files"),
        "description": "files that wait",
        "priority": 5,
        "of_node": of_node,
        "of_pod": of_pod,
        "throttle": PRECISE,
        "throttle_step": stepped,
        "restore_step": returned,
        "evict": PRECISE,
        "part_of_node": False,
    }
    return Metric(name=name, **{**given, **fields})


def entry(*metrics: object, package: str = "files", version: str = "1.0", name: str = "metrics") -> Entry:
    return Entry(package, version, name, lambda: lambda: metrics)


def refusing(error: BaseException, **fields: str) -> Entry:
    """One that cannot be loaded."""

    def raises() -> object:
        raise error

    return Entry(
        fields.get("package", "files"), fields.get("version", "1.0"), fields.get("name", "metrics"), lambda: raises
    )


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def takes(self, seconds: float, answer: object = None) -> Callable[..., Any]:
        """A function that takes so long."""

        def slow(*_: object) -> object:
            self.now += seconds
            return answer

        return slow


def silent(_: str) -> None:
    """Nobody wants to know who is being asked."""


def loaded(*entries: Entry, guard: Guard | None = None, left_out: Mapping[str, LeftOut] | None = None) -> Loaded:
    return load(entries, guard or Guard(silent, Clock()), left_out or {}, silent)


class Brought:
    """Implements edges.Packages: a test says what the collectors saw."""

    def __init__(self, loaded: Loaded, guard: Guard) -> None:
        self._packages = Packages(loaded, guard, lambda: Instant(0.0))
        self.files: dict[str, float] | None = None
        self.now: Callable[[], Instant] = lambda: Instant(0.0)

    @property
    def known(self) -> tuple[Package, ...]:
        return self._packages.known

    @known.setter
    def known(self, _: tuple[Package, ...]) -> None:
        raise AttributeError

    def begin(self) -> None:
        self._packages.begin()

    def collected(self) -> Mapping[str, Collected]:
        return {} if self.files is None else {FILES: Collected(dict(self.files), self.now())}

    def faults(self) -> Mapping[str, str]:
        return self._packages.faults()


def batch(name: str, *, priority: int = -10, limit: int | None = None, containers: Iterable[str] = ("main",)) -> Pod:
    limits = Resources(cpu=Millicores(limit) if limit else None)
    return Pod(
        namespace="default",
        name=name,
        uid=name,
        priority=priority,
        qos_class=QosClass.BURSTABLE,
        containers=tuple(
            Container(name=one, requests=Resources(cpu=Millicores(1000)), limits=limits) for one in containers
        ),
        owner=Owner("Job", name),
    )


class Node:
    """Eight cores, batch pods of one core each unless more is said, and an agent that has the package."""

    def __init__(
        self,
        *metrics: Metric,
        value: float = 100,
        action: str = THROTTLE,
        pods: Mapping[str, float] | None = None,
        clock: Clock | None = None,
        rule_on: str = FILES,
        beside: Iterable[Entry] = (),
    ) -> None:
        """`beside` are other packages."""
        self.clock = clock or Clock()
        guard = Guard(silent, self.clock)
        self.loaded = loaded(entry(*metrics), *beside, guard=guard)
        self.brought = Brought(self.loaded, guard)
        self.simulation = Simulation(catalogue=self.loaded.catalogue, packages=self.brought)
        self.brought.now = self.simulation.clock.instant
        self.simulation.apply(RULES.format(metric=rule_on, value=value, action=action))
        for name, cpu in (pods or {}).items():
            self.simulation.add(batch(name), constant(Millicores(round(cpu))))

    def files(self, **by_pod: float) -> "Node":
        self.brought.files = by_pod
        return self

    def ticks(self, count: int) -> "Node":
        self.simulation.run(count)
        return self

    def quotas(self) -> dict[str, int]:
        """What each squeezed pod is held to, in millicores."""
        names = {pod.uid: pod.name for pod in self.simulation.node.pods}
        return {names[one.pod]: one.quota for one in self.simulation.throttled}

    def evicted(self) -> list[str]:
        return [asked.pod.name for asked in self.simulation.cluster.evictions]

    def faults(self) -> Mapping[str, str]:
        return self.brought.faults()

    def events(self, reason: str = "Problem") -> list[str]:
        return [event.message for event in self.simulation.cluster.events if event.reason == reason]


def claiming(quota: Any, **amounts: Any) -> Step:
    """A step as a package may write it, whatever the types say."""
    return Step(quotas={"main": quota}, amounts=amounts)


def element(value: float, **labels: Any) -> Element:
    return Element(Amount(value), labels)
