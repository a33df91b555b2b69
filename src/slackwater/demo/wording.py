"""
How the demonstration says its figures: one headline, one table, the lines of its header, wherever they are shown.

Terminal, report and picture use the same words and the same rounding, so that nobody has to compare them. Pure text; who paints it is somebody else.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from slackwater.decide.plan import Decision
from slackwater.demo import cluster, doubts
from slackwater.demo.calibration import Calibration
from slackwater.demo.figures import PhaseFigures, Spread
from slackwater.demo.performance import Performance

TITLES = {
    "alone": "service alone",
    "unmanaged": "with batch, Slackwater off",
    "slackwater": "with batch, Slackwater on",
}
COLUMNS = ("phase", "wait ms", "p50 ms", "p90 ms", "p99 ms", "work/s", "node CPU", "stolen", "requests")
NOTES = (
    "wait: the kernel's own run-queue delay of the service, per request; the machine's host cannot touch it, so judge by it",
    "p50, p90, p99: latency from when a request was meant to start; stolen: cores that the machine's own host took, which falsifies p99 most",
    "work: hashes that batch did",
)
SECOND = 1000.0  # ms
GIB = 1 << 30


class Line(Struct, frozen=True):
    """A row of the table, each cell a figure and its range."""

    phase: str
    cells: tuple[tuple[str, str], ...]


def table(phases: Sequence[PhaseFigures]) -> list[Line]:
    return [_line(phase) for phase in phases]


def _line(phase: PhaseFigures) -> Line:
    milliseconds = (phase.wait_ms, phase.p50_ms, phase.p90_ms, phase.p99_ms)
    return Line(
        phase.name,
        (
            (TITLES[phase.name], ""),
            *(_cell(spread, ms, phase.rounds) for spread in milliseconds),
            _cell(phase.work, work, phase.rounds),
            _cell(phase.cpu_cores, cores, phase.rounds),
            _cell(phase.steal_cores, cores, phase.rounds),
            (f"{phase.requests:,}", ""),
        ),
    )


def requests(phases: Sequence[PhaseFigures]) -> str:
    return "requests in all rounds: " + ", ".join(f"{phase.name} {phase.requests:,}" for phase in phases)


def notes(performance: Performance) -> tuple[str, ...]:
    several = "every figure is the median of the rounds, with the range over them"
    return (*NOTES, *([several] if performance.options.rounds > 1 else ()), requests(performance.phases))


def _cell(spread: Spread, shown: Callable[[float], str], rounds: int) -> tuple[str, str]:
    """Of one round there is no range."""
    over = f"{shown(spread.low)}-{shown(spread.high)}" if rounds > 1 else ""
    return shown(spread.median), over


def ms(value: float) -> str:
    """Three digits say enough."""
    decimals = 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004 - digits
    return f"{value:.{decimals}f}"


def duration(milliseconds: float) -> str:
    """With its unit, which is the one that people would take."""
    return f"{ms(milliseconds / 1000)} s" if milliseconds >= SECOND else f"{ms(milliseconds)} ms"


def cores(value: float) -> str:
    return f"{value:.2f}"


def work(value: float) -> str:
    return f"{value / 1000:,.0f}k" if value else "0"


def headline(performance: Performance) -> str:
    return " ".join(headline_lines(performance))


def headline_lines(performance: Performance) -> tuple[str, str]:
    """What it shows; where it shows nothing, that."""
    doubt = doubts.not_conclusive(performance)
    if doubt:
        return f"Not conclusive: {doubt}.", "The figures show what this machine did, and not what Slackwater does."
    phases = {phase.name: phase for phase in performance.phases}
    off, on = phases["unmanaged"], phases["slackwater"]
    kept = on.work.median / off.work.median if off.work.median else 0.0
    return (
        f"The service waits {duration(off.wait_ms.median)} for a CPU per request beside batch work,",
        f"and {duration(on.wait_ms.median)} with Slackwater; batch keeps {kept:.0%} of its work.",
    )


def command(performance: Performance) -> str:
    """What measures the same again, whatever the defaults are by then."""
    options = performance.options
    simulated = " --simulated" if performance.facts.backend == "simulated" else ""
    return (
        f"slackwater demo --rounds {options.rounds} --seconds {options.seconds:g} "
        f"--service {service_class(performance).lower()}{simulated}"
    )


def header(performance: Performance) -> list[tuple[str, str]]:
    """What makes a result explain itself."""
    facts, size = performance.facts, performance.calibration
    swap = f", swap {facts.swap / GIB:.1f} GiB" if facts.swap else ", no swap"
    return [
        ("machine", f"{facts.cpus} CPUs ({facts.processor}), {facts.memory / GIB:.1f} GiB{swap}"),
        ("kernel", f"{facts.kernel}, {BACKENDS[facts.backend]}"),
        (
            "service",
            f"{size.load.rate:.0f} requests/s of {size.load.cpu_ms:.2f} ms CPU, open loop; {service_class(performance)}, requests {size.request}m",
        ),
        (
            "batch",
            f"{size.workers.count} workers in {size.workers.pods} pods; Burstable, requests {size.request}m each, priority -10",
        ),
        (
            "waterline",
            _reach(size),
        ),
        (
            "knobs",
            knobs(performance.decisions)
            + f"; cool-down {cluster.COOL_DOWN_SECONDS} s, ticks of {cluster.TICK_SECONDS} s",
        ),
        ("stolen", stolen(performance.phases)),
        (
            "measured",
            f"{performance.options.rounds} x {performance.options.seconds:g} s a phase, off and on in turn",
        ),
    ]


def _reach(size: Calibration) -> str:
    """Whole-machine figures, said as such: what others use is in all of them."""
    reached = size.reached
    return (
        f"cpu_total_usage {size.waterline}m: this machine reaches {cores(reached.full)} cores with service and batch, "
        f"{cores(reached.quiet)} with the service alone, {cores(reached.others)} of it by others"
    )


BACKENDS = {
    "cgroup1": "cgroup v1",
    "cgroup2": "cgroup v2",
    "simulated": "no cgroups: everything here is SIMULATED",
}


def stolen(phases: Sequence[PhaseFigures]) -> str:
    taken = ", ".join(f"{cores(phase.steal_cores.median)} {phase.name}" for phase in phases)
    return f"by the machine's own host, in cores: {taken}"


def service_class(performance: Performance) -> str:
    return "Guaranteed" if performance.options.guaranteed else "Burstable"


def knobs(decisions: Sequence[Decision]) -> str:
    used = {operation.knob for decision in decisions for operation in decision.operations if operation.knob}
    names = {"quota": "CPU quota of containers", "weight": "CPU weight of pods"}
    return ", ".join(names.get(knob, knob) for knob in sorted(used)) or "none"
