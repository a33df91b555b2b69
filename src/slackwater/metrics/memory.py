"""Memory, of the whole node: working sets, without page cache that can be dropped. Only eviction frees what is in use."""

from slackwater.api.objects import Pod
from slackwater.api.units import Amount
from slackwater.metrics.metric import PRECISE, Ability, Metric, Unit
from slackwater.metrics.scene import Scene
from slackwater.snapshot import usage

PRIORITY = 10
NO_THROTTLE = Ability(
    able=False, quantified=False, why="memory in use cannot be taken back by a limit, only by eviction"
)


def _of_node(scene: Scene) -> Amount | None:
    newest = scene.frames.newest
    used = newest.node.memory_working_set if newest else None
    return None if used is None else Amount(used)


def _of_pod(scene: Scene, pod: Pod) -> Amount | None:
    used = usage.pod_memory(scene.frames, pod)
    return None if used is None else Amount(used)


def _in_percent(amount: Amount | None, scene: Scene) -> Amount | None:
    return None if amount is None else Amount(100.0 * amount / scene.capacity.memory)


MEMORY_TOTAL_USAGE = Metric(
    name="memory_total_usage",
    unit=Unit.BYTES,
    description="memory in use, without page cache that can be dropped",
    priority=PRIORITY,
    of_node=_of_node,
    of_pod=_of_pod,
    throttle=NO_THROTTLE,
    evict=PRECISE,
)
MEMORY_TOTAL_UTILIZATION = Metric(
    name="memory_total_utilization",
    unit=Unit.PERCENT,
    description="memory_total_usage as percent of the node's capacity",
    priority=PRIORITY,
    of_node=lambda scene: _in_percent(_of_node(scene), scene),
    of_pod=lambda scene, pod: _in_percent(_of_pod(scene, pod), scene),
    throttle=NO_THROTTLE,
    evict=PRECISE,
)
