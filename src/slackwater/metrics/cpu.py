"""CPU, of the whole node and of those who use elastic CPU: what a quota moves, so throttling and eviction can be computed."""

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores
from slackwater.metrics.metric import PRECISE, Ability, Metric, Unit
from slackwater.metrics.scene import Scene
from slackwater.snapshot import usage
from slackwater.snapshot.usage import Capacity

PRIORITY, ELASTIC_PRIORITY = 9, 8
OVER = frozenset({"Succeeded", "Failed"})


def in_percent(cpu: Millicores, capacity: Capacity) -> Amount:
    return Amount(100.0 * cpu / capacity.cpu)


def in_millicores(cpu: Millicores, _: Capacity) -> Amount:
    return Amount(cpu)


def _of_node(scene: Scene) -> Amount | None:
    cpu = usage.node_cpu(scene.frames)
    return None if cpu is None else Amount(cpu)


def _of_node_in_percent(scene: Scene) -> Amount | None:
    cpu = usage.node_cpu(scene.frames)
    return None if cpu is None else in_percent(cpu, scene.capacity)


def of_pod(scene: Scene, pod: Pod) -> Amount | None:
    cpu = usage.pod_cpu(scene.frames, pod)
    return None if cpu is None else Amount(cpu)


def _of_pod_in_percent(scene: Scene, pod: Pod) -> Amount | None:
    cpu = usage.pod_cpu(scene.frames, pod)
    return None if cpu is None else in_percent(cpu, scene.capacity)


def uses_elastic(pod: Pod) -> bool:
    return any(container.requests.elastic_cpu or container.limits.elastic_cpu for container in pod.containers)


def requested_elastic(pod: Pod) -> Millicores:
    return Millicores(sum(c.requests.elastic_cpu or c.limits.elastic_cpu or 0 for c in pod.containers))


def _of_elastic(scene: Scene) -> Amount | None:
    """Missing where one that was there before cannot be read; one that has just come has used next to nothing."""
    if scene.interval is None:
        return None
    pods = [pod for pod in scene.running if uses_elastic(pod) and not _has_just_come(scene, pod)]
    used = [usage.pod_cpu(scene.frames, pod) for pod in pods]
    return None if None in used else Amount(sum(cpu for cpu in used if cpu is not None))


def _has_just_come(scene: Scene, pod: Pod) -> bool:
    known = scene.frames.before.groups if scene.frames.before else {}
    return any(group not in known for _, group in usage.groups_of(pod))


def _distributed(scene: Scene) -> Amount | None:
    """Missing where the node offers none: a part of nothing is no number. What is requested counts from before it runs."""
    if not scene.elastic_cpu:
        return None
    return Amount(sum(_share(scene, pod) for pod in scene.pods if pod.phase not in OVER))


def _share(scene: Scene, pod: Pod) -> Amount:
    return Amount(100.0 * requested_elastic(pod) / scene.elastic_cpu) if scene.elastic_cpu else Amount(0.0)


CPU_TOTAL_USAGE = Metric(
    name="cpu_total_usage",
    unit=Unit.MILLICORES,
    description="CPU time the machine used, without iowait and steal",
    priority=PRIORITY,
    of_node=_of_node,
    of_pod=of_pod,
    throttle=PRECISE,
    evict=PRECISE,
    from_cpu=in_millicores,
)
CPU_TOTAL_UTILIZATION = Metric(
    name="cpu_total_utilization",
    unit=Unit.PERCENT,
    description="cpu_total_usage as percent of the node's capacity",
    priority=PRIORITY,
    of_node=_of_node_in_percent,
    of_pod=_of_pod_in_percent,
    throttle=PRECISE,
    evict=PRECISE,
    from_cpu=in_percent,
)
EXT_CPU_TOTAL_USAGE = Metric(
    name="ext_cpu_total_usage",
    unit=Unit.MILLICORES,
    description="CPU time used by pods that run on gocrane.io/cpu",
    priority=ELASTIC_PRIORITY,
    of_node=_of_elastic,
    of_pod=of_pod,
    concerns=uses_elastic,
    throttle=PRECISE,
    evict=PRECISE,
    from_cpu=in_millicores,
)
EXT_CPU_TOTAL_DISTRIBUTE = Metric(
    name="ext_cpu_total_distribute",
    unit=Unit.PERCENT,
    description="requested gocrane.io/cpu as percent of what the node offers",
    priority=ELASTIC_PRIORITY,
    of_node=_distributed,
    of_pod=_share,
    concerns=uses_elastic,
    throttle=Ability(able=False, quantified=False, why="a quota does not change what is requested"),
    evict=PRECISE,
)
