"""
Steps as a metric tells them itself: asked for one by one, bounded by what holds for everybody.

The walk is that of every other metric: group by group, within a group one step each, round after round, until the gap
is closed. A step that would go below a floor is taken as far as the floor, the last one is cut to what the gap needs,
and of either only that part counts as released. A step that lowers nothing, or that is to release a number and releases
none, is no step: nobody is squeezed for nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Amount, Millicores
from slackwater.decide.ladder import Ladder, Squeeze
from slackwater.metrics.metric import Metric
from slackwater.metrics.scene import Scene
from slackwater.metrics.steps import Standing, Step

MOST_STEPS = 100
"""Of one pod in one tick: a function whose steps are next to nothing must not hold the tick."""

Levels = Mapping[str, Millicores]


class Lowered(Struct, frozen=True):
    """One pod, as the steps so far leave it."""

    ladder: Ladder
    levels: Levels = {}  # by container
    amounts: Mapping[str, Amount] = {}  # released so far, by metric
    cut: bool = False  # the last step was cut to what the gap needed, which closes it

    def standings(self) -> tuple[Standing, ...]:
        return tuple(
            Standing(
                container=rung.container,
                usage=rung.usage,
                level=self.levels.get(rung.container, rung.start),
                floor=rung.floor,
                step=rung.step,
                reference=rung.reference,
            )
            for rung in self.ladder.rungs
        )

    def squeeze(self) -> Squeeze:
        quotas = tuple((r, self.levels[r.container]) for r in self.ladder.rungs if r.container in self.levels)
        release = Millicores(sum(max(0, rung.usage - level) for rung, level in quotas))
        return Squeeze(self.ladder, quotas, release, self.amounts)


def walk(scene: Scene, metric: Metric, groups: Iterator[list[Ladder]], gap: Amount) -> tuple[list[Squeeze], Amount]:
    """Who is squeezed how far, and what of the gap is still open; a group that is not reached is not even looked at."""
    squeezes: list[Squeeze] = []
    while gap > 0 and (group := next(groups, None)) is not None:
        taken, gap = _rounds(scene, metric, group, gap)
        squeezes += taken
    return squeezes, gap


def single(scene: Scene, metric: Metric, group: Sequence[Ladder]) -> list[Squeeze]:
    """One step of everybody, where nobody can say what it releases."""
    lowered = (one_more(scene, metric, Lowered(ladder), None) for ladder in group)
    return [replace(one, amounts={}).squeeze() for one in lowered if one is not None]


def _rounds(scene: Scene, metric: Metric, group: list[Ladder], gap: Amount) -> tuple[list[Squeeze], Amount]:
    lowered = {ladder.pod.uid: Lowered(ladder) for ladder in group}
    hungry = list(lowered)
    for _ in range(MOST_STEPS):
        again = []
        for uid in hungry:
            further = one_more(scene, metric, lowered[uid], gap) if gap > 0 else None
            if further is not None:
                open_gap = gap - _of(further, metric) + _of(lowered[uid], metric)
                gap = Amount(0.0 if further.cut else open_gap)
                lowered[uid] = further
                again.append(uid)
        hungry = again
    return [one.squeeze() for one in lowered.values() if one.levels], gap


def _of(lowered: Lowered, metric: Metric) -> float:
    return lowered.amounts.get(metric.name, 0.0)


def one_more(scene: Scene, metric: Metric, lowered: Lowered, at_most: Amount | None) -> Lowered | None:
    """The pod after one step more; None: it has none. `at_most` None: the release cannot be held against anything."""
    standings = lowered.standings()
    step = metric.throttle_step(scene, lowered.ladder.pod, standings) if metric.throttle_step else None
    if step is None:
        return None
    levels, cut = _bounded(step, standings), False
    if at_most is not None:
        release = _part(step, standings, levels) * step.amounts.get(metric.name, 0.0)
        if release <= 0:
            return None
        cut = release > at_most
        levels = _cut(standings, levels, at_most / release) if cut else levels
    if not levels:
        return None
    amounts = _sum(lowered.amounts, step, _part(step, standings, levels))
    if cut and at_most is not None:
        # Quotas are whole millicores: nobody is squeezed or evicted for the part of one that rounding leaves.
        amounts[metric.name] = Amount(lowered.amounts.get(metric.name, 0.0) + at_most)
    return Lowered(lowered.ladder, {**lowered.levels, **levels}, amounts, cut)


def _sum(before: Mapping[str, Amount], step: Step, part: float) -> dict[str, Amount]:
    fresh = {name: Amount(before.get(name, 0.0) + max(0.0, amount) * part) for name, amount in step.amounts.items()}
    return {**before, **fresh}


def _bounded(step: Step, standings: tuple[Standing, ...]) -> dict[str, Millicores]:
    """What it lowers, and no lower than the floors."""
    asked = {one.container: max(one.floor, step.quotas.get(one.container, one.level)) for one in standings}
    return {one.container: Millicores(to) for one in standings if (to := asked[one.container]) < one.level}


def _cut(standings: tuple[Standing, ...], levels: Levels, part: float) -> dict[str, Millicores]:
    """Only so much of it; rounded so that it is never more."""
    before = {one.container: one.level for one in standings}
    cut = {name: Millicores(before[name] - int((before[name] - to) * part + 1e-9)) for name, to in levels.items()}
    return {name: to for name, to in cut.items() if to < before[name]}


def _part(step: Step, standings: tuple[Standing, ...], levels: Levels) -> float:
    """How much of what was asked for these levels are: a part of a step releases that part of it."""
    asked = sum(max(0, one.level - step.quotas.get(one.container, one.level)) for one in standings)
    taken = sum(one.level - levels.get(one.container, one.level) for one in standings)
    return taken / asked if asked else 0.0
