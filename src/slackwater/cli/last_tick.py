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
from slackwater.agent.carried import Given, Page
from slackwater.api.units import Seconds, Wall
from slackwater.decide.standing import Standstill
from slackwater.decide.standstill import HOUR, Left, standstill
from slackwater.journal.edge import Entry
from slackwater.journal.reading import Reader
from slackwater.metrics.builtin import BUILTIN
from slackwater.snapshot.usage import Frames

_TICKS = 4  # enough for what is used now, and for a farewell
_LOOK_BACK = (Seconds(120), Seconds(4 * 3600))  # the longer for those who tick but once an hour


class Untold(Exception):
    """Nothing can be said of the newest tick; the message says why."""


class LastTick(Struct, frozen=True):
    standing: Standstill
    interval: Seconds  # between two ticks
    ended_at: Wall | None  # when the agent said farewell; None: it has not


class _Tick(Struct, frozen=True):
    entry: Entry
    page: Page


def last_tick(reader: Reader, pod: str) -> LastTick:
    """Raises Untold, and what the reader raises."""
    ticks = _newest(reader)
    living = [(tick, tick.page.given) for tick in ticks if tick.page.given is not None]
    if not living:
        raise Untold("the newest entry in the journal is the agent's farewell, and no tick is left before it")
    (told, given), newest = living[-1], ticks[-1]
    standing = standstill(_left(reader, told, given, [tick for tick, _ in living]), BUILTIN, pod)
    ended_at = newest.entry.at if newest.page.given is None else None
    return LastTick(standing, given.settings.tick, ended_at)


def _left(reader: Reader, told: _Tick, given: Given, ticks: list[_Tick]) -> Left:
    decisions = reader.decisions(Wall(told.entry.at - HOUR))
    return Left(
        now=told.entry.instant,
        wall=told.entry.at,
        mode=given.mode,
        mode_why=given.mode_why,
        settings=given.settings,
        capacity=given.capacity,
        view=told.entry.view,
        memory=told.page.memory,
        frames=Frames(tuple(tick.entry.sample for tick in ticks if tick.entry.sample is not None)),
        decisions=tuple(one for one in decisions if one.instant <= told.entry.instant),
    )


def _newest(reader: Reader) -> list[_Tick]:
    last = reader.last()
    if last is None:
        raise Untold("the journal holds no tick")
    entries: deque[Entry] = deque()
    for back in _LOOK_BACK:
        entries = deque(reader.entries(Wall(last.at - back)), maxlen=_TICKS)
        if len(entries) == _TICKS:
            break
    pages = [(entry, _page(entry.memory)) for entry in entries]
    if pages[-1][1] is None:
        raise Untold("another version wrote the newest tick in the journal, and what it carried cannot be read")
    return [_Tick(entry, page) for entry, page in pages if page is not None]


def _page(text: bytes) -> Page | None:
    """None: another version wrote it, as it may be with those from before an upgrade."""
    try:
        return carried.decoded(text)
    except msgspec.MsgspecError:
        return None
