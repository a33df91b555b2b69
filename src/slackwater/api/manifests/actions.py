"""What to do when a rule says so: AvoidanceAction."""

from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import AvoidanceAction, CpuThrottle, Eviction, MemoryThrottle, Origin, Weight
from slackwater.api.units import Seconds

LONGEST_DESCRIPTION = 1024
COOL_DOWN = 300
RATIO = 10  # what 0 and absent mean


def read(top: Fields, spec: Fields, metadata: Metadata, origin: Origin) -> tuple[AvoidanceAction, ...]:
    del top  # one dialect: nothing above the spec matters
    spec.known(("coolDownSeconds", "throttle", "eviction", "description"))
    cpu, memory = _throttle(spec)
    action = AvoidanceAction(
        name=metadata.name,
        cool_down=Seconds(spec.whole("coolDownSeconds", COOL_DOWN)),
        cpu_throttle=cpu,
        memory_throttle=memory,
        eviction=_eviction(spec),
        description=_description(spec),
        origin=origin,
    )
    return (action,)


def _throttle(spec: Fields) -> tuple[CpuThrottle | None, MemoryThrottle | None]:
    fields = spec.inside("throttle")
    if fields is None:
        return None, None
    fields.known(("cpuThrottle", "memoryThrottle"))
    if not fields.has("cpuThrottle") and not fields.has("memoryThrottle"):
        fields.error(
            None,
            "says nothing to throttle",
            "write cpuThrottle: {} below it, or take it out: without it the action disables scheduling",
        )
    return _cpu(fields), _memory(fields)


def _cpu(throttle: Fields) -> CpuThrottle | None:
    fields = throttle.inside("cpuThrottle")
    if fields is None:
        return None
    fields.known(("minCPURatio", "stepCPURatio", "weight"))
    return CpuThrottle(
        min_ratio=fields.whole("minCPURatio", RATIO, most=100) or RATIO,
        step_ratio=fields.whole("stepCPURatio", RATIO, most=100) or RATIO,
        weight=Weight(fields.choice("weight", ("yield", "keep"), "yield")),
    )


def _memory(throttle: Fields) -> MemoryThrottle | None:
    fields = throttle.inside("memoryThrottle")
    if fields is None:
        return None
    fields.known(("forceGC",))
    throttle.not_served("memoryThrottle", "throttling memory")
    return MemoryThrottle(force_gc=fields.flag("forceGC"))


def _eviction(spec: Fields) -> Eviction | None:
    fields = spec.inside("eviction")
    if fields is None:
        return None
    fields.known(("terminationGracePeriodSeconds", "keepSchedulable"))
    grace = (
        Seconds(fields.whole("terminationGracePeriodSeconds", 0))
        if fields.has("terminationGracePeriodSeconds")
        else None
    )
    return Eviction(grace=grace, keep_schedulable=fields.flag("keepSchedulable"))


def _description(spec: Fields) -> str:
    text = spec.text("description")
    if len(text) > LONGEST_DESCRIPTION:
        spec.error("description", f"is longer than {LONGEST_DESCRIPTION} characters", "shorten it", text)
    return text
