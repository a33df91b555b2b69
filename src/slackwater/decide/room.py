"""
How much may be given back: what a metric leaves free below its lowest waterline, less a margin, over a whole wait.

What is not known over all of that time leaves no room: giving back waits for what it can rest on.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from slackwater.api.units import Amount, Millicores, Seconds
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric

DEFAULT_COOL_DOWN = Seconds(300)
LEAST_TICKS_OF_WAIT = 3
LEAST_GRANT = Millicores(10)
UNBOUNDED = float("inf")


def base_wait(situation: Situation, concerned: Iterable[Verdict]) -> Seconds:
    """How long all must have been harmless at least: the longest cool-down of these rules."""
    longest = max((verdict.rule.cool_down for verdict in concerned), default=DEFAULT_COOL_DOWN)
    return Seconds(max(longest, LEAST_TICKS_OF_WAIT * situation.settings.tick))


def room_in(situation: Situation, metric: Metric, here: Sequence[Verdict], window: Seconds) -> float | None:
    """In the metric's own unit; infinite where its rules bound nothing any more; None where something is not known."""
    if all(verdict.state.released_blind for verdict in here):
        return UNBOUNDED
    highest = highest_seen(situation, metric, window)
    if highest is None or any(verdict.missing for verdict in here):
        return None
    line = min(verdict.rule.rule.value or 0.0 for verdict in here) * (1 - situation.settings.restore_margin)
    return line - highest + min(0.0, situation.acted(metric))


def highest_seen(situation: Situation, metric: Metric, window: Seconds) -> Amount | None:
    """The highest usage in the window; None where samples do not cover all of it."""
    every = max(situation.settings.tick, metric.collector.every if metric.collector else 0.0)
    begin, step = situation.now - window, 2.5 * every
    points = situation.memory.windows.get(metric.name, ())
    inside = [(at, value) for at, value in points if at > begin]
    times = [at for at, _ in inside]
    if not times or times[0] - begin > step or situation.now - times[-1] > step:
        return None
    if any(later - earlier > step for earlier, later in pairwise(times)):
        return None
    return max(value for _, value in inside)
