"""
A simulated run told to people: the timeline of what was done and what went wrong, and the table that sums it up.

Several runs stand side by side in the table, one column each; there the timelines are left out, for nobody reads five of them at once. Pure text.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from slackwater.api.units import Seconds
from slackwater.decide import sentence
from slackwater.metrics.builtin import BUILTIN
from slackwater.sim import mishaps
from slackwater.sim.mishaps import FaultKind
from slackwater.sim.result import Moment, Released, Result, Work
from slackwater.sim.running import FAULT

NOTHING = "-"
LONGEST_RUN = 4
Row = tuple[str, list[str]]


def lines(results: Sequence[Result], at_most: int | None) -> Iterator[str]:
    first = results[0]
    yield title(first)
    yield ""
    if len(results) == 1:
        yield from _timeline(first, at_most)
    yield from _aligned([("", [result.policies for result in results]), *table(results)])
    for result in results:
        for broken in result.promises_broken:
            yield f"BROKEN at {clock(broken.at)} under {result.policies}: {broken.promise}: {broken.what}"


def title(result: Result) -> str:
    ran = clock(Seconds(result.ticks * result.tick))
    return (
        f"{result.name}: {ran} on {result.cores:g} cores, {result.ticks} ticks of {result.tick:g} s, seed {result.seed}"
    )


def table(results: Sequence[Result]) -> list[Row]:
    """One row a figure, one cell a run."""
    rules = dict.fromkeys(rule for result in results for rule in result.seconds_above)
    metrics = dict.fromkeys(metric for result in results for metric in result.released)
    return [
        *((f"time above {rule}", [_seconds(result.seconds_above.get(rule)) for result in results]) for rule in rules),
        *((f"released of {one}", [_released(one, result.released.get(one)) for result in results]) for one in metrics),
        *((f"work of {name}", [_work(result.workloads[name]) for result in results]) for name in results[0].workloads),
        ("pods evicted", [str(_evicted(result)) for result in results]),
        ("reversals", [str(result.reversals) for result in results]),
        (
            "left at the end",
            [f"{_count(one.at_end.claims, 'claim')}, {_count(one.at_end.taints, 'taint')}" for one in results],
        ),
        ("promises broken", [str(len(result.promises_broken)) for result in results]),
    ]


def faults() -> str:
    """The kinds of fault, as `--faults` lists them."""
    shapes = [(kind.value, _fields(kind), mishaps.SHAPES[kind].meaning) for kind in FaultKind]
    wide = [max(len(one[column]) for one in shapes) for column in (0, 1)]
    rows = [f"{kind:<{wide[0]}}  {fields:<{wide[1]}}  {meaning}" for kind, fields, meaning in shapes]
    return "\n".join(
        (*rows, "", "Each says at: when. Where [for] stands it may say for how long; without it, to the end.")
    )


def clock(at: Seconds) -> str:
    whole = round(at)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _fields(kind: FaultKind) -> str:
    shape = mishaps.SHAPES[kind]
    return " ".join((*shape.fields, *(("[for]",) if shape.lasts else ())))


def _timeline(result: Result, at_most: int | None) -> Iterator[str]:
    told = [_moment(one) for one in result.moments] if at_most is None else list(_runs(result.moments))
    yield from told[:at_most]
    if at_most is not None and len(told) > at_most:
        yield f"{'':>9}  and more until {clock(result.moments[-1].at)}; --all prints everything"
    if not told:
        yield f"{'':>9}  nothing was done"
    yield ""


def _runs(moments: Sequence[Moment]) -> Iterator[str]:
    """What is done tick after tick under one rule is one story: its first line, and its last."""
    for kind, run in groupby(moments, lambda moment: moment.kind):
        group = list(run)
        if kind == FAULT or len(group) <= LONGEST_RUN:
            yield from map(_moment, group)
            continue
        yield _moment(group[0])
        yield f"{'':>9}  ... {len(group) - 2} more of these (--all prints them)"
        yield _moment(group[-1])


def _moment(moment: Moment) -> str:
    return f"{clock(moment.at):>9}  {moment.text}"


def _aligned(rows: Sequence[Row]) -> Iterator[str]:
    names = max(len(name) for name, _ in rows)
    widths = [max(len(cells[column]) for _, cells in rows) for column in range(len(rows[0][1]))]
    for name, cells in rows:
        told = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"{name:<{names}}  {'  '.join(told)}".rstrip()


def _seconds(above: Seconds | None) -> str:
    return NOTHING if above is None else f"{above:g} s"


def _released(metric: str, one: Released | None) -> str:
    if one is None or one.ratio is None:
        return NOTHING
    known = BUILTIN.get(metric)
    unit = known.unit.value if known else ""
    return f"{sentence.figure(one.released, unit)} of {sentence.amount(one.gap, unit)} ({one.ratio:.2f})"


def _work(work: Work) -> str:
    part = f" ({100 * work.got / work.wanted:.0f} %)" if work.wanted else ""
    return f"{work.got:.0f} of {work.wanted:.0f} core s{part}"


def _evicted(result: Result) -> int:
    return sum(row.kind == "evict" and not row.preview and not row.refused for row in result.actions)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
