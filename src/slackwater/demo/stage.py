"""
What the demonstration plays on: a real machine with a lab and an agent, or a simulated one.

The story (`scenario`) is told once, against this protocol; `machine` and `simulated` are its two implementations. A stage has its own clock: on the real one a step is a
quarter of a second of everybody's life, on the simulated one it is computed.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from slackwater.api.units import Bytes, Millicores
from slackwater.decide.plan import Decision
from slackwater.demo.calibration import Load, Workers
from slackwater.demo.figures import Reading, Request


class NotPermitted(Exception):
    """This machine does not let us; the message says what is missing."""


class Broken(Exception):
    """Something that the demonstration needs ended or never came up."""


class Facts(Struct, frozen=True, kw_only=True):
    """What a result must say of the machine, so that it explains itself."""

    backend: str  # cgroup1 | cgroup2 | simulated
    kernel: str
    processor: str
    cpus: int
    memory: Bytes
    swap: Bytes


class Cast(Struct, frozen=True, kw_only=True):
    """Who plays: everything the pods are made from."""

    load: Load
    workers: Workers
    request: Millicores
    guaranteed: bool = False  # the service; else Burstable


class Stage(Protocol):
    def facts(self) -> Facts: ...

    def turns_per_ms(self) -> float: ...

    def open(self, cast: Cast) -> None:
        """Starts the pods; the workers rest. Raises NotPermitted or Broken."""

    def step(self) -> Reading:
        """Lets a quarter of a second pass. Raises Broken where a player is gone."""

    def requests(self) -> Sequence[Request]:
        """All that the service has answered so far, as they were due."""

    def service_cpu(self) -> float:
        """CPU seconds of the service so far."""

    def work(self, wanted: bool) -> None:
        """Tells the workers to hash, or to rest."""

    def draw_waterline(self, waterline: Millicores) -> None: ...

    def agent_on(self) -> None: ...

    def agent_off(self) -> None:
        """Ends the agent as its user would; it gives everything back."""

    def agent_mode(self) -> str:
        """The agent's mode in its own words; empty where it has not said anything."""

    def decisions(self) -> Sequence[Decision]:
        """Everything the agents of this run have decided, oldest first."""

    def settings(self) -> dict[str, str]:
        """Every quota, weight and mark of the pods' groups, as they stand now."""

    def close(self) -> None:
        """Ends and removes everything. May be called at any moment, more than once."""
