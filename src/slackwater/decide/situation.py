"""
All that a tick's decisions are made from, as one value; and the questions that several of them ask of it.

A situation is made once a tick. The same situation gives the same plan, in the agent, in the simulator and in replay.
"""

from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Instant, Millicores, Shares, Wall
from slackwater.decide.memory import Memory
from slackwater.decide.settings import Settings
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Catalogue, Metric, every_pod
from slackwater.metrics.scene import Collected, Scene
from slackwater.snapshot import usage
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Settings as KnobSettings
from slackwater.snapshot.usage import Capacity, Frames
from slackwater.snapshot.view import View

PATIENCE_WITH_THE_DYING = 30.0
"""Seconds beyond its grace after which a terminating pod's usage is no longer taken for released."""


class Situation(Struct, frozen=True, kw_only=True, dict=True):
    now: Instant
    wall: Wall
    view: View
    frames: Frames
    capacity: Capacity
    catalogue: Catalogue
    settings: Settings
    verdicts: tuple[Verdict, ...]  # of the real rules, or of those that only show what they would do
    memory: Memory
    looked_at: Mapping[GroupId, KnobSettings] = {}
    collected: Mapping[str, Collected] = {}  # what packages' collectors have brought
    stuck: frozenset[GroupId] = frozenset()  # containers whose quota the kernel refuses, or somebody else writes
    weight_of: Callable[[Shares], int] = int  # what a weight's file holds for so many shares
    sampled: bool = True  # this tick has a newer sample than the one before
    preview: bool = False
    idle_because: str = ""  # why no real rule acts at all

    @cached_property
    def pods(self) -> dict[str, Pod]:
        return {pod.uid: pod for pod in self.view.pods}

    @cached_property
    def leaving(self) -> frozenset[str]:
        """Pods whose usage counts as released: evicted or deleted, and still in their time."""
        evicted = {one.pod for one in self.memory.evicting if one.until > self.now}
        dying = {
            pod.uid
            for pod in self.view.pods
            if pod.deleted_at is not None and self.wall <= pod.deleted_at + (pod.grace or 0.0) + PATIENCE_WITH_THE_DYING
        }
        return frozenset(evicted | dying)

    @property
    def may_be_blind(self) -> bool:
        """Whether a metric that is missing now is missing indeed: it was looked for, and one sample alone gives no rate."""
        return self.sampled and self.frames.before is not None

    def gap(self, metric: Metric, usage: float, waterline: float) -> Amount:
        """How far usage is above, with the excess, less what is in flight."""
        return Amount(max(0.0, (usage - self._in_flight(metric) - waterline) * (1 + self.settings.excess)))

    def _in_flight(self, metric: Metric) -> Amount:
        """What has been released already and the newest sample cannot show yet."""
        here = sorted(self.leaving & self.pods.keys())
        dying = sum(self.released_by_going(self.pods[uid], metric) or 0.0 for uid in here)
        # Of a pod that is gone nobody can say whether it counted in a metric that does not concern every pod.
        running = {pod.uid for pod in self.view.pods if pod.phase == "Running"}
        gone = usage.departed_cpu(self.frames, running) if metric.concerns is every_pod else Millicores(0)
        departed = metric.from_cpu(gone, self.capacity) if metric.from_cpu else 0.0
        return Amount(self.acted(metric) + dying + departed)

    def acted(self, metric: Metric) -> Amount:
        """Of that, what was written to knobs; negative where more was given than taken."""
        flights = self.memory.flights
        return Amount(sum(one.amounts.get(metric.name, 0.0) * self._uncovered(one.at) for one in flights))

    def _uncovered(self, at: Instant) -> float:
        """The part of the newest sample's interval that had passed when something was written."""
        if self.frames.newest is None or self.frames.before is None:
            return 1.0
        begin, end = self.frames.before.at, self.frames.newest.at
        return min(1.0, max(0.0, (at - begin) / (end - begin))) if end > begin else 1.0

    @cached_property
    def scene(self) -> Scene:
        """What metrics are computed from."""
        return Scene(
            frames=self.frames,
            capacity=self.capacity,
            pods=self.view.pods,
            squeezed=frozenset(claim.pod for claim in self.memory.throttled),
            elastic_cpu=self.view.node.elastic_cpu,
            collected=self.collected,
        )

    def usage_of(self, pod: Pod, metric: Metric) -> Amount | None:
        """Nothing, where it does not count in the metric at all; None where nobody can say."""
        if not metric.concerns(pod):
            return Amount(0.0)
        return metric.of_pod(self.scene, pod) if metric.of_pod else None

    def released_by_going(self, pod: Pod, metric: Metric) -> Amount | None:
        return metric.released_by_going(self.scene, pod) if metric.concerns(pod) else Amount(0.0)

    def cpu_of(self, uid: str, container: str) -> Millicores | None:
        """What one container uses now; of the whole pod where none is named."""
        pod = self.pods.get(uid)
        if pod is None:
            return None
        if not container:
            return usage.pod_cpu(self.frames, pod)
        group = next((group for one, group in usage.groups_of(pod) if one.name == container), None)
        return usage.container_cpu(self.frames, group) if group else None

    @cached_property
    def _claimed(self) -> dict[tuple[str, str], Millicores]:
        return {claim.where: claim.quota for claim in self.memory.throttled}

    def claimed_before(self, where: tuple[str, str]) -> Millicores | None:
        """The quota that the last tick left claimed for a container."""
        return self._claimed.get(where)

    def through(self, verdict: Verdict, able: Callable[[Metric], bool]) -> Metric:
        """
        The metric by which a rule acts: its own where that is able, else the one it borrows, else the able one of the
        highest rank, which is the node's CPU where nothing else is.
        """
        own = verdict.rule.metric
        borrowed = self.catalogue.get(own.acts_through) if own else None
        for metric in (own, borrowed):
            if metric is not None and not metric.indirect and able(metric):
                return metric
        return next(m for m in self.catalogue.by_rank(("cpu_total_usage",)) if able(m))

    def counted(self, metric: Metric, cpu: Mapping[str, Millicores]) -> Millicores:
        """Of CPU taken from (or given to) these pods: what counts in the metric."""
        here = (self.pods.get(uid) for uid in cpu)
        return Millicores(sum(cpu[pod.uid] for pod in here if pod is not None and metric.concerns(pod)))

    def in_metrics(self, cpu: Mapping[str, Millicores]) -> dict[str, Amount]:
        """CPU by pod, in every metric that a quota moves."""
        return {
            m.name: m.from_cpu(self.counted(m, cpu), self.capacity)
            for m in self.catalogue.metrics.values()
            if m.from_cpu
        }

    def cpu_for(self, metric: Metric, amount: float) -> Millicores:
        """The CPU that makes up so much of a metric, rounded down: a release must never pass its gap."""
        if metric.from_cpu is None:
            return Millicores(0)
        return Millicores(int(amount / metric.from_cpu(Millicores(1_000), self.capacity) * 1_000 + 1e-6))
