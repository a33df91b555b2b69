"""
A ladder: how far one pod can be squeezed, step by step, and what each step releases.

All containers of a pod step together, each by its own part. The level of each after so many steps, and so what is
released, is a closed form; a group of pods is therefore walked by halving, however many rounds it takes, and only the
last round pod by pod. The last step is cut to what the gap needs.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Millicores


class Rung(Struct, frozen=True, kw_only=True):
    """One container that can give something: its start and its usage both lie above its floor."""

    container: str
    usage: Millicores  # now, as far as its present quota lets it
    start: Millicores  # from where steps are counted: the lesser of its quota and its mean usage
    floor: Millicores
    step: Millicores
    reference: Millicores
    quota: Millicores | None  # what stands there now

    def level(self, steps: int) -> Millicores:
        return Millicores(max(self.floor, self.start - steps * self.step))

    def release(self, steps: int) -> Millicores:
        return Millicores(max(0, self.usage - self.level(steps)) if steps else 0)

    @property
    def height(self) -> int:
        return max(0, -(-(self.start - self.floor) // self.step))


class Ladder(Struct, frozen=True):
    pod: Pod
    rungs: tuple[Rung, ...]

    def release(self, steps: int) -> Millicores:
        return Millicores(sum(rung.release(steps) for rung in self.rungs))

    @property
    def height(self) -> int:
        return max((rung.height for rung in self.rungs), default=0)


class Squeeze(Struct, frozen=True):
    """What one pod gives: a new quota for each of its containers that changes, and what that releases."""

    ladder: Ladder
    quotas: tuple[tuple[Rung, Millicores], ...]
    release: Millicores
    amounts: Mapping[str, Amount] = {}  # and in metrics that tell their own steps, by name


def squeeze(group: Sequence[Ladder], gap: Millicores) -> tuple[list[Squeeze], Millicores]:
    """
    The group's pods one step each, round after round, until the gap is closed or nobody can give more; and what is
    still open.

    What is released never exceeds the gap.
    """
    if gap <= 0:
        return [], gap
    rounds = _full_rounds(group, gap)
    open_gap = Millicores(gap - sum(ladder.release(rounds) for ladder in group))
    taken = []
    for ladder in group:
        squeezed, open_gap = _last_step(ladder, rounds, open_gap)
        if squeezed.quotas:
            taken.append(squeezed)
    return taken, open_gap


def one_step(group: Sequence[Ladder]) -> list[Squeeze]:
    """One step of everybody, whatever it releases: where the release cannot be held against a gap."""
    return [_stepped(ladder, 1) for ladder in group if ladder.height]


def _full_rounds(group: Sequence[Ladder], gap: Millicores) -> int:
    """The most rounds after which the gap is still open: so the one that closes it is walked pod by pod."""
    low, high = 0, max((ladder.height for ladder in group), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(ladder.release(middle) for ladder in group) < gap:
            low = middle
        else:
            high = middle - 1
    return low


def _stepped(ladder: Ladder, steps: int) -> Squeeze:
    if not steps:
        return Squeeze(ladder, (), Millicores(0))
    quotas = tuple((rung, rung.level(steps)) for rung in ladder.rungs)
    return Squeeze(ladder, quotas, ladder.release(steps))


def _last_step(ladder: Ladder, rounds: int, open_gap: Millicores) -> tuple[Squeeze, Millicores]:
    """One step more than the full rounds, whole or cut, as long as anything is open."""
    so_far = _stepped(ladder, rounds)
    if open_gap <= 0 or rounds >= ladder.height:
        return so_far, open_gap
    further = ladder.release(rounds + 1) - so_far.release
    if further <= open_gap:
        return _stepped(ladder, rounds + 1), Millicores(open_gap - further)
    return _cut(ladder, rounds, open_gap), Millicores(0)


def _cut(ladder: Ladder, rounds: int, needed: Millicores) -> Squeeze:
    """A step of which only so much is taken, from each container in proportion to what its whole step would release."""
    whole = [rung.release(rounds + 1) - rung.release(rounds) for rung in ladder.rungs]
    quotas = []
    seen = taken = 0
    for rung, part in zip(ladder.rungs, whole, strict=True):
        seen += part
        share = needed * seen // sum(whole) - taken
        taken += share
        if share:
            # From what is used now: where that is above the mean, a part of the first step lies above the mean too.
            quotas.append((rung, Millicores(rung.usage - rung.release(rounds) - share)))
        elif rounds:
            quotas.append((rung, rung.level(rounds)))
    return Squeeze(ladder, tuple(quotas), Millicores(ladder.release(rounds) + taken))
