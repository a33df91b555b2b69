"""
How the CPU is shared in one tick, as the kernel's fair scheduler does on average: by weight among siblings, at every level of the tree, and never more than a quota allows.

A group's wish is what its members wish, cut to its quota; what a group is given is shared among its members in proportion to their weights, and what one of them does not need
goes to the others. It knows averages only: no slices, no waiting, no tails. Pure.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

_CLOSE = 1e-9


class Member(Struct, frozen=True, kw_only=True, gc=False):
    """A leaf of the tree: a container, with what it wishes, in millicores."""

    key: int
    weight: float
    wish: float
    cap: float | None = None  # its quota

    @property
    def wants(self) -> float:
        return self.wish if self.cap is None else min(self.wish, self.cap)


class Group(Struct, frozen=True, kw_only=True):
    weight: float
    members: tuple["Group | Member", ...]
    cap: float | None = None

    @property
    def wants(self) -> float:
        whole = sum(member.wants for member in self.members)
        return whole if self.cap is None else min(whole, self.cap)


def shares(root: Group, capacity: float) -> dict[int, float]:
    """What each leaf gets, in millicores, by its key."""
    given: dict[int, float] = {}
    _share(root, min(capacity, root.wants), given)
    return given


def _share(group: Group, capacity: float, given: dict[int, float]) -> None:
    wants = [member.wants for member in group.members]
    parts = wants if sum(wants) <= capacity + _CLOSE else filled(capacity, [m.weight for m in group.members], wants)
    for member, part in zip(group.members, parts, strict=True):
        if isinstance(member, Member):
            given[member.key] = part
        else:
            _share(member, part, given)


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
