"""
The wait: how long a metric must have been harmless before anything is given back for it.

It begins at a rule's last harm, as long as the longest cool-down concerned. Where giving back brought the harm back it
doubles; where a grant has held it halves; calm ends it. That is what keeps a steady load from swinging.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from slackwater.api.units import Seconds
from slackwater.claims.claim import Throttled
from slackwater.decide.memory import Wait
from slackwater.decide.room import base_wait
from slackwater.decide.situation import Situation
from slackwater.judge.states import Phase
from slackwater.judge.verdicts import Change, Verdict

HELD_FOR_WAITS = 4
CALM = 0.8  # of the waterline: below it the wait is as short as ever


def binds(verdict: Verdict) -> bool:
    """Whether a rule has a say in giving CPU back: it throttles or evicts on a metric that a quota moves."""
    metric = verdict.rule.metric
    return metric is not None and metric.moved_by_quota and (verdict.rule.throttles or verdict.rule.evicts)


def metrics_of(concerned: Iterable[Verdict]) -> list[str]:
    return sorted({verdict.rule.metric.name for verdict in concerned if verdict.rule.metric})


def uncounted(situation: Situation, claim: Throttled) -> list[Verdict]:
    """The rules behind a throttle that have no waterline to hold a grant against."""
    return [v for v in situation.verdicts if v.state.id in claim.causes and not binds(v)]


def all_waits(situation: Situation, concerned: Sequence[Verdict]) -> dict[str, Wait]:
    """Of the metrics that bound what is given back, and of those that only say that something is wrong."""
    others = [v for v in situation.verdicts if v.rule.throttles and not binds(v)]
    waits = {metric: _wait(situation, metric, concerned) for metric in metrics_of(concerned)}
    for metric in metrics_of(others):
        own = [verdict for verdict in others if verdict.rule.metric and verdict.rule.metric.name == metric]
        waits[metric] = _wait(situation, metric, own)
    return waits


def wait_left(situation: Situation, verdict: Verdict, waits: Mapping[str, Wait], base: Seconds) -> Seconds:
    """How long until its last harm is as long ago as its metric's wait. 0: it is, or there was none."""
    harm, metric = verdict.state.last_harm, verdict.rule.metric
    if harm is None:
        return Seconds(0)
    wait = waits.get(metric.name, Wait()) if metric else Wait()
    return Seconds(max(0.0, max(wait.seconds, base) - (situation.now - harm)))


def is_over(situation: Situation, verdict: Verdict, waits: Mapping[str, Wait]) -> bool:
    waiting = wait_left(situation, verdict, waits, base_wait(situation, [verdict]))
    return not waiting and verdict.state.phase is Phase.IDLE


def _wait(situation: Situation, metric: str, concerned: Sequence[Verdict]) -> Wait:
    """The metric's wait as this tick leaves it: doubled by a relapse, halved where a grant has held, reset by calm."""
    here = [v for v in concerned if v.rule.metric and v.rule.metric.name == metric]
    wait = situation.memory.waits.get(metric, Wait())
    base = base_wait(situation, concerned)
    seconds, now = max(wait.seconds, base), situation.now
    if _is_calm(situation, wait, seconds, here):
        return replace(wait, seconds=Seconds(0))
    if wait.granted_at is None:
        return wait
    if any(Change.ACTIVATED in v.changes for v in here) and now - wait.granted_at <= seconds:
        longer = min(2 * seconds, max(base, situation.settings.restore_wait_max))
        # That grant has had its answer: it neither doubles the wait once more nor proves anything by time.
        return Wait(seconds=Seconds(longer))
    if now - max(wait.granted_at, wait.proven_at or wait.granted_at) >= HELD_FOR_WAITS * seconds:
        return replace(wait, seconds=Seconds(max(base, seconds / 2)), proven_at=now)
    return wait


def _is_calm(situation: Situation, wait: Wait, seconds: Seconds, here: Sequence[Verdict]) -> bool:
    """
    Where nothing can be counted, calm may be of our own making: it proves nothing as long as something is held back for
    it, nor until what was given back has held for a wait.
    """
    if any(v.value is None or v.value >= CALM * (v.rule.rule.value or 0.0) for v in here):
        return False
    if all(binds(verdict) for verdict in here):
        return True
    causes = {cause for claim in situation.memory.throttled for cause in claim.causes}
    held = any(verdict.state.id in causes for verdict in here)
    return not held and (wait.granted_at is None or situation.now - wait.granted_at > seconds)
