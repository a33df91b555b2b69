"""
What the agent said it does, as a scenario's record: its decisions from all its lives, each with the moment of the simulation at which it was heard.

The agent's own times are a calendar's, which may jump, and its journal may be lost; so decisions are taken down as they are handed to the journal. What is measured of them later
is folded in, as the journal does it.
"""

from collections.abc import Iterator

from slackwater.api.units import Seconds
from slackwater.decide import sentence
from slackwater.decide.plan import ActionKind, Decision, Measurement, Operation
from slackwater.journal.measuring import folded
from slackwater.sim.result import Moment, Released, Row
from slackwater.sim.world import Simulation
from slackwater.snapshot.knobs import Knob

RELEASING = frozenset({ActionKind.THROTTLE, ActionKind.EVICT})
OF_THE_NODE = frozenset({ActionKind.DISABLE_SCHEDULING, ActionKind.ENABLE_SCHEDULING})


class Hearing:
    """Hears a simulation's journal from now on."""

    def __init__(self, simulation: Simulation) -> None:
        self.new: list[Decision] = []  # of the tick that runs
        self._clock = simulation.clock
        self._heard: list[tuple[Seconds, Decision]] = []
        self._places: dict[
            str, int
        ] = {}  # by a decision's id the newest of that name: a lost journal may give an id again
        simulation.journal.heard = self._hear

    def _hear(self, decisions: tuple[Decision, ...], measurements: tuple[Measurement, ...]) -> None:
        for decision in decisions:
            self._places[decision.id] = len(self._heard)
            self._heard.append((self._clock.elapsed, decision))
        self.new.extend(decisions)
        for measurement in measurements:
            place = self._places.get(measurement.decision)
            if place is not None:
                at, decision = self._heard[place]
                self._heard[place] = (at, folded(decision, measurement))

    def rows(self) -> Iterator[Row]:
        for at, decision in self._heard:
            whole = sentence.full(decision)
            if decision.action in OF_THE_NODE:
                yield _row(at, decision, None, (), whole)
                continue
            by_pod: dict[str, list[Operation]] = {}
            for operation in decision.operations:
                if _lifts(decision, operation):
                    continue
                by_pod.setdefault(operation.pod, []).append(operation)
            for pod, operations in by_pod.items():
                yield _row(at, decision, pod, operations, whole)

    def moments(self) -> Iterator[Moment]:
        for at, decision in self._heard:
            if decision.operations or decision.action in OF_THE_NODE:
                preview = " (preview)" if decision.preview else ""
                kind = f"{decision.action}{preview} {decision.policy}/{decision.rule}"
                yield Moment(at, f"{decision.action}{preview}: {sentence.brief(decision)}", kind)

    def released(self) -> dict[str, Released]:
        """By metric, of everything real that was to close a gap."""
        found: dict[str, list[Decision]] = {}
        for _, decision in self._heard:
            counts = decision.action in RELEASING and not decision.preview and decision.gap is not None
            if counts and decision.operations:
                found.setdefault(decision.metric, []).append(decision)
        return {metric: _together(decisions) for metric, decisions in sorted(found.items())}


def _lifts(decision: Decision, operation: Operation) -> bool:
    """A service that is given more weight while others are squeezed, or has its own again, is not one of those others."""
    if operation.knob != Knob.WEIGHT or operation.before is None or operation.after is None:
        return False
    raised = operation.after > operation.before
    return raised is (decision.action is ActionKind.THROTTLE)


def _together(decisions: list[Decision]) -> Released:
    operations = [one for decision in decisions for one in decision.operations]
    measured = [one.actual for one in operations if one.actual is not None]
    return Released(
        gap=sum(decision.gap or 0.0 for decision in decisions),
        released=sum(one.expected or 0.0 for one in operations if not one.refused),
        actual=sum(measured) if measured else None,
    )


def _row(at: Seconds, decision: Decision, pod: str | None, operations: list[Operation] | tuple[()], whole: str) -> Row:
    counted = [one for one in operations if one.expected is not None]
    measured = [one.actual for one in counted if one.actual is not None]
    return Row(
        at=at,
        kind=decision.action.value,
        pod=pod,
        policy=decision.policy,
        rule=decision.rule,
        metric=decision.metric,
        unit=decision.unit,
        preview=decision.preview,
        expected=sum(one.expected or 0.0 for one in counted) if counted else None,
        actual=sum(measured) if measured and len(measured) == len(counted) else None,
        refused=next((one.refused for one in operations if one.refused), ""),
        sentence=whole,
    )
