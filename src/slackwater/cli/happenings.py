"""
Events as a person reads them: one line for one thing that happened.

The agent tells an act on the node and on each pod, as an API server wants it, and the lab tells of the same pods once
more when it has carried it out. For scripts all of them stay; here they are one.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.cluster.edge import Event

_SOON = Seconds(10.0)  # what is told of one thing is told within this


class Happening(Struct, frozen=True):
    """The first event that told of it, and all objects that it was told of."""

    event: Event
    objects: tuple[str, ...]

    def covers(self, event: Event) -> bool:
        mine = self.event
        same = event.message == mine.message or event.object in self.objects
        return event.reason == mine.reason and same and event.at - mine.at <= _SOON

    def __str__(self) -> str:
        at = datetime.fromtimestamp(self.event.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        mark = "!" if self.event.warning else " "
        return f"{at} {mark} {', '.join(self._shown)}: {self.event.reason}: {self.event.message}"

    @property
    def _shown(self) -> tuple[str, ...]:
        """The node is told of whatever is done to its pods; then it is the pods that matter."""
        pods = tuple(one for one in self.objects if one.startswith("Pod/"))
        return pods or self.objects


def happenings(events: Iterable[Event]) -> list[Happening]:
    """In the order of the first event of each."""
    found: list[Happening] = []
    for event in events:
        place = next((at for at in reversed(range(len(found))) if found[at].covers(event)), None)
        if place is None:
            found.append(Happening(event, (event.object,)))
        else:
            objects = tuple(dict.fromkeys((*found[place].objects, event.object)))
            found[place] = Happening(found[place].event, objects)
    return found
