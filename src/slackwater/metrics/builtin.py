"""The metrics we bring along, in one list. A rule that names any other is that rule's error."""

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores
from slackwater.metrics.metric import PRECISE, Catalogue, Metric, Unit
from slackwater.snapshot import usage
from slackwater.snapshot.usage import Capacity, Frames


def _percent(cpu: Millicores, capacity: Capacity) -> Amount:
    return Amount(100.0 * cpu / capacity.cpu)


def _node_cpu(frames: Frames, _: Capacity) -> Amount | None:
    cpu = usage.node_cpu(frames)
    return None if cpu is None else Amount(cpu)


def _node_cpu_percent(frames: Frames, capacity: Capacity) -> Amount | None:
    cpu = usage.node_cpu(frames)
    return None if cpu is None else _percent(cpu, capacity)


def _pod_cpu(frames: Frames, pod: Pod, _: Capacity) -> Amount | None:
    cpu = usage.pod_cpu(frames, pod)
    return None if cpu is None else Amount(cpu)


def _pod_cpu_percent(frames: Frames, pod: Pod, capacity: Capacity) -> Amount | None:
    cpu = usage.pod_cpu(frames, pod)
    return None if cpu is None else _percent(cpu, capacity)


CPU_TOTAL_USAGE = Metric(
    name="cpu_total_usage",
    unit=Unit.MILLICORES,
    description="CPU time the machine used, without iowait and steal",
    priority=9,
    of_node=_node_cpu,
    of_pod=_pod_cpu,
    throttle=PRECISE,
    evict=PRECISE,
    from_cpu=lambda cpu, _: Amount(cpu),
)
CPU_TOTAL_UTILIZATION = Metric(
    name="cpu_total_utilization",
    unit=Unit.PERCENT,
    description="cpu_total_usage as percent of the node's capacity",
    priority=9,
    of_node=_node_cpu_percent,
    of_pod=_pod_cpu_percent,
    throttle=PRECISE,
    evict=PRECISE,
    from_cpu=_percent,
)

BUILTIN = Catalogue.of((CPU_TOTAL_USAGE, CPU_TOTAL_UTILIZATION))
