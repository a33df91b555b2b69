"""The metrics we bring along, in one list. A rule that names any other is that rule's error."""

from slackwater.metrics import cpu, indirect, memory, pressure
from slackwater.metrics.metric import Catalogue

BUILTIN = Catalogue.of(
    (
        cpu.TOTAL_USAGE,
        cpu.TOTAL_UTILIZATION,
        cpu.ELASTIC_USAGE,
        cpu.ELASTIC_DISTRIBUTE,
        memory.TOTAL_USAGE,
        memory.TOTAL_UTILIZATION,
        *indirect.METRICS,
        *pressure.METRICS,
    )
)
