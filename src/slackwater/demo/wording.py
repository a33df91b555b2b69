"""
How the demonstration says its figures: one headline, one table, the lines of its header, wherever they are shown.

Terminal, report and picture use the same words and the same rounding, so that nobody has to compare them. Pure text; who paints it is somebody else.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from slackwater.decide import sentence
from slackwater.decide.plan import Decision
from slackwater.demo import cluster, doubts
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
    "work: hashes that batch did; every figure is the median of its rounds, with the range over them",
)
GIB = 1 << 30
MOST_SENTENCES = 8


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
            *(_cell(spread, ms) for spread in milliseconds),
            _cell(phase.work, work),
            _cell(phase.cpu_cores, cores),
            _cell(phase.steal_cores, cores),
            (f"{phase.requests:,}", ""),
        ),
    )


def requests(phases: Sequence[PhaseFigures]) -> str:
    return "requests in all rounds: " + ", ".join(f"{phase.name} {phase.requests:,}" for phase in phases)


def _cell(spread: Spread, shown: Callable[[float], str]) -> tuple[str, str]:
    return shown(spread.median), f"{shown(spread.low)}-{shown(spread.high)}"


def ms(value: float) -> str:
    """Three digits say enough."""
    decimals = 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004 - digits
    return f"{value:.{decimals}f}"


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
        f"The service waits {ms(off.wait_ms.median)} ms for a CPU per request beside batch work,",
        f"and {ms(on.wait_ms.median)} ms with Slackwater; batch keeps {kept:.0%} of its work.",
    )


def header(performance: Performance) -> list[tuple[str, str]]:
    """What makes a result explain itself."""
    facts, size = performance.facts, performance.calibration
    reached = size.reached
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
            f"cpu_total_usage {size.waterline}m: service and batch together reach {reached.full:.2f} cores here, the service alone {reached.quiet:.2f}",
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


def sentences(performance: Performance) -> list[str]:
    """What the last round's agent did, in full; the rounds before it are the same story."""
    ids = [one.id for one in performance.actions]
    first = ids.index(performance.first_actions[-1]) if performance.first_actions else 0
    told = [sentence.full(one) for one in performance.actions[first:]]
    left = len(told) - MOST_SENTENCES
    return [*told[:MOST_SENTENCES], f"and {left} more of the kind, in the journal"] if left > 0 else told


def closing(performance: Performance) -> list[str]:
    """How fast it was, how precise, and that nothing is left."""
    said = []
    if performance.reactions:
        said.append(f"first action {max(performance.reactions):.1f} s after the agent's start at the latest")
    squeeze = performance.squeeze
    if squeeze is not None:
        measured = "not measured" if squeeze.actual is None else f"{squeeze.actual:.0f}m"
        said.append(f"gap {squeeze.gap:.0f}m, meant to release {squeeze.released:.0f}m, released {measured}")
    if performance.giving_back.after is not None:
        said.append(f"all given back by the agent {performance.giving_back.after:.1f} s after the batch work ended")
    said.append("every quota and weight is as before" if performance.restored else "NOT everything is as before")
    return [*said, *performance.differences]
