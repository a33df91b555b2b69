"""The edges a tick works with, handed in together: real ones in the agent, in-memory ones in tests and in the simulator."""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Instant, Wall
from slackwater.cluster.edge import Cluster
from slackwater.host.edge import Host
from slackwater.journal.edge import Journal
from slackwater.metrics.scene import Collected


class Clock(Protocol):
    def instant(self) -> Instant: ...

    def wall(self) -> Wall: ...


class Package(Struct, frozen=True):
    """One that brings metrics, or was meant to."""

    name: str
    version: str
    metrics: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  # metrics of it that are not taken, each with why
    error: str = ""  # why nothing of it is

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}".strip()


class Packages(Protocol):
    """What the tick asks of those who bring metrics."""

    known: tuple[Package, ...]

    def begin(self) -> None:
        """A tick begins."""

    def collected(self) -> Mapping[str, Collected]:
        """What their collectors last saw, by collector."""

    def faults(self) -> Mapping[str, str]:
        """By metric: what is wrong with it now, so that it counts as missing."""


class NoPackages:
    """Implements Packages: there are none."""

    known: tuple[Package, ...] = ()

    def begin(self) -> None:
        """Nothing has to be made ready."""

    def collected(self) -> Mapping[str, Collected]:
        return {}

    def faults(self) -> Mapping[str, str]:
        return {}


class Edges(Struct, frozen=True, kw_only=True):
    host: Host
    cluster: Cluster
    journal: Journal
    clock: Clock
    rivals: Callable[[], tuple[str, ...]]  # other agents on this node that squeeze pods
    packages: Packages = NoPackages()
