"""The metrics we bring along, in one list. A rule that names any other is that rule's error."""

from slackwater.metrics import indirect, pressure
from slackwater.metrics.cpu import (
    CPU_TOTAL_USAGE,
    CPU_TOTAL_UTILIZATION,
    EXT_CPU_TOTAL_DISTRIBUTE,
    EXT_CPU_TOTAL_USAGE,
)
from slackwater.metrics.memory import MEMORY_TOTAL_USAGE, MEMORY_TOTAL_UTILIZATION
from slackwater.metrics.metric import Catalogue

BUILTIN = Catalogue.of(
    (
        CPU_TOTAL_USAGE,
        CPU_TOTAL_UTILIZATION,
        EXT_CPU_TOTAL_USAGE,
        EXT_CPU_TOTAL_DISTRIBUTE,
        MEMORY_TOTAL_USAGE,
        MEMORY_TOTAL_UTILIZATION,
        *indirect.METRICS,
        *pressure.METRICS,
    )
)
