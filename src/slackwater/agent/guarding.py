"""
Between the house and a package's functions: whatever one of them does, only its own metric suffers.

A function that raises, answers what it may not, or takes too long makes its metric missing for the rest of the tick and
is an error of the rules that name it; after that nothing of that metric is asked before the next tick, so a hundred
pods are not a hundred failures. One that is slow is left alone for a hundred times as long as it took: it costs at most
a hundredth of the agent's time. Which package is being asked is said beforehand, so that whoever must end a hanging
agent knows. This is used by the tick's thread alone.
"""

import traceback
from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent import answers
from slackwater.api.objects import Pod
from slackwater.api.units import Seconds
from slackwater.metrics.metric import Metric, Ranking, ReleaseOf, SortKey, StepOf, every_pod
from slackwater.metrics.reading import Element
from slackwater.metrics.scene import Scene
from slackwater.metrics.steps import Standing, Step

BUDGET = Seconds(0.5)
"""All of one metric's functions together in one tick."""
PATIENCE_PER_SECOND = 100
LONGEST_TEXT = 300
FORGOTTEN_AFTER = Seconds(300)
"""What failed only while something was done about its metric is not asked again until then, and may be well."""

T = TypeVar("T")


class Source(Struct, frozen=True):
    package: str  # with its version
    metric: str
    function: str


class Fault(Struct, frozen=True):
    text: str  # as it was first told: one fault is one sentence, however often it comes
    seen: float


class Guard:
    def __init__(self, says: Callable[[str], None], monotonic: Callable[[], float]) -> None:
        """`says` is told which package is being asked; empty: none."""
        self._says = says
        self._monotonic = monotonic
        self._faults: dict[Source, Fault] = {}
        self._failed: set[Source] = set()  # in this tick
        self._answered: set[Source] = set()  # in this tick
        self._spent: dict[str, float] = {}  # in this tick, by metric
        self._asked_again: dict[str, float] = {}  # when, by metric

    def begin(self) -> None:
        """A tick begins. What has answered well since it failed is well again."""
        now = self._monotonic()
        self._faults = {source: fault for source, fault in self._standing().items() if self._counts(source, fault, now)}
        self._failed, self._answered, self._spent = set(), set(), {}

    def faults(self) -> Mapping[str, str]:
        """By metric, what is wrong with it now."""
        return {source.metric: f"{source.function} {fault.text}" for source, fault in self._standing().items()}

    def _standing(self) -> dict[Source, Fault]:
        well = self._answered - self._failed
        return {source: fault for source, fault in self._faults.items() if source not in well}

    def _counts(self, source: Source, fault: Fault, now: float) -> bool:
        return now - fault.seen < FORGOTTEN_AFTER or now < self._asked_again.get(source.metric, 0.0)

    def ask(self, source: Source, check: Callable[[object], T], ask: Callable[[], object]) -> T | None:
        """What it answers; None where it cannot be asked or its answer cannot be used."""
        if self._is_out(source.metric):
            return None
        began = self._monotonic()
        self._says(source.package)
        try:
            answer = check(ask())
        except answers.Unfit as unfit:
            self._fails(source, str(unfit))
            return None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code: whatever it raises is its own metric's fault
            self._fails(source, f"raised {told(error)}")
            return None
        finally:
            self._says("")
            slow = self._spend(source, self._monotonic() - began)
        if slow:
            return None
        self._answered.add(source)
        return answer

    def _is_out(self, metric: str) -> bool:
        waits = self._monotonic() < self._asked_again.get(metric, 0.0)
        return waits or any(source.metric == metric for source in self._failed)

    def _spend(self, source: Source, seconds: float) -> bool:
        spent = self._spent[source.metric] = self._spent.get(source.metric, 0.0) + seconds
        if spent <= BUDGET:
            return False
        wait = spent * PATIENCE_PER_SECOND
        self._asked_again[source.metric] = self._monotonic() + wait
        self._fails(source, f"was slow: {spent:.1f} s in one tick, at most {BUDGET:g}; asked again in {wait:.0f} s")
        return True

    def _fails(self, source: Source, text: str) -> None:
        self._failed.add(source)
        known = self._faults.get(source)
        self._faults[source] = Fault(known.text if known else text, self._monotonic())


def told(error: BaseException) -> str:
    """What was raised, and where."""
    text = traceback.format_exception_only(error)[-1].strip()[:LONGEST_TEXT]
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return f"{text} ({last[0].filename.rpartition('/')[2]}:{last[0].lineno})" if last else text


def guarded(metric: Metric, package: str, own: frozenset[str], guard: Guard) -> Metric:
    """The metric, with each of its functions behind the guard. `own` are the names of all the package's metrics."""
    return replace(
        metric,
        package=package,
        of_node=_asking(metric.of_node, _of(package, metric, "of_node"), answers.number, guard),
        vector=_vector(metric, _of(package, metric, "vector"), guard),
        of_pod=metric.of_pod and _asking(metric.of_pod, _of(package, metric, "of_pod"), answers.number, guard),
        concerns=_concerns(metric, _of(package, metric, "concerns"), guard),
        ranking=_ranking(metric, _of(package, metric, "ranking"), guard),
        throttle_step=_step(metric.throttle_step, _of(package, metric, "throttle_step"), own, guard),
        restore_step=_step(metric.restore_step, _of(package, metric, "restore_step"), own, guard),
        evict_release=_releases(metric.evict_release, _of(package, metric, "evict_release"), own, guard),
    )


def _of(package: str, metric: Metric, function: str) -> Source:
    return Source(package, metric.name, function)


def _asking(
    function: Callable[..., object], source: Source, check: Callable[[object], T | None], guard: Guard
) -> Callable[..., T | None]:
    return lambda *arguments: guard.ask(source, check, lambda: function(*arguments))


def _vector(metric: Metric, source: Source, guard: Guard) -> Callable[[Scene], tuple[Element, ...]] | None:
    vector = metric.vector
    if vector is None:
        return None
    return lambda scene: guard.ask(source, answers.elements, lambda: vector(scene)) or ()


def _concerns(metric: Metric, source: Source, guard: Guard) -> Callable[[Pod], bool]:
    concerns = metric.concerns
    if concerns is every_pod:
        return concerns
    return lambda pod: guard.ask(source, answers.truth, lambda: concerns(pod)) or False


def _step(function: StepOf | None, source: Source, own: frozenset[str], guard: Guard) -> StepOf | None:
    if function is None:
        return None
    check = answers.step(own)

    def step(scene: Scene, pod: Pod, standings: tuple[Standing, ...]) -> Step | None:
        return guard.ask(source, check, lambda: function(scene, pod, standings))

    return step


def _releases(function: ReleaseOf | None, source: Source, own: frozenset[str], guard: Guard) -> ReleaseOf | None:
    if function is None:
        return None
    check = answers.releases(own)
    return lambda scene, pod: guard.ask(source, check, lambda: function(scene, pod))


def _ranking(metric: Metric, source: Source, guard: Guard) -> Callable[[Scene], Ranking | None] | None:
    """All keys at once: an order that is half the package's and half somebody else's is none."""
    sort = metric.ranking
    if sort is None:
        return None

    def by_uid(scene: Scene) -> dict[str, SortKey]:
        key = sort(scene)
        return {} if key is None else {pod.uid: key(pod) for pod in scene.running}

    def ranking(scene: Scene) -> Ranking | None:
        keys = guard.ask(source, answers.keys, lambda: by_uid(scene))
        if keys is None or (not keys.by_uid and scene.running):
            return None
        return lambda pod: keys.by_uid[pod.uid]

    return ranking
