"""
Everything that one run measured, as one value; tables, charts, the report and the JSON are made from it.

It says what was played, how long, with what result and what the agent did; what it is worth is said by `doubts`, and how it is put into words by `wording`.
"""

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.decide.plan import Decision
from slackwater.demo import figures
from slackwater.demo.calibration import Calibration
from slackwater.demo.figures import Bucket, PhaseFigures, Round, Squeeze
from slackwater.demo.stage import Facts

WARM_UP = Seconds(1.0)  # after a change, before it is measured: queues drain, clocks rise
SETTLE = Seconds(1.5)  # after the agent has acted: its next sample is then in
BURST = Seconds(2.5)


class Options(Struct, frozen=True, kw_only=True):
    rounds: int = 3
    seconds: Seconds = Seconds(6.0)  # of each measured round
    guaranteed: bool = False

    @property
    def measured(self) -> Seconds:
        """Of a phase, in all its rounds."""
        return Seconds(self.rounds * self.seconds)

    @property
    def about(self) -> Seconds:
        """How long all of it takes; for the progress bar and nothing else."""
        settling = self.rounds * (2 * WARM_UP + SETTLE + 5.0)
        return Seconds(2 * BURST + 3 * self.measured + WARM_UP + settling + 15.0)


class Act(Struct, frozen=True):
    """What is going on; a chart's band and a progress line are made of these."""

    title: str
    phase: str  # alone | unmanaged | looking | slackwater; empty: between them
    round: int = 0
    measuring: bool = False


class Stretch(Struct, frozen=True):
    act: Act
    start: float
    end: float


class GivingBack(Struct, frozen=True, kw_only=True):
    """The end, while the agent runs: the batch work is over, and all should come back without anybody's help."""

    after: float | None  # seconds from the workers' end until all was back; None: not as long as it was waited for
    waited: float  # seconds, either way
    cpu_cores: float = 0.0  # of the whole machine in that time
    others_cores: float = 0.0  # of it by whoever else is on this machine


class Performance(Struct, frozen=True, kw_only=True):
    """Everything that was measured."""

    facts: Facts
    options: Options
    calibration: Calibration
    rounds: tuple[Round, ...]
    stretches: tuple[Stretch, ...]
    series: tuple[Bucket, ...]
    decisions: tuple[Decision, ...]
    first_actions: tuple[str, ...]  # ids of decisions, a round each
    reactions: tuple[float, ...]  # seconds from the agent's start to its first action, a round each
    giving_back: GivingBack
    differences: tuple[str, ...]  # what did not come back

    @property
    def phases(self) -> tuple[PhaseFigures, ...]:
        return figures.all_phases(self.rounds)

    @property
    def squeeze(self) -> Squeeze | None:
        """Of the first action of every round: those after it are made of what it left."""
        return figures.typical_squeeze(squeezed(one) for one in self.decisions if one.id in self.first_actions)

    @property
    def actions(self) -> tuple[Decision, ...]:
        """What was really done."""
        return tuple(one for one in self.decisions if not one.preview and one.operations)

    @property
    def restored(self) -> bool:
        return not self.differences


def squeezed(decision: Decision) -> Squeeze:
    expected = [operation.expected for operation in decision.operations if operation.expected is not None]
    actual = [operation.actual for operation in decision.operations if operation.actual is not None]
    return Squeeze(gap=decision.gap or 0.0, released=sum(expected), actual=sum(actual) if actual else None)
