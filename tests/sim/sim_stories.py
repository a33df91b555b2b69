"""Short ways to set up a simulated node, and to say whether what stands on it is what should."""

from slackwater.agent.configuration import Configuration
from slackwater.api.objects import (
    AvoidanceAction,
    Container,
    CpuThrottle,
    Eviction,
    Owner,
    Pod,
    Policy,
    QosClass,
    Resources,
    Rule,
    Strategy,
)
from slackwater.api.units import Millicores, Seconds
from slackwater.claims.base import quota_time
from slackwater.sim.demand import Demand, constant
from slackwater.sim.world import Simulation
from slackwater.snapshot.usage import groups_of

WATERLINE = 6000
COOL_DOWN = Seconds(60)


def policy(
    name: str = "waterline",
    *,
    value: float = WATERLINE,
    action: str = "squeeze",
    bad: int = 2,
    good: int = 2,
    preview: bool = False,
) -> Policy:
    rule = Rule(
        name="cpu",
        action=action,
        metric="cpu_total_usage",
        value=value,
        avoidance_threshold=bad,
        restore_threshold=good,
        strategy=Strategy.PREVIEW if preview else Strategy.NONE,
    )
    return Policy(kind="NodeQOS", name=name, rules=(rule,))


SQUEEZE = AvoidanceAction(name="squeeze", cool_down=COOL_DOWN, cpu_throttle=CpuThrottle())
EVICT = AvoidanceAction(name="evict", cool_down=COOL_DOWN, eviction=Eviction(grace=Seconds(20)))
CLOSE = AvoidanceAction(name="close", cool_down=COOL_DOWN)


def pod(
    name: str,
    *,
    priority: int = -10,
    request: int = 1000,
    limit: int | None = None,
    containers: tuple[str, ...] = ("main",),
) -> Pod:
    requests = Resources(cpu=Millicores(request))
    limits = Resources(cpu=Millicores(limit) if limit else None)
    return Pod(
        namespace="default",
        name=name,
        uid="",
        priority=priority,
        qos_class=QosClass.BURSTABLE if request != limit else QosClass.GUARANTEED,
        containers=tuple(Container(name=one, requests=requests, limits=limits) for one in containers),
        owner=Owner("Job", name),
        grace=Seconds(30),
    )


def cores(number: float) -> Demand:
    return constant(Millicores(round(number * 1000)))


def node(
    *objects: Policy | AvoidanceAction,
    service: Demand | None = None,
    batch: Demand | None = None,
    configuration: Configuration | None = None,
    cgroup_version: int = 1,
) -> Simulation:
    """Eight cores, a service that nobody may touch, and four batch pods, one of them of two containers."""
    simulation = Simulation(configuration=configuration, cgroup_version=cgroup_version)
    simulation.put(*(objects or (policy(), SQUEEZE)))
    simulation.add(pod("service", priority=100, request=4000), service or cores(4))
    for index in range(3):
        simulation.add(pod(f"batch-{index}"), batch or cores(1))
    simulation.add(pod("batch-3", containers=("main", "side")), batch or cores(1))
    return simulation


def wrong(simulation: Simulation) -> list[str]:
    """Where the groups do not hold what the agent claims of them, or what nobody claims is not as kubelet set it."""
    claims = {one.where: one.quota for one in simulation.throttled}
    in_journal = simulation.held.ours.unmarkable if simulation.held else frozenset()
    found = []
    for one in simulation.node.pods:
        for container, group in groups_of(one):
            held = simulation.host.group(group)
            quota = claims.get((one.uid, container.name))
            wanted = quota_time(quota if quota is not None else container.limits.cpu, held.period)
            marked = held.mark is not None or group in in_journal
            if held.quota != wanted or marked is not (quota is not None):
                found.append(f"{one.key}/{container.name}: quota {held.quota}, not {wanted}; mark {held.mark}")
    yielding = {uid for uid, _ in claims}
    found += [
        told for told in simulation.node.differing() if "weight" in told and not _is_claimed(simulation, told, yielding)
    ]
    return found


def _is_claimed(simulation: Simulation, told: str, yielding: set[str]) -> bool:
    return any(one.uid in yielding for one in simulation.node.pods if told.startswith(f"{one.key}:"))


def closed(simulation: Simulation) -> bool:
    """Whether new pods are kept away."""
    return simulation.cluster.scheduling.disabled


def unmarked(simulation: Simulation) -> bool:
    """Whether anything stands otherwise than kubelet set it in a group that does not say so."""
    placed = [simulation.node.placed(one.uid) for one in simulation.node.pods]
    weights = any(one.group.weight != one.weight and not one.group.mark for one in placed)
    return weights or any(c.group.quota != c.quota and not c.group.mark for one in placed for c in one.containers)
