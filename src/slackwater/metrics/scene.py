"""
What a metric is computed from: the newest samples, the node's size, who is here, and who is being squeezed by us.

It is made once a tick and handed to every metric, built in or of a package, so that none of them reads anything by itself.
"""

from functools import cached_property

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Seconds
from slackwater.snapshot.usage import Capacity, Frames


class Scene(Struct, frozen=True, kw_only=True, dict=True):
    frames: Frames
    capacity: Capacity
    pods: tuple[Pod, ...] = ()
    squeezed: frozenset[str] = frozenset()  # uids of the pods that hold a throttle of ours
    elastic_cpu: float | None = None  # millicores of gocrane.io/cpu that the node offers

    @cached_property
    def interval(self) -> Seconds | None:
        """Between the two newest samples."""
        new, old = self.frames.newest, self.frames.before
        return Seconds(new.at - old.at) if new and old and new.at > old.at else None

    @property
    def running(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.phase == "Running")
