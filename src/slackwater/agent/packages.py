"""
Packages that bring metrics: found by their entry points, looked at, put behind the guard and beside the built-in ones.

An entry of the group `slackwater.metrics` names a function without arguments that gives a Metric or several. A package
is taken metric by metric: what is wrong with one is told and refuses that one; a package that cannot be loaded at all,
or that is left out because an agent hung in it, is told and brings nothing. Nothing here is found by importing: only
what an entry point names is run.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata

from msgspec import Struct

from slackwater.agent.collecting import Collecting
from slackwater.agent.edges import Package
from slackwater.agent.guarding import Guard, guarded, told
from slackwater.agent.hanging import LeftOut
from slackwater.api.units import Instant
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.collector import Collector
from slackwater.metrics.metric import Catalogue, Metric
from slackwater.metrics.scene import Collected
from slackwater.metrics.vetting import wrong_with

GROUP = "slackwater.metrics"


class Entry(Struct, frozen=True):
    """One entry point, and the package that it belongs to."""

    package: str
    version: str
    name: str
    load: Callable[[], Callable[[], object]]

    @property
    def title(self) -> str:
        return f"{self.package} {self.version}".strip()


class Loaded(Struct, frozen=True):
    packages: tuple[Package, ...] = ()
    metrics: tuple[Metric, ...] = ()
    refused: Mapping[str, str] = {}  # names that were meant to be metrics, each with why not

    @property
    def catalogue(self) -> Catalogue:
        left_out = tuple(f"package {one.title} {one.error}" for one in self.packages if one.error)
        known = {metric.name: metric for metric in self.metrics}
        return Catalogue({**BUILTIN.metrics, **known}, absent=self.refused, left_out=left_out)

    @property
    def troubles(self) -> tuple[str, ...]:
        """What packages meant to bring and do not, each with why."""
        whole = [f"package {one.title} {one.error}" for one in self.packages if one.error]
        return (*whole, *(refused for one in self.packages for refused in one.refused))

    def readmitted(self, left_out: Mapping[str, LeftOut]) -> frozenset[str]:
        """Who was left out and comes in another version."""
        return frozenset(one.name for one in self.packages if _is_another(one.version, left_out.get(one.name)))

    @property
    def collectors(self) -> Mapping[str, Collector]:
        return {metric.collector.name: metric.collector for metric in self.metrics if metric.collector}


def entries() -> tuple[Entry, ...]:
    """In an order that does not depend on where they are installed."""
    found = []
    for point in metadata.entry_points(group=GROUP):
        package, version = (point.dist.name, point.dist.version) if point.dist else (point.value, "")
        found.append(Entry(package, version, point.name, point.load))
    return tuple(sorted(found, key=lambda entry: (entry.package, entry.name)))


def load(found: Iterable[Entry], guard: Guard, left_out: Mapping[str, LeftOut], says: Callable[[str], None]) -> Loaded:
    loaded = Loaded()
    by_package: dict[str, list[Entry]] = {}
    for entry in found:
        by_package.setdefault(entry.package, []).append(entry)
    for package in sorted(by_package):
        loaded = _with(loaded, by_package[package], guard, left_out.get(package), says)
    return loaded


def _with(loaded: Loaded, here: list[Entry], guard: Guard, hung: LeftOut | None, says: Callable[[str], None]) -> Loaded:
    first = here[0]
    if hung is not None and hung.version == first.version:
        why = "is left out: an agent hung in it; it is tried again in another version"
        return _and(loaded, Package(first.package, first.version, error=why))
    given: list[object] = []
    for entry in here:
        one = _given(entry, says)
        if isinstance(one, str):
            return _and(loaded, Package(first.package, first.version, error=one))
        given += one
    return _taken(loaded, first, given, guard)


def _and(loaded: Loaded, package: Package) -> Loaded:
    return Loaded((*loaded.packages, package), loaded.metrics, loaded.refused)


def _given(entry: Entry, says: Callable[[str], None]) -> list[object] | str:
    """What the entry's function gives; or why it gives nothing."""
    says(entry.title)
    try:
        given = entry.load()()
        return [given] if isinstance(given, Metric) else list(_several(given))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code: whatever it raises, the package brings nothing
        return f"cannot be loaded: entry {entry.name} raised {told(error)}"
    finally:
        says("")


