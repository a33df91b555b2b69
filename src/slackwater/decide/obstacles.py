"""
What stands in the way of giving back, said in the order in which `restore` asks.

It changes nothing and decides nothing: the questions are those of `restore` itself, asked of the situation that a tick
left behind, so that the answer can be told while somebody waits for it.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.decide import restore, sentence, waiting
from slackwater.decide.room import LEAST_GRANT, base_wait, highest_seen
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric


class Obstacle(Struct, frozen=True, kw_only=True):
    kind: str  # engaged | wait | missing | window | room
    rule: str = ""  # policy/rule
    metric: str = ""
    left_s: Seconds | None = None  # how long until it is out of the way, where time alone does that
    why: str


def obstacles(situation: Situation) -> tuple[Obstacle, ...]:
    """Empty: the next sample gives back. Only of worth where something is held back."""
    concerned = [verdict for verdict in situation.verdicts if waiting.binds(verdict)]
    base = base_wait(situation, concerned)
    found = (
        tuple(_engaged(concerned))
        or tuple(_waits(situation, concerned, base))
        or tuple(_no_room(situation, concerned, base))
    )
    return found or _behind_all(situation)


def _engaged(concerned: Iterable[Verdict]) -> Iterator[Obstacle]:
    for verdict in concerned:
        if verdict.state.engaged or verdict.state.bad_now:
            title = verdict.rule.title
            yield Obstacle(kind="engaged", rule=title, metric=_name(verdict), why=f"{title} is {_phase(verdict)}")


def _phase(verdict: Verdict) -> str:
    return verdict.state.phase.value if verdict.state.engaged else "bad just now"


def _waits(situation: Situation, concerned: Iterable[Verdict], base: Seconds) -> Iterator[Obstacle]:
    for verdict in concerned:
        left = waiting.wait_left(situation, verdict, situation.memory.waits, base)
        if left:
            yield _wait(situation, verdict, left, base)


def _wait(situation: Situation, verdict: Verdict, left: Seconds, base: Seconds) -> Obstacle:
    harm = verdict.state.last_harm or situation.now
    whole = left + situation.now - harm
    grown = ", longer than its cool-down because giving back had brought the harm back" if whole > base else ""
    title = verdict.rule.title
    why = f"the wait since {title} last did harm has {sentence.span(left)} of {sentence.span(whole)} left{grown}"
    return Obstacle(kind="wait", rule=title, metric=_name(verdict), left_s=left, why=why)


def _no_room(situation: Situation, concerned: Sequence[Verdict], window: Seconds) -> Iterator[Obstacle]:
    for metric in situation.catalogue.by_rank(waiting.metrics_of(concerned)):
        here = [verdict for verdict in concerned if verdict.rule.metric == metric]
        room = restore.room_for(situation, here, window, {})
        if room is None:
            yield _unknown(metric, here, window)
        elif room.cpu < LEAST_GRANT:
            yield _full(situation, metric, here, window)


def _unknown(metric: Metric, here: Iterable[Verdict], window: Seconds) -> Obstacle:
    name = sentence.subject(metric.name)
    if any(verdict.missing for verdict in here):
        return Obstacle(kind="missing", metric=metric.name, why=f"{name} is missing, so nobody knows how much is free")
    why = f"the last {sentence.span(window)} of {name} are not wholly known yet, and as long it must have been harmless"
    return Obstacle(kind="window", metric=metric.name, why=why)


def _full(situation: Situation, metric: Metric, here: Iterable[Verdict], window: Seconds) -> Obstacle:
    highest = highest_seen(situation, metric, window) or 0.0
    line, unit = min(verdict.rule.rule.value or 0.0 for verdict in here), metric.unit.value
    margin = situation.settings.restore_margin
    why = (
        f"there is no room: {sentence.subject(metric.name)} was up to {sentence.amount(highest, unit)} in the last "
        f"{sentence.span(window)}, and giving back stops at {sentence.figure(line * (1 - margin), unit)} "
        f"(waterline {sentence.figure(line, unit)} less {margin:.0%})"
    )
    return Obstacle(kind="room", metric=metric.name, why=why)


def _behind_all(situation: Situation) -> tuple[Obstacle, ...]:
    """Rules without a waterline to hold a grant against, where they keep every single throttle that there is."""
    behind = [waiting.uncounted(situation, claim) for claim in situation.memory.throttled]
    unfinished = [[v for v in rules if not waiting.is_over(situation, v, situation.memory.waits)] for rules in behind]
    if not all(unfinished):
        return ()
    by_title = {verdict.rule.title: verdict for rules in unfinished for verdict in rules}
    return tuple(_behind(situation, by_title[title]) for title in sorted(by_title))


def _behind(situation: Situation, verdict: Verdict) -> Obstacle:
    title = verdict.rule.title
    if verdict.state.engaged or verdict.state.bad_now:
        return Obstacle(kind="engaged", rule=title, metric=_name(verdict), why=f"{title} is {_phase(verdict)}")
    base = base_wait(situation, [verdict])
    return _wait(situation, verdict, waiting.wait_left(situation, verdict, situation.memory.waits, base), base)


def _name(verdict: Verdict) -> str:
    return verdict.rule.metric.name if verdict.rule.metric else ""
