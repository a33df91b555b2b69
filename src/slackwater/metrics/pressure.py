"""
Pressure (PSI): the share of time in which tasks waited for a resource.

A container's CPU pressure rises from its own quota as well, and so would the node's from ours: squeeze, worse, squeeze.
So CPU pressure as judged is the highest among the pods that hold no throttle of ours and that their own limit does not
stop in most periods; what the kernel says of the whole node stands beside it for people.
"""

from slackwater.api.objects import Pod
from slackwater.api.units import Amount
from slackwater.metrics.indirect import STEPWISE, indirect
from slackwater.metrics.memory import MEMORY_TOTAL_USAGE
from slackwater.metrics.metric import Metric, NodeUsage, Unit
from slackwater.metrics.reading import Element
from slackwater.metrics.scene import Scene
from slackwater.snapshot import usage
from slackwater.snapshot.counters import Pressure

MICROSECONDS_PER_PERCENT = 10_000
NEEDS = "it takes a kernel that keeps pressure: CONFIG_PSI, and no psi=0 at boot"
NOBODY = Element(Amount(0.0))
"""It stands beside those who press, whichever of them a rule selects."""


def pressing(scene: Scene) -> tuple[Element, ...]:
    """
    CPU pressure of every pod that presses by itself, in percent of the time between the two newest samples. Where
    pressure can be read and everybody's is of our making or their own, nobody presses: that is zero, not unknown.
    """
    found = [(pod, _of_pod(scene, pod)) for pod in scene.running if usage.groups_of(pod)]
    told = [(pod, value) for pod, value in found if value is not None]
    if not told and (found or _of_kernel(scene) is None):
        return ()
    own = (Element(value, _labels(pod)) for pod, value in told if pod.uid not in scene.squeezed)
    return (NOBODY, *own)


def _labels(pod: Pod) -> dict[str, str]:
    return {"namespace": pod.namespace, "pod": pod.name}


def _of_pod(scene: Scene, pod: Pod) -> Amount | None:
    """Of its container that waits most; one that its own limit stops in most periods waits for itself."""
    stalls = [
        0 if usage.starved(scene.frames, group) else stall
        for _, group in usage.groups_of(pod)
        if (stall := usage.stalled(scene.frames, group)) is not None
    ]
    if not stalls or not scene.interval:
        return None
    return Amount(min(100.0, max(stalls) / (scene.interval * MICROSECONDS_PER_PERCENT)))


def _highest(scene: Scene) -> Amount | None:
    return max((element.value for element in pressing(scene)), default=None)


def _averaged(resource: str, *, full: bool) -> NodeUsage:
    """As the kernel says it of the whole node."""

    def of_node(scene: Scene) -> Amount | None:
        pressure: Pressure | None = scene.frames.newest.node.pressure.get(resource) if scene.frames.newest else None
        if pressure is None:
            return None
        return Amount(pressure.full_avg10 if full else pressure.some_avg10)

    return of_node


_of_kernel = _averaged("cpu", full=False)
CPU_SOME = Metric(
    name="cpu_pressure_some_10s",
    unit=Unit.PERCENT,
    description="time in which a pod that nothing of its own holds back waited for a CPU: the highest of all pods",
    priority=0,
    of_node=_highest,
    vector=pressing,
    beside=_of_kernel,
    needs=NEEDS,
    of_groups="pressure",
    throttle=STEPWISE,
    evict=STEPWISE,
    acts_through="cpu_total_usage",
    part_of_node=False,
)
METRICS = (
    CPU_SOME,
    *(
        indirect(
            f"{resource}_pressure_{name}_10s",
            Unit.PERCENT,
            f"time in which {who} waited for {resource}, over 10 s, on the whole node",
            _averaged(resource, full=name == "full"),
            through=through,
            needs=NEEDS,
        )
        for resource, through in (("memory", MEMORY_TOTAL_USAGE.name), ("io", "cpu_total_usage"))
        for name, who in (("some", "some task"), ("full", "every task"))
    ),
)
