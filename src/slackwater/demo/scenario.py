"""
The story of the demonstration: the service alone, then with the same workers Slackwater off and on in turn, and at the end everything as it was before.

It is told against a `Stage` and to an `Audience`, and returns one value with all that was measured; tables, charts and JSON are made from that value elsewhere. Off and on
take turns, round after round, so that a machine that changes its mood changes it for both.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from slackwater.api.units import Seconds
from slackwater.decide.plan import ActionKind, Decision
from slackwater.demo import calibration, figures
from slackwater.demo.calibration import Calibration, Reached
from slackwater.demo.figures import Reading, Request, Round
from slackwater.demo.performance import BURST, SETTLE, WARM_UP, Act, GivingBack, Options, Performance, Stretch
from slackwater.demo.stage import Cast, Facts, Stage

PATIENCE = Seconds(25.0)  # for the agent to act, and to give back
BUCKET = Seconds(0.5)


class NothingDone(Exception):
    """The agent never acted: the demonstration shows nothing, and says so."""


class Audience(Protocol):
    def calibrated(self, facts: Facts, calibration: Calibration) -> None: ...

    def act(self, act: Act) -> None: ...

    def moment(self, reading: Reading, requests: Sequence[Request]) -> None: ...

    def decided(self, decision: Decision) -> None: ...


def acts(decision: Decision) -> bool:
    return decision.action is ActionKind.THROTTLE and not decision.preview and bool(decision.operations)


def changed(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Every file that does not hold what it held, in words."""
    return tuple(
        f"{path}: {before.get(path, 'absent')} before, {after.get(path, 'absent')} after"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


class Play:
    """One performance: the state of a run that goes forward and never back."""

    def __init__(self, stage: Stage, options: Options, audience: Audience) -> None:
        self._stage = stage
        self._options = options
        self._audience = audience
        self._readings: list[Reading] = []
        self._stretches: list[Stretch] = []
        self._measured: list[tuple[str, Reading, Reading]] = []
        self._told = 0
        self._first_actions: list[str] = []
        self._reactions: list[float] = []
        self._differences: list[str] = []

    def perform(self) -> Performance:
        size = self._calibrate()
        self._stage.draw_waterline(size.waterline)
        base = self._stage.settings()
        self._alone()
        self._stage.work(True)
        giving_back = GivingBack(after=None, waited=0.0)
        for number in range(1, self._options.rounds + 1):
            self._unmanaged(number)
            self._slackwater(number)
            if number == self._options.rounds:
                giving_back = self._hogs_end(base)
            self._off(base)
        return Performance(
            facts=self._stage.facts(),
            options=self._options,
            calibration=size,
            rounds=self._rounds(),
            stretches=tuple(self._stretches),
            series=tuple(figures.buckets(self._readings, self._stage.requests(), BUCKET)),
            decisions=tuple(self._stage.decisions()),
            first_actions=tuple(self._first_actions),
            reactions=tuple(self._reactions),
            giving_back=giving_back,
            differences=tuple(self._differences),
        )

    def _calibrate(self) -> Calibration:
        facts, options = self._stage.facts(), self._options
        self._audience.act(Act("measuring this machine", ""))
        load = calibration.load_for(self._stage.turns_per_ms(), options.measured)
        workers = calibration.workers_for(facts.cpus)
        request = calibration.request_for(facts.cpus, workers, guaranteed=options.guaranteed)
        self._audience.act(Act("starting the pods", ""))
        self._stage.open(Cast(load=load, workers=workers, request=request, guaranteed=options.guaranteed))
        size = calibration.calibrated(facts.cpus, load, request, self._bursts(), options.measured)
        self._audience.calibrated(facts, size)
        return size

    def _bursts(self) -> Reached:
        """The service alone for a moment, then with the workers: what the machine really gives."""
        self._pass(Act("sizing: the service alone", ""), WARM_UP)
        cpu = self._stage.service_cpu()
        before, after = self._pass(Act("sizing: the service alone", ""), BURST)
        seconds = after.at - before.at
        service = (self._stage.service_cpu() - cpu) / seconds
        quiet = (after.used - before.used) / seconds
        self._stage.work(True)
        self._pass(Act("sizing: everything at once", ""), WARM_UP)
        before, after = self._pass(Act("sizing: everything at once", ""), BURST)
        self._stage.work(False)
        seconds = after.at - before.at
        return Reached(
            quiet=quiet,
            service=service,
            full=(after.used - before.used) / seconds,
            steal=(after.stolen - before.stolen) / seconds,
        )

    def _alone(self) -> None:
        self._pass(Act("the service alone", "alone"), WARM_UP)
        for number in range(1, self._options.rounds + 1):
            self._measure(Act("the service alone", "alone", number, measuring=True))

    def _unmanaged(self, number: int) -> None:
        self._pass(Act("batch beside it, Slackwater off", "unmanaged", number), WARM_UP)
        self._measure(Act("batch beside it, Slackwater off", "unmanaged", number, measuring=True))

    def _slackwater(self, number: int) -> None:
        before = len(self._stage.decisions())

        def first_action() -> Decision | None:
            return next(filter(acts, self._stage.decisions()[before:]), None)

        self._stage.agent_on()
        start, end = self._pass(
            Act("Slackwater has started: it looks, then acts", "looking", number),
            PATIENCE,
            until=lambda: first_action() is not None,
        )
        acted = first_action()
        if acted is None:
            raise NothingDone(self._why_nothing())
        self._first_actions.append(acted.id)
        self._reactions.append(end.at - start.at)
        self._pass(Act("batch beside it, Slackwater on", "slackwater", number), SETTLE)
        self._measure(Act("batch beside it, Slackwater on", "slackwater", number, measuring=True))

    def _why_nothing(self) -> str:
        mode = self._stage.agent_mode()
        said = f"; its mode is {mode}" if mode else ""
        return f"the agent did not act within {PATIENCE:.0f} s: the node did not stay above its waterline, or something kept the agent from it{said}"

    def _hogs_end(self, base: dict[str, str]) -> GivingBack:
        """The cause goes while the agent runs: it must give back by itself."""
        self._stage.work(False)
        start, end = self._pass(
            Act("the batch work is done: all comes back", ""), PATIENCE, until=lambda: self._stage.settings() == base
        )
        waited = end.at - start.at
        return GivingBack(
            after=waited if self._stage.settings() == base else None,
            waited=waited,
            cpu_cores=figures.cpu_cores(start, end),
            others_cores=figures.others_cores(start, end),
        )

    def _off(self, base: dict[str, str]) -> None:
        self._stage.agent_off()
        self._tell()
        self._differences.extend(changed(base, self._stage.settings()))

    def _measure(self, act: Act) -> None:
        self._measured.append((act.phase, *self._pass(act, self._options.seconds)))

    def _rounds(self) -> tuple[Round, ...]:
        """Made at the end: by then the last request that was due in a round has its answer, however late, and the slowest are not left out."""
        requests = self._stage.requests()
        return tuple(figures.measured(phase, before, after, requests) for phase, before, after in self._measured)

    def _pass(self, act: Act, seconds: Seconds, until: Callable[[], bool] | None = None) -> tuple[Reading, Reading]:
        """Time goes by, and the audience sees it. Returns the readings at both ends."""
        self._audience.act(act)
        first = last = self._readings[-1] if self._readings else self._step()
        while last.at - first.at < seconds and not (until is not None and until()):
            last = self._step()
        self._stretches.append(Stretch(act, first.at, last.at))
        return first, last

    def _step(self) -> Reading:
        reading = self._stage.step()
        self._readings.append(reading)
        self._audience.moment(reading, self._stage.requests())
        self._tell()
        return reading

    def _tell(self) -> None:
        decisions = self._stage.decisions()
        for decision in decisions[self._told :]:
            if decision.operations:
                self._audience.decided(decision)
        self._told = len(decisions)
