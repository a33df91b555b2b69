"""
What a result is worth: what makes its figures doubtful, and when they show nothing at all.

A demonstration on a machine that others keep busy measures the others. It is better that it says so than that it shines over figures that mean nothing, so whoever shows
a result asks here first. Nothing is corrected and nothing is left out: the figures stay as they were measured.
"""

from collections.abc import Iterator

from slackwater.demo.calibration import BUSY_SHARE, Calibration
from slackwater.demo.figures import PhaseFigures
from slackwater.demo.performance import Performance

TOO_BUSY_SHARE = 0.25  # of the machine, by others in a phase's usual round: above, the figures are rather theirs
CLEARLY = 2  # times the wait alone that batch must make of it, or there is no harm to be taken away
KEEPS_UP = 10  # times what a request costs; a service whose usual request takes longer alone has a queue without end


def warnings(performance: Performance) -> tuple[str, ...]:
    """Known from the start, or seen while it was measured; each is said once."""
    return (*performance.calibration.warnings, *_disturbed(performance))


def not_conclusive(performance: Performance) -> str:
    """Why the figures show nothing; empty where they do."""
    phases = {phase.name: phase for phase in performance.phases}
    alone, off = phases["alone"], phases["unmanaged"]
    reasons = (
        _too_busy(performance),
        _cannot_keep_up(alone, performance.calibration),
        "" if off.work.median else "the batch work got no CPU",
        _unharmed(alone, off),
    )
    return next(filter(None, reasons), "")


def _disturbed(performance: Performance) -> Iterator[str]:
    cpus, before = performance.calibration.cpus, performance.calibration.reached.others
    during = max((one.others_cores for one in performance.rounds), default=0.0)
    if max(before, during) > BUSY_SHARE * cpus:
        yield (
            f"others on this machine used {before:.2f} of its {cpus} cores before it was measured, and up to {during:.2f} meanwhile; "
            "the figures are not the demonstration's alone"
        )


def _too_busy(performance: Performance) -> str:
    cpus = performance.calibration.cpus
    others = max(phase.others_cores.median for phase in performance.phases)
    if others <= TOO_BUSY_SHARE * cpus:
        return ""
    return f"this machine is too busy, others use {others:.2f} of its {cpus} cores"


def _cannot_keep_up(alone: PhaseFigures, size: Calibration) -> str:
    if alone.p50_ms.median <= KEEPS_UP * size.load.cpu_ms:
        return ""
    return "this machine is too busy, the service cannot keep up with its requests even alone"


def _unharmed(alone: PhaseFigures, off: PhaseFigures) -> str:
    if off.wait_ms.median > CLEARLY * alone.wait_ms.median:
        return ""
    return f"beside batch work the service waits no more than {CLEARLY} times what it waits alone"
