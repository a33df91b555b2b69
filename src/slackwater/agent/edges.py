"""The edges a tick works with, handed in together: real ones in the agent, in-memory ones in tests and in the simulator."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Instant, Wall
from slackwater.cluster.edge import Cluster
from slackwater.host.edge import Host
from slackwater.journal.edge import Journal


class Clock(Protocol):
    def instant(self) -> Instant: ...

    def wall(self) -> Wall: ...


class Edges(Struct, frozen=True, kw_only=True):
    host: Host
    cluster: Cluster
    journal: Journal
    clock: Clock
    rivals: Callable[[], tuple[str, ...]]  # other agents on this node that squeeze pods
