"""
What a metric is computed from: the newest samples, the node's size, who is here, and who is being squeezed by us.

It is made once a tick and handed to every metric, built in or of a package, so that none of them reads anything by itself.
"""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Instant, Seconds
from slackwater.snapshot.usage import Capacity, Frames


class Collected(Struct, frozen=True):
    """What a collector last handed over, and when it began to look."""

    value: object
    at: Instant


class Scene(Struct, frozen=True, kw_only=True, dict=True):
    frames: Frames
    capacity: Capacity
    pods: tuple[Pod, ...] = ()
    squeezed: frozenset[str] = frozenset()  # uids of the pods that hold a throttle of ours
    elastic_cpu: float | None = None  # millicores of gocrane.io/cpu that the node offers
    collected: Mapping[str, Collected] = {}  # what packages' collectors last saw, by the collector's name

    @cached_property
    def interval(self) -> Seconds | None:
        """Between the two newest samples."""
        new, old = self.frames.newest, self.frames.before
        return Seconds(new.at - old.at) if new and old and new.at > old.at else None

    @property
    def running(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.phase == "Running")
