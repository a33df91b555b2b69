"""
Metrics that a scenario makes unreadable for a while.

A metric goes behind its gate before the simulation begins and is one and the same all along, as it is on a node: the agent compares metrics by what they are, and one that was
swapped under its feet would be another.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from slackwater.api.units import Amount
from slackwater.metrics.metric import Catalogue, Metric
from slackwater.metrics.reading import Element
from slackwater.metrics.scene import Scene
from slackwater.sim.mishaps import Fault, FaultKind


class Gate:
    """Stands before a metric: while it is shut nobody can read it."""

    def __init__(self, metric: Metric) -> None:
        self.shut = False
        self._metric = metric

    def gated(self) -> Metric:
        vector = None if self._metric.vector is None else self._vector
        return replace(self._metric, of_node=self._of_node, vector=vector)

    def _of_node(self, scene: Scene) -> Amount | None:
        return None if self.shut else self._metric.of_node(scene)

    def _vector(self, scene: Scene) -> tuple[Element, ...]:
        return () if self.shut or self._metric.vector is None else self._metric.vector(scene)


def gates_for(catalogue: Catalogue, faults: Sequence[Fault]) -> dict[str, Gate]:
    names = {fault.metric for fault in faults if fault.kind is FaultKind.MISSING_METRIC}
    return {name: Gate(catalogue.metrics[name]) for name in sorted(names)}


def through(catalogue: Catalogue, gates: Mapping[str, Gate]) -> Catalogue:
    """The same metrics, some of them behind their gates."""
    return replace(catalogue, metrics={**catalogue.metrics, **{name: gate.gated() for name, gate in gates.items()}})
