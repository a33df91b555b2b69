"""
The figures of the demonstration: from requests and counters to what the table, the report and the JSON say.

Every phase is measured in rounds, and speaks as the median of its rounds with their range beside it, so that one bad second of the machine is seen as what it is.
The wait for a CPU is the headline: it is the kernel's own, and what the machine's host steals does not touch it. Percentiles are of latency, counted from when a
request was meant to start. Nothing here reads a clock or a file.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

PHASES = ("alone", "unmanaged", "slackwater")


class Request(Struct, frozen=True, gc=False):
    due: float  # seconds on the stage's clock
    latency_ms: float
    waited_ms: float  # the service's wait for a CPU since it began


class Reading(Struct, frozen=True, gc=False):
    """Counters of one moment, as they grow."""

    at: float
    used: float  # CPU seconds of the whole machine
    stolen: float  # CPU seconds that the machine's own host gave to others
    work: int  # hashes, all workers together
    ours: float = 0.0  # CPU seconds of the demonstration's own pods


class Round(Struct, frozen=True, kw_only=True):
    """What one phase gave in one of its rounds."""

    phase: str
    start: float
    end: float
    requests: int
    wait_ms: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    work: float  # hashes a second
    cpu_cores: float
    steal_cores: float
    others_cores: float = 0.0  # used by whoever else is on this machine


class Spread(Struct, frozen=True):
    median: float
    low: float
    high: float


class PhaseFigures(Struct, frozen=True, kw_only=True):
    name: str
    rounds: int
    requests: int  # in all rounds together
    wait_ms: Spread
    p50_ms: Spread
    p90_ms: Spread
    p99_ms: Spread
    work: Spread
    cpu_cores: Spread
    steal_cores: Spread
    others_cores: Spread


class Squeeze(Struct, frozen=True, kw_only=True):
    """What the first throttle of a round meant to release, and what it did; millicores."""

    gap: float
    released: float
    actual: float | None


class TooFew(Exception):
    """A round in which the service answered next to nothing: there is nothing to say about it."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all are not above; `values` are sorted."""
    return values[max(0, math.ceil(len(values) * share) - 1)]


def measured(phase: str, before: Reading, after: Reading, requests: Sequence[Request]) -> Round:
    """A round from the readings at its two ends and the requests that were due between them."""
    inside = [request for request in requests if before.at <= request.due < after.at]
    if len(inside) < 2:  # noqa: PLR2004 - a mean wait needs a first and a last request
        raise TooFew(
            f"of the requests of {after.at - before.at:.1f} s the service answered {len(inside)}: this machine is too busy with other work to show anything"
        )
    latencies = sorted(request.latency_ms for request in inside)
    seconds = after.at - before.at
    return Round(
        phase=phase,
        start=before.at,
        end=after.at,
        requests=len(inside),
        wait_ms=(inside[-1].waited_ms - inside[0].waited_ms) / (len(inside) - 1),
        p50_ms=percentile(latencies, 0.50),
        p90_ms=percentile(latencies, 0.90),
        p99_ms=percentile(latencies, 0.99),
        work=(after.work - before.work) / seconds,
        cpu_cores=cpu_cores(before, after),
        steal_cores=(after.stolen - before.stolen) / seconds,
        others_cores=others_cores(before, after),
    )


def cpu_cores(before: Reading, after: Reading) -> float:
    """Of the whole machine."""
    return (after.used - before.used) / max(after.at - before.at, 1e-9)


def others_cores(before: Reading, after: Reading) -> float:
    """Of the machine, by everybody but the demonstration's pods; the two are counted by different clocks of the kernel, so a little less than nothing is nothing."""
    ours = (after.ours - before.ours) / max(after.at - before.at, 1e-9)
    return max(0.0, cpu_cores(before, after) - ours)


def spread(values: Iterable[float]) -> Spread:
    known = list(values)
    return Spread(statistics.median(known), min(known), max(known))


def phase_figures(name: str, rounds: Iterable[Round]) -> PhaseFigures:
    own = [one for one in rounds if one.phase == name]

    def over(figure: Callable[[Round], float]) -> Spread:
        return spread(figure(one) for one in own)

    return PhaseFigures(
        name=name,
        rounds=len(own),
        requests=sum(one.requests for one in own),
        wait_ms=over(lambda one: one.wait_ms),
        p50_ms=over(lambda one: one.p50_ms),
        p90_ms=over(lambda one: one.p90_ms),
        p99_ms=over(lambda one: one.p99_ms),
        work=over(lambda one: one.work),
        cpu_cores=over(lambda one: one.cpu_cores),
        steal_cores=over(lambda one: one.steal_cores),
        others_cores=over(lambda one: one.others_cores),
    )


def all_phases(rounds: Sequence[Round]) -> tuple[PhaseFigures, ...]:
    there = {one.phase for one in rounds}
    return tuple(phase_figures(name, rounds) for name in PHASES if name in there)


def typical_squeeze(squeezes: Iterable[Squeeze]) -> Squeeze | None:
    """The squeeze with the median gap: one that really was, so that its three figures belong together."""
    ordered = sorted(squeezes, key=lambda squeeze: squeeze.gap)
    return ordered[(len(ordered) - 1) // 2] if ordered else None


class Bucket(Struct, frozen=True, kw_only=True):
    """A slice of the whole run, for the chart."""

    at: float  # its middle
    wait_ms: float | None  # None: no request was due in it
    p90_ms: float | None
    work: float
    cpu_cores: float
    steal_cores: float


def buckets(readings: Sequence[Reading], requests: Sequence[Request], width: float) -> list[Bucket]:
    """The run in slices of about `width` seconds, cut at readings."""
    if not readings:
        return []
    cuts = [readings[0]]
    for reading in readings[1:]:
        if reading.at - cuts[-1].at >= width:
            cuts.append(reading)
    slices = []
    position = 0
    for before, after in itertools.pairwise(cuts):
        while position < len(requests) and requests[position].due < before.at:
            position += 1
        first = position
        while position < len(requests) and requests[position].due < after.at:
            position += 1
        slices.append(_bucket(before, after, requests[max(0, first - 1) : position]))
    return slices


def _bucket(before: Reading, after: Reading, inside: Sequence[Request]) -> Bucket:
    """`inside` begins with the last request before the bucket: the wait is a difference."""
    seconds = after.at - before.at
    latencies = sorted(request.latency_ms for request in inside[1:])
    return Bucket(
        at=(before.at + after.at) / 2,
        wait_ms=(inside[-1].waited_ms - inside[0].waited_ms) / len(latencies) if latencies else None,
        p90_ms=percentile(latencies, 0.90) if latencies else None,
        work=(after.work - before.work) / seconds,
        cpu_cores=(after.used - before.used) / seconds,
        steal_cores=(after.stolen - before.stolen) / seconds,
    )
