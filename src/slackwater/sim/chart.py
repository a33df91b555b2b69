"""
A simulated run as a picture: who used how much of the node over time, its waterlines, and when something was done or went wrong.

Plain SVG by hand, light and dark by the viewer's own preference; it needs no script and no font from anywhere.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.sim.result import Result

WIDTH, LEFT, RIGHT, TOP = 1040, 44, 150, 30
PLOT, HEIGHT, MARKS, FOOT = WIDTH - LEFT - RIGHT, 260, 46, 56
HUES = ("#64748b", "#0d9488", "#d97706", "#7c3aed", "#2563eb", "#db2777", "#65a30d", "#0891b2")
LANES = (("throttle", "evict", "disable-scheduling"), ("restore", "enable-scheduling"), ("fault",))
TITLES = ("taken", "given back", "faults")
HOURS = (60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 604800)
MOST_LABELS = 12
STYLE = """
.sim{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.sim text{fill:#64748b}.sim .axis{stroke:#cbd5e1;stroke-width:1}.sim .line{stroke:#dc2626;stroke-width:1.4;stroke-dasharray:5 4}
.sim .red{fill:#dc2626}.sim .mark0{fill:#dc2626}.sim .mark1{fill:#0d9488}.sim .mark2{fill:#d97706}
@media (prefers-color-scheme:dark){.sim text{fill:#8b949e}.sim .axis{stroke:#30363d}.sim .line{stroke:#f87171}.sim .red{fill:#f87171}}
""".replace("\n", "")


class Scale(Struct, frozen=True):
    end: Seconds
    highest: float

    def x(self, at: float) -> float:
        return LEFT + PLOT * at / max(self.end, 1e-9)

    def y(self, cores: float) -> float:
        return TOP + HEIGHT * (1 - cores / self.highest)


def svg(result: Result) -> str:
    lines = [one.cores for one in result.waterlines if one.cores is not None]
    scale = Scale(Seconds(result.ticks * result.tick), 1.05 * max(result.cores, *lines, 0.0))
    height = TOP + HEIGHT + FOOT + MARKS
    return "\n".join(
        (
            f'<svg class="sim" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(result.name)}">',
            f"<style>{STYLE}</style>",
            *_areas(result, scale),
            *_axes(result, scale),
            *_waterlines(result, scale),
            *_marks(result, scale),
            "</svg>",
        )
    )


def _areas(result: Result, scale: Scale) -> Iterator[str]:
    """What each workload used, one upon the other, in the order of the scenario."""
    used = _rates(result)
    below = [0.0] * len(used)
    for index, name in enumerate(result.workloads):
        above = [low + rates[index] for low, (_, _, rates) in zip(below, used, strict=True)]
        hue = HUES[index % len(HUES)]
        yield f'<path fill="{hue}" opacity=".8" d="{_path(used, below, above, scale)}"/>'
        y = TOP + 12 + 18 * index
        yield f'<rect fill="{hue}" x="{LEFT + PLOT + 12}" y="{y - 9}" width="10" height="10"/>'
        yield f'<text x="{LEFT + PLOT + 28}" y="{y}">{escape(name)}</text>'
        below = above


def _rates(result: Result) -> list[tuple[float, float, list[float]]]:
    """From, to, and cores by workload."""
    found: list[tuple[float, float, list[float]]] = []
    before, at = [0.0] * len(result.workloads), 0.0
    for point in result.points:
        length = max(point.at - at, 1e-9)
        found.append((at, point.at, [(new - old) / length for new, old in zip(point.got, before, strict=True)]))
        before, at = list(point.got), point.at
    return found


def _path(
    used: Sequence[tuple[float, float, list[float]]], below: Sequence[float], above: Sequence[float], scale: Scale
) -> str:
    """Along the upper edge, and back along the lower."""
    out = [
        f"{scale.x(at):.1f},{scale.y(top):.1f}"
        for (start, end, _), top in zip(used, above, strict=True)
        for at in (start, end)
    ]
    back = [
        f"{scale.x(at):.1f},{scale.y(low):.1f}"
        for (start, end, _), low in zip(reversed(used), reversed(below), strict=True)
        for at in (end, start)
    ]
    return f"M{' L'.join((*out, *back))}Z"


def _axes(result: Result, scale: Scale) -> Iterator[str]:
    base = TOP + HEIGHT
    yield f'<line class="axis" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{base}" y2="{base}"/>'
    yield f'<text x="{LEFT}" y="{TOP - 12}">cores used</text>'
    for cores in (0.0, result.cores / 2, result.cores):
        yield f'<text x="{LEFT - 6}" y="{scale.y(cores) + 4:.1f}" text-anchor="end">{cores:g}</text>'
    every = next((step for step in HOURS if scale.end / step <= MOST_LABELS), HOURS[-1])
    for at in range(0, int(scale.end) + 1, every):
        label = f"{at // 3600}:{at // 60 % 60:02d}"
        yield f'<text x="{scale.x(at):.1f}" y="{base + 16}" text-anchor="middle">{label}</text>'


def _waterlines(result: Result, scale: Scale) -> Iterator[str]:
    levels: dict[float, str] = {}
    for one in result.waterlines:
        if one.cores is not None:
            levels.setdefault(one.cores, one.rule)
    placed = float("inf")
    for cores, rule in sorted(levels.items(), reverse=True):
        y = scale.y(cores)
        placed = y if placed == float("inf") else max(y, placed + 13)
        yield f'<line class="line" x1="{LEFT}" x2="{LEFT + PLOT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="red" x="{LEFT + PLOT - 4}" y="{placed - 4:.1f}" text-anchor="end">{escape(rule)}</text>'


def _marks(result: Result, scale: Scale) -> Iterator[str]:
    """A stroke for each moment, on the lane of its kind."""
    for lane, (kinds, title) in enumerate(zip(LANES, TITLES, strict=True)):
        y = TOP + HEIGHT + 30 + 22 * lane
        yield f'<text x="{LEFT + PLOT + 12}" y="{y + 10}">{title}</text>'
        moments = [one for one in result.moments if one.text.startswith(kinds)]
        for at in _apart([one.at for one in moments], scale):
            yield f'<rect class="mark{lane}" x="{scale.x(at):.1f}" y="{y}" width="2" height="12"/>'


def _apart(moments: Sequence[Seconds], scale: Scale) -> Iterator[Seconds]:
    """Those that can be told from each other on paper."""
    yield from moments[:1]
    for before, after in pairwise(moments):
        if int(scale.x(after)) != int(scale.x(before)):
            yield after