def _several(given: object) -> Iterable[object]:
    if not isinstance(given, Iterable):
        raise TypeError(f"a {type(given).__name__} was given; a Metric or several are wanted")
    return given


def _taken(loaded: Loaded, entry: Entry, given: list[object], guard: Guard) -> Loaded:
    taken: list[Metric] = []
    wrong: dict[str, str] = {}
    for one in given:
        why = _wrong(one, (*loaded.metrics, *taken))
        if isinstance(one, Metric) and not why:
            taken.append(one)
        else:
            name = str(one.name) if isinstance(one, Metric) else type(one).__name__
            wrong[name] = f"package {entry.title} brings one that is refused: {'; '.join(why)}"
    own = frozenset(metric.name for metric in taken)
    metrics = (guarded(metric, entry.title, own, guard) for metric in taken)
    package = Package(entry.package, entry.version, tuple(sorted(own)), tuple(f"{n}: {w}" for n, w in wrong.items()))
    refused = {name: why for name, why in wrong.items() if BUILTIN.get(name) is None}
    return Loaded((*loaded.packages, package), (*loaded.metrics, *metrics), {**loaded.refused, **refused})


def _wrong(one: object, before: Iterable[Metric]) -> tuple[str, ...]:
    if not isinstance(one, Metric):
        return ("it is no Metric",)
    why = list(wrong_with(one, BUILTIN))
    for other in before:
        if other.name == one.name:
            why.append(f"there is one of this name already{f', of package {other.package}' if other.package else ''}")
        if one.collector and other.collector and _clash(one.collector, other.collector):
            why.append(f"there is another collector named {one.collector.name}")
    return tuple(why)


def _clash(one: Collector, other: Collector) -> bool:
    return one.name == other.name and one != other


def _is_another(version: str, hung: LeftOut | None) -> bool:
    return hung is not None and hung.version != version


class Packages:
    """Implements edges.Packages: the packages of one life of the agent, their guard and their collectors at work."""

    def __init__(self, loaded: Loaded, guard: Guard, instant: Callable[[], Instant]) -> None:
        self.known = loaded.packages
        self._guard = guard
        self._of = {metric.name: metric for metric in loaded.metrics}
        self._collecting = {name: Collecting(collector, instant) for name, collector in loaded.collectors.items()}

    def start(self) -> None:
        for collecting in self._collecting.values():
            collecting.start()

    def close(self) -> None:
        for collecting in self._collecting.values():
            collecting.close()

    def begin(self) -> None:
        self._guard.begin()

    def collected(self) -> Mapping[str, Collected]:
        newest = {name: collecting.newest for name, collecting in self._collecting.items()}
        return {name: one for name, one in newest.items() if one is not None}

    def faults(self) -> Mapping[str, str]:
        failing = {name: collecting.fault for name, collecting in self._collecting.items() if collecting.fault}
        of_collectors = {
            metric.name: failing[metric.collector.name]
            for metric in self._of.values()
            if metric.collector and metric.collector.name in failing
        }
        return {
            name: f"package {self._of[name].package}: {text}"
            for name, text in {**of_collectors, **self._guard.faults()}.items()
        }


def looked_up(left_out: Mapping[str, LeftOut]) -> Loaded:
    """For commands that only want the names: nobody is told, nothing runs on."""
    silent: Callable[[str], None] = lambda _: None  # noqa: E731 - a sentence of one word
    return load(entries(), Guard(silent, time.monotonic), left_out, silent)
