"""
The run as a picture: four lanes over one time axis, with a band for every measured stretch.

Drawn as plain SVG by hand, light and dark by the viewer's own preference, so that the same picture stands in the report, in a README and on a slide, and needs no script and
no font from anywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from msgspec import Struct

from slackwater.demo.figures import Bucket
from slackwater.demo.performance import Performance, Stretch
from slackwater.demo.wording import cores, duration, headline, headline_lines

WIDTH, LEFT, RIGHT = 1040, 24, 112
TITLE, TOP, FOOT = 60, 40, 62  # heights: of the title, of what stands above the first lane, and below the last
LANE, GAP = 92, 40
PLOT = WIDTH - LEFT - RIGHT
STYLE = """
.sw{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.sw .paper{fill:#fff}.sw text{fill:#334155}.sw .title{font-size:19px;font-weight:650;fill:#0f172a}.sw .quiet{fill:#64748b}
.sw .lane{font-weight:600;fill:#0f172a}.sw .axis{stroke:#cbd5e1;stroke-width:1}.sw .mark{stroke:#0f172a;stroke-width:1.4;stroke-dasharray:5 4;fill:none}
.sw .alone{fill:#64748b}.sw .unmanaged{fill:#dc2626}.sw .slackwater{fill:#0d9488}.sw .between{fill:#cbd5e1}.sw .looking{fill:#d97706}
.sw .band{opacity:.10}.sw .area{opacity:.85}.sw .tag{font-weight:650;font-size:12px}
@media (prefers-color-scheme:dark){
.sw .paper{fill:#0d1117}.sw text{fill:#c9d1d9}.sw .title,.sw .lane{fill:#f0f6fc}.sw .quiet{fill:#8b949e}.sw .axis{stroke:#30363d}.sw .mark{stroke:#f0f6fc}
.sw .alone{fill:#8b949e}.sw .unmanaged{fill:#f87171}.sw .slackwater{fill:#2dd4bf}.sw .between{fill:#484f58}.sw .looking{fill:#fbbf24}.sw .band{opacity:.16}}
""".replace("\n", "")
TAGS = {"alone": "alone", "unmanaged": "off", "slackwater": "on"}


class Lane(Struct, frozen=True):
    title: str
    value: Callable[[Bucket], float | None]
    shown: Callable[[float], str]
    line: float | None = None  # a level to mark
    line_title: str = ""


class Scale(Struct, frozen=True):
    start: float
    end: float

    def x(self, at: float) -> float:
        return LEFT + PLOT * (at - self.start) / max(self.end - self.start, 1e-9)


def svg(performance: Performance, *, titled: bool = True) -> str:
    lanes = _lanes(performance)
    top = TOP + (TITLE if titled else 0)
    bottom = top + len(lanes) * (LANE + GAP)
    scale = Scale(performance.stretches[0].start, performance.stretches[-1].end)
    parts = [
        f'<svg class="sw" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + FOOT}" role="img" aria-label="{escape(headline(performance))}">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{bottom + FOOT}" rx="8"/>',
        *(_title(performance) if titled else ()),
        *_bands(performance.stretches, scale, top, bottom),
    ]
    for number, lane in enumerate(lanes):
        parts.extend(_lane(lane, performance, scale, top + number * (LANE + GAP)))
    parts.extend(_seconds(scale, bottom - 2))
    parts.extend(_legend(performance, bottom + 26))
    return "\n".join([*parts, "</svg>"])


def _lanes(performance: Performance) -> list[Lane]:
    waterline = performance.calibration.waterline / 1000
    return [
        Lane(
            "The service's wait for a CPU, per request",
            lambda bucket: bucket.wait_ms,
            duration,
        ),
        Lane("90 of 100 requests answered within", lambda bucket: bucket.p90_ms, duration),
        Lane("Batch work, hashes a second", lambda bucket: bucket.work, lambda value: f"{value / 1000:.0f}k/s"),
        Lane(
            "Node CPU, cores",
            lambda bucket: bucket.cpu_cores,
            lambda value: f"{cores(value)} cores",
            waterline,
            f"waterline {waterline:.2f}",
        ),
    ]


def _title(performance: Performance) -> Iterator[str]:
    facts = performance.facts
    simulated = "SIMULATED: " if facts.backend == "simulated" else ""
    first, second = headline_lines(performance)
    yield f'<text class="title" x="{LEFT}" y="34">{escape(simulated + first)}</text>'
    yield f'<text class="title" x="{LEFT}" y="58">{escape(second)}</text>'


def _legend(performance: Performance, y: float) -> Iterator[str]:
    facts = performance.facts
    machine = "a simulated node" if facts.backend == "simulated" else f"kernel {facts.kernel}"
    load = performance.calibration
    said = (
        f"{facts.cpus} CPUs, {machine}; service {load.load.rate:.0f} requests/s, {load.workers.count} batch workers of the same weight",
        "Shaded: measured. Amber: Slackwater has just started and looks. Light grey: sizing first, and last the batch work has ended.",
    )
    for line, text in enumerate(said):
        yield f'<text class="quiet" x="{LEFT}" y="{y + 19 * line}">{escape(text)}</text>'


def _bands(stretches: Sequence[Stretch], scale: Scale, top: int, bottom: int) -> Iterator[str]:
    for stretch in stretches:
        if not stretch.act.measuring:
            continue
        x, width = scale.x(stretch.start), scale.x(stretch.end) - scale.x(stretch.start)
        phase = stretch.act.phase
        yield f'<rect class="band {phase}" x="{x:.1f}" y="{top - 18}" width="{width:.1f}" height="{bottom - top + 2}"/>'
        yield f'<text class="tag {phase}" x="{x + width / 2:.1f}" y="{top - 23}" text-anchor="middle">{TAGS[phase]}</text>'


def _lane(lane: Lane, performance: Performance, scale: Scale, top: float) -> Iterator[str]:
    values = [(bucket, value) for bucket in performance.series if (value := lane.value(bucket)) is not None]
    highest = max([value for _, value in values] + ([lane.line] if lane.line else []), default=1.0) or 1.0
    base = top + 14 + LANE
    yield f'<text class="lane" x="{LEFT}" y="{top + 6}">{escape(lane.title)}</text>'
    width = max(1.0, _width(performance.series, scale) - 0.6)
    for bucket, value in values:
        tall = LANE * value / highest
        phase = _phase_at(bucket.at, performance.stretches)
        yield f'<rect class="area {phase}" x="{scale.x(bucket.at) - width / 2:.1f}" y="{base - tall:.1f}" width="{width:.1f}" height="{tall:.1f}"/>'
    yield f'<line class="axis" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{base}" y2="{base}"/>'
    yield f'<text class="quiet" x="{LEFT + PLOT + 8}" y="{base - LANE + 10}">{escape(lane.shown(highest))}</text>'
    if lane.line is not None:
        y = base - LANE * lane.line / highest
        yield f'<line class="mark" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT + PLOT + 8}" y="{y + 17:.1f}">{escape(lane.line_title)}</text>'


def _width(series: Sequence[Bucket], scale: Scale) -> float:
    if len(series) < 2:  # noqa: PLR2004 - a distance takes two
        return 1.0
    return (scale.x(series[-1].at) - scale.x(series[0].at)) / (len(series) - 1)


def _phase_at(at: float, stretches: Sequence[Stretch]) -> str:
    for stretch in stretches:
        if stretch.start <= at < stretch.end:
            return stretch.act.phase or "between"
    return "between"


def _seconds(scale: Scale, y: float) -> Iterator[str]:
    """One tick for each ten seconds or so."""
    every = 10 if scale.end - scale.start < 200 else 30  # noqa: PLR2004 - seconds
    for second in range(0, int(scale.end - scale.start) + 1, every):
        yield f'<text class="quiet" x="{scale.x(scale.start + second):.1f}" y="{y}" text-anchor="middle">{second} s</text>'
