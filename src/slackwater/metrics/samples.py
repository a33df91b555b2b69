"""
Readings straight from the newest samples of the host.

A metric that the newest sample cannot give is read as it was when it last could be, with that moment as its age; the
reader decides whether that is still fresh.
"""

from collections.abc import Mapping

from msgspec import Struct

from slackwater.api.units import Instant, Seconds
from slackwater.metrics.metric import Catalogue, Metric
from slackwater.metrics.reading import Element, Reading
from slackwater.metrics.scene import Scene


class SampleReadings(Struct, frozen=True):
    """Implements Readings."""

    known: Mapping[str, Reading] = {}

    def read(self, metric: str) -> Reading | None:
        return self.known.get(metric)

    def with_scene(self, scene: Scene, catalogue: Catalogue, names: frozenset[str], tick: Seconds) -> "SampleReadings":
        """The readings after a new sample; only of the metrics that somebody asks for."""
        if scene.frames.newest is None:
            return self
        fresh = dict(self.known)
        for name in names:
            metric = catalogue.get(name)
            elements = metric.elements(scene) if metric else ()
            if metric and elements:
                fresh[name] = _reading(metric, elements, scene, scene.frames.newest.at, tick)
        return SampleReadings(fresh)


def _reading(
    metric: Metric, elements: tuple[Element, ...], scene: Scene, sampled_at: Instant, tick: Seconds
) -> Reading:
    """What a collector brought is as old as it is, however new the sample."""
    collected = metric.collector.newest(scene) if metric.collector else None
    beside = metric.beside(scene) if metric.beside else None
    if metric.collector is None or collected is None:
        return Reading(elements, sampled_at, tick, beside)
    return Reading(elements, collected.at, Seconds(max(tick, metric.collector.every)), beside)
