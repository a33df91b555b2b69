"""
What a tick does to the memory before anything is decided: the newest values join their windows, and what is over is
forgotten.

Everything here is bounded by time, so the memory of a busy year is as large as that of a busy hour.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from slackwater.api.units import Amount, Instant, Seconds
from slackwater.decide.memory import Flight, Memory
from slackwater.decide.settings import Settings
from slackwater.judge.verdicts import Verdict
from slackwater.snapshot.usage import Frames

HOUR = Seconds(3600)
Window = tuple[tuple[Instant, Amount], ...]


def remembered(memory: Memory, verdicts: Iterable[Verdict], frames: Frames, now: Instant, settings: Settings) -> Memory:
    """`verdicts` are the real rules' alone: a preview must not lengthen, widen or fill anything."""
    held = tuple(verdicts)
    return replace(
        memory,
        windows=_windows(memory.windows, held, now, settings.tick),
        flights=tuple(flight for flight in memory.flights if _shows_not(flight, frames)),
        evicting=tuple(one for one in memory.evicting if one.until > now),
        backoffs=tuple(one for one in memory.backoffs if one.until > now - HOUR),
        evicted_at=tuple(at for at in memory.evicted_at if now - at < max(HOUR, _longest(held))),
    )


def _longest(verdicts: Iterable[Verdict]) -> Seconds:
    """Cool-down of the rules."""
    return max((verdict.rule.cool_down for verdict in verdicts), default=Seconds(0))


def _windows(
    windows: dict[str, Window], verdicts: tuple[Verdict, ...], now: Instant, tick: Seconds
) -> dict[str, Window]:
    longest = _longest(verdicts) + 3 * tick
    fresh: dict[str, Window] = {}
    for verdict in verdicts:
        metric = verdict.rule.metric
        if metric is None or metric.name in fresh:
            continue
        points = tuple(point for point in windows.get(metric.name, ()) if now - point[0] <= longest)
        at = verdict.state.counted_at
        if verdict.counted and verdict.value is not None and at is not None:
            points = (*points, (at, verdict.value))
        fresh[metric.name] = points
    return fresh


def _shows_not(flight: Flight, frames: Frames) -> bool:
    """Whether some of the newest sample's interval had passed already when this was written."""
    before = frames.before
    return before is None or flight.at > before.at
