"""
The newest tick of a journal, as `decide.standstill` wants it: what the agent saw last, and what it carried on from
there.

Where the agent has ended, that is its last tick before it gave everything back: afterwards nothing stands that could be
told.
"""

from collections import deque

import msgspec
from msgspec import Struct

from slackwater.agent import carried
from slackwater.api.units import Seconds, Wall
from slackwater.decide.memory import Memory, Terms
from slackwater.decide.standing import Standstill
from slackwater.decide.standstill import HOUR, Left, standstill
from slackwater.journal.edge import Entry
from slackwater.journal.reading import Reader
from slackwater.metrics.builtin import BUILTIN
from slackwater.snapshot.usage import Frames

_TICKS = 4  # enough for what is used now, and for a farewell
_LEAST_SECONDS = 60.0


class Untold(Exception):
    """Nothing can be said of the newest tick; the message says why."""


class LastTick(Struct, frozen=True):
    standing: Standstill
    interval: Seconds  # between two ticks
    ended_at: Wall | None  # when the agent said farewell; None: it has not


class _Tick(Struct, frozen=True):
    entry: Entry
    memory: Memory
    terms: Terms


def last_tick(reader: Reader, pod: str) -> LastTick:
    """Raises Untold, and what the reader raises."""
    ticks = _newest(reader)
    living = [tick for tick in ticks if not tick.terms.ended] or ticks
    newest, told = ticks[-1], living[-1]
    decisions = reader.decisions(Wall(told.entry.at - HOUR))
    left = Left(
        now=told.entry.instant,
        wall=told.entry.at,
        view=told.entry.view,
        memory=told.memory,
        frames=Frames(tuple(tick.entry.sample for tick in living if tick.entry.sample is not None)),
        decisions=tuple(one for one in decisions if one.instant <= told.entry.instant),
    )
    standing = standstill(left, told.terms, BUILTIN, pod)
    return LastTick(standing, told.terms.settings.tick, newest.entry.at if newest.terms.ended else None)


def _newest(reader: Reader) -> list[_Tick]:
    last = reader.last()
    if last is None:
        raise Untold("the journal holds no tick")
    interval = _terms(_memory(last.memory)).settings.tick
    first = Wall(last.at - max(_LEAST_SECONDS, _TICKS * interval))
    ticks = []
    for entry in deque(reader.entries(first), maxlen=_TICKS):
        memory = _memory(entry.memory)
        if memory.terms is not None:
            ticks.append(_Tick(entry, memory, memory.terms))
    return ticks


def _memory(text: bytes) -> Memory:
    try:
        return carried.decoded(text)
    except msgspec.MsgspecError as error:
        raise Untold(
            "another version wrote the newest tick in the journal, and what it carried cannot be read"
        ) from error


def _terms(memory: Memory) -> Terms:
    if memory.terms is None:
        raise Untold("an earlier version wrote the newest tick in the journal, without what was set then")
    return memory.terms
