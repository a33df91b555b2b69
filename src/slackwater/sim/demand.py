"""
What somebody would use of the CPU if nobody held it back, as a function of the time since the simulation began.

Demands are pure: the same demand says the same of the same moment, in whatever order and however often it is asked, so a run is repeated by its seed alone. Noise comes from
a hash of seed and moment, not from a generator that remembers.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from slackwater.api.units import Seconds

Demand = Callable[[Seconds], float]
"""Millicores (or bytes of memory) wanted, on average over the tick that begins then; never below zero."""

DAY = 86_400.0
BEGINNING = Seconds(0.0)
_WORD = (1 << 64) - 1
_HALF_WORD = 1 << 32


def constant(cpu: float) -> Demand:
    return lambda _: cpu


def steps(levels: Iterable[tuple[Seconds, float]]) -> Demand:
    """Each level from its moment on; nothing before the first."""
    ordered = sorted(levels)
    times = [at for at, _ in ordered]
    heights = [0.0, *(cpu for _, cpu in ordered)]
    return lambda now: heights[bisect_right(times, now)]


def recorded(levels: Sequence[tuple[Seconds, float]], every: Seconds) -> Demand:
    """A trace, from its first sample at the beginning on; after the last, which holds as long as the one before (a lone one for `every`), it begins again."""
    times = [at for at, _ in levels]
    heights = [cpu for _, cpu in levels]
    whole = times[-1] + (times[-1] - times[-2] if len(times) > 1 else every)
    return lambda now: heights[bisect_right(times, now % whole) - 1]


def day(low: float, high: float, peak: Seconds, midnight: Seconds = BEGINNING) -> Demand:
    """A smooth day: `high` so long after midnight as `peak` says, `low` half a day from there. `midnight` is when the simulation's first day began."""
    middle, swing = (high + low) / 2, (high - low) / 2
    return lambda now: middle + swing * math.cos(2 * math.pi * (now - midnight - peak) / DAY)


def noisy(demand: Demand, deviation: float, seed: int, name: str) -> Demand:
    """Independent from moment to moment, normally distributed; `name` makes it another's noise under the same seed."""
    salt = int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=8).digest(), "big")
    return lambda now: max(0.0, demand(now) + deviation * _normal(salt, now))


def _normal(salt: int, now: float) -> float:
    """One of a pair that two uniform numbers make (Box and Muller)."""
    word = _mixed(salt + round(now * 1_000))
    radius = math.sqrt(-2 * math.log(((word >> 32) + 1) / _HALF_WORD))
    return radius * math.cos(2 * math.pi * (word & (_HALF_WORD - 1)) / _HALF_WORD)


def _mixed(word: int) -> int:
    """Spreads every bit of the input over all bits of the output (SplitMix64's finisher)."""
    word = (word * 0x9E3779B97F4A7C15) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)
