"""
How a metric gets values from outside the samples: a function that is called on a thread of its own, at an interval, and
hands over a value that nobody changes any more.

The tick never waits for it. Whoever computes the metric takes the newest value, with its time, from the scene.
"""

from collections.abc import Callable

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.metrics.scene import Collected, Scene


class Collector(Struct, frozen=True, kw_only=True):
    name: str  # by which the scene knows its values: as its metric, or its package
    collect: Callable[[], object]  # None: nothing is known now
    every: Seconds

    def newest(self, scene: Scene) -> Collected | None:
        return scene.collected.get(self.name)
