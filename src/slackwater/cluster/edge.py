"""
What the rest of the house may ask of a cluster: what is wanted and who is there, and four ways of writing back.

The view is a value, replaced as a whole: a tick takes the newest and never waits for it. Writing is level-triggered: `set_scheduling` says how the node should stand, not
what to change, and touches only what carries our mark.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Instant, Seconds, Wall
from slackwater.decide.plan import EvictionAnswer, Scheduling
from slackwater.snapshot.view import View


class Event(Struct, frozen=True, kw_only=True):
    at: Wall
    reason: str  # CamelCase, as Kubernetes has them
    message: str
    object: str  # Pod/namespace/name, Node/name, ...
    warning: bool = False


class Cluster(Protocol):
    def view(self, now: Instant) -> View:
        """The newest view. Never blocks for long, never raises: what could not be read is in `problems` and leaves the last good version."""

    def set_scheduling(self, wanted: Scheduling) -> None:
        """Raises Unreachable."""

    def evict(self, pod: Pod, grace: Seconds | None, why: str) -> EvictionAnswer: ...

    def emit(self, event: Event) -> None:
        """Bounded and best effort: an event that cannot be delivered is counted, not raised."""

    def publish(self, status: bytes) -> None:
        """The node's own status object, as JSON. Raises Unreachable."""

    def on_change(self, wake: Callable[[], None]) -> None:
        """Calls `wake` from any thread when a new view is at hand."""

    def close(self) -> None: ...


class Unreachable(Exception):
    """The cluster could not be written to; the next tick tries again."""
