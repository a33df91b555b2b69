"""
How the CPU is shared in one tick, as the kernel's fair scheduler does on average: by weight among siblings, at every level of the tree, and never more than a quota allows.

What a group wants is what its members want, each cut to its quota; what it is given is shared among its members in proportion to their weights, and what one of them does not need
goes to the others. It knows averages only: no slices, no waiting, no tails. Pure.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

_CLOSE = 1e-9


class Member(Struct, frozen=True, gc=False):
    """A leaf of the tree: a container."""

    key: int
    weight: float
    wants: float  # millicores, as far as its quota lets it


class Group(Struct, frozen=True):
    weight: float
    members: tuple["Group | Member", ...]
    wants: float  # all of them together


def member(key: int, weight: float, wish: float, cap: float | None = None) -> Member:
    return Member(key, weight, wish if cap is None or wish < cap else cap)


def group(weight: float, members: tuple[Group | Member, ...]) -> Group:
    return Group(weight, members, sum([one.wants for one in members]))


def shares(root: Group, capacity: float) -> dict[int, float]:
    """What each leaf gets, in millicores, by its key."""
    given: dict[int, float] = {}
    _share(root, min(capacity, root.wants), given)
    return given


def _share(whole: Group, capacity: float, given: dict[int, float]) -> None:
    wants = [one.wants for one in whole.members]
    if whole.wants > capacity + _CLOSE:
        wants = filled(capacity, [one.weight for one in whole.members], wants)
    for one, part in zip(whole.members, wants, strict=True):
        if isinstance(one, Member):
            given[one.key] = part
        else:
            _share(one, part, given)


def filled(capacity: float, weights: Sequence[float], wants: Sequence[float]) -> list[float]:
    """As water fills vessels: all rise together, as fast as they are heavy, and who is full stops rising. They want more than there is."""
    level, left, heavy = 0.0, capacity, float(sum(weights))
    for want, weight in _by_fullness(wants, weights):
        level = left / heavy
        if want <= level * weight:
            left -= want
            heavy -= weight
            continue
        break
    return [min(want, level * weight) for want, weight in zip(wants, weights, strict=True)]


def _by_fullness(wants: Iterable[float], weights: Iterable[float]) -> list[tuple[float, float]]:
    """Who is full first, first."""
    return sorted(zip(wants, weights, strict=True), key=lambda one: one[0] / one[1])
