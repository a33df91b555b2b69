"""
A node told in a few words, and one tick after the other of judging and deciding on it.

It does between two samples what the agent does, without a host, a cluster or a journal: usages are said, quotas that
were claimed stand in the files at the next tick, and everything that is remembered is carried on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as but
from typing import TypeVar

from msgspec.structs import replace

from slackwater.api.objects import (
    AvoidanceAction,
    Container,
    CpuThrottle,
    Eviction,
    Node,
    Owner,
    Pod,
    PodQos,
    Policy,
    QosClass,
    Resources,
    Rule,
    Strategy,
    Weight,
)
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.api.units import Bytes, Instant, Microseconds, Millicores, Nanoseconds, Seconds, Wall
from slackwater.claims.base import base_quota
from slackwater.claims.claim import Source, Throttled
from slackwater.decide.engine import Plan, decide, marked_blind, preview
from slackwater.decide.memory import Backoff, Evicting, Memory
from slackwater.decide.plan import ActionKind, Decision
from slackwater.decide.remembering import remembered
from slackwater.decide.settings import Settings
from slackwater.decide.situation import Situation
from slackwater.judge.rules import rules_in_force
from slackwater.judge.states import Patience
from slackwater.judge.verdicts import Verdict, judge
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.samples import SampleReadings
from slackwater.metrics.scene import Scene
from slackwater.snapshot.counters import CpuTimes, GroupCounters, HostSample, NodeCounters, Pressure
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob, Quota
from slackwater.snapshot.knobs import Settings as KnobSettings
from slackwater.snapshot.usage import Capacity, Frames, groups_of
from slackwater.snapshot.view import View

T = TypeVar("T")
TICK = Seconds(10)
START = 1000.0
PERIOD = Microseconds(100_000)
EIGHT_CORES = Capacity(Millicores(8000), Bytes(16 << 30))


def container(
    pod: str, name: str = "main", *, limit: int | None = None, request: int = 1000, elastic: int | None = None
) -> Container:
    return Container(
        name=name,
        id=f"{pod}-{name}-id",
        requests=Resources(cpu=Millicores(request) if request else None),
        limits=Resources(
            cpu=Millicores(limit) if limit else None, elastic_cpu=Millicores(elastic) if elastic else None
        ),
    )


def batch(
    name: str,
    *,
    priority: int | None = -10,
    limit: int | None = None,
    elastic: int | None = None,
    started: float = 0.0,
    containers: Iterable[str] = ("main",),
    owner: str | None = "Job",
    **more: object,
) -> Pod:
    """Offline work, unless something else is said."""
    made = Pod(
        namespace="default",
        name=name,
        uid=name,
        priority=priority,
        qos_class=QosClass.BURSTABLE,
        containers=tuple(container(name, one, limit=limit, elastic=elastic) for one in containers),
        owner=Owner(owner, name) if owner else None,
        phase="Running",
        started_at=Wall(started),
    )
    return replace(made, **more)


def service(name: str = "service", *, limit: int | None = 2000, **more: object) -> Pod:
    """A Guaranteed pod of a positive priority."""
    made = batch(name, priority=100, limit=limit, qos_class=QosClass.GUARANTEED, owner="ReplicaSet")
    return replace(made, **more)


def annotated(pod: Pod, **annotations: str) -> Pod:
    keys = {"level": "volcano.sh/qos-level", "protected": "slackwater.dev/protected"}
    return replace(pod, annotations={keys.get(key, key): value for key, value in annotations.items()})


def rule(
    value: float | None = 6000,
    action: str = "squeeze",
    *,
    name: str = "cpu",
    metric: str | None = "cpu_total_usage",
    bad: int = 1,
    good: int = 1,
    preview: bool = False,
) -> Rule:
    return Rule(
        name=name,
        action=action,
        metric=metric,
        value=value,
        avoidance_threshold=bad,
        restore_threshold=good,
        strategy=Strategy.PREVIEW if preview else Strategy.NONE,
    )


def policy(*rules: Rule, name: str = "waterline", kind: str = "NodeQOS") -> Policy:
    return Policy(kind=kind, name=name, rules=rules)


def squeezing(
    name: str = "squeeze", *, floor: int = 10, step: int = 10, cool_down: float = 60, weight: Weight = Weight.YIELD
) -> AvoidanceAction:
    throttle = CpuThrottle(min_ratio=floor, step_ratio=step, weight=weight)
    return AvoidanceAction(name=name, cool_down=Seconds(cool_down), cpu_throttle=throttle)


def evicting(
    name: str = "evict", *, grace: float | None = None, cool_down: float = 60, keep_schedulable: bool = False
) -> AvoidanceAction:
    eviction = Eviction(grace=None if grace is None else Seconds(grace), keep_schedulable=keep_schedulable)
    return AvoidanceAction(name=name, cool_down=Seconds(cool_down), eviction=eviction)


def closing(name: str = "close", *, cool_down: float = 60) -> AvoidanceAction:
    return AvoidanceAction(name=name, cool_down=Seconds(cool_down))


def allowing(*actions: str, labels: Mapping[str, str] | None = None, name: str = "batch") -> PodQos:
    """A PodQOS that matches these labels (none: every pod) and names these actions."""
    wanted = tuple(Requirement(key, Operator.IN, frozenset({value})) for key, value in (labels or {}).items())
    return PodQos(kind="PodQOS", name=name, selector=LabelSelector(wanted), allowed_actions=frozenset(actions))


@dataclass
class Story:
    pods: tuple[Pod, ...] = ()
    policies: tuple[Policy, ...] = (policy(rule()),)
    actions: tuple[AvoidanceAction, ...] = (squeezing(), evicting(), closing())
    pod_qos: tuple[PodQos, ...] = ()
    settings: Settings = field(default_factory=Settings)
    capacity: Capacity = EIGHT_CORES
    quotas: dict[str, int | None] = field(default_factory=dict)  # in the files, where it is not the base
    memory: Memory = field(default_factory=Memory)
    frames: Frames = field(default_factory=Frames)
    readings: SampleReadings = field(default_factory=SampleReadings)
    now: float = START
    wall: float = START
    node_usage: int | None = 0
    usage: dict[str, int | None] = field(default_factory=dict)  # by pod, or pod/container
    hungry: frozenset[str] = frozenset()  # pods that their quota stops
    node_holds: int | None = 0  # bytes of memory
    holds: dict[str, int | None] = field(default_factory=dict)  # by pod, or pod/container
    psi: dict[str, float] = field(default_factory=lambda: {"cpu": 0.0})  # the kernel's own, in percent, by resource
    pressing: dict[str, float | None] = field(default_factory=dict)  # percent of the time, by pod or pod/container
    load: float | None = None
    elastic: int | None = None  # millicores of gocrane.io/cpu that the node offers
    plan: Plan = field(default_factory=lambda: Plan(memory=Memory()))
    shown: tuple[Decision, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    _node_cpu: int = 0
    _cpu: dict[GroupId, int] = field(default_factory=dict)
    _periods: int = 0
    _throttled: dict[GroupId, int] = field(default_factory=dict)
    _stalled: dict[GroupId, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frames = Frames((self._sample(),))

    @property
    def view(self) -> View:
        return View(
            complete=True,
            node=Node(
                name="node",
                cpu=self.capacity.cpu,
                elastic_cpu=None if self.elastic is None else Millicores(self.elastic),
            ),
            pods=self.pods,
            policies=self.policies,
            actions={one.name: one for one in self.actions},
            pod_qos=self.pod_qos,
        )

    def tick(
        self,
        node: int | None = None,
        usage: Mapping[str, int | None] | None = None,
        *,
        unread: bool = False,
        seconds: float = TICK,
        woken: bool = False,
        hungry: Iterable[str] | None = None,
    ) -> Plan:
        """So much time passes with these usages; what is not said stays as it was. `unread`: the node's CPU is not."""
        self.node_usage = None if unread else node if node is not None else self.node_usage
        self.usage.update(usage or {})
        self.hungry = self.hungry if hungry is None else frozenset(hungry)
        self.now, self.wall = self.now + seconds, self.wall + seconds
        if not woken:
            self._run(seconds)
            self.frames = self.frames.with_sample(self._sample(), 8)
        return self._decide(sampled=not woken)

    def ticks(
        self,
        count: int,
        node: int | None = None,
        usage: Mapping[str, int | None] | None = None,
        *,
        unread: bool = False,
        hungry: Iterable[str] | None = None,
    ) -> Plan:
        return [self.tick(node, usage, unread=unread, hungry=hungry) for _ in range(count)][-1]

    def situation(self, *, sampled: bool = True) -> Situation:
        """Of the real rules, at this moment."""
        real = tuple(verdict for verdict in self.verdicts if not verdict.rule.preview)
        states = tuple(verdict.state for verdict in marked_blind(self.verdicts, sampled=sampled))
        now = Instant(self.now)
        return Situation(
            now=now,
            wall=Wall(self.wall),
            view=self.view,
            frames=self.frames,
            capacity=self.capacity,
            catalogue=BUILTIN,
            settings=self.settings,
            verdicts=real,
            memory=remembered(replace(self.memory, states=states), real, self.frames, now, self.settings),
            looked_at={group: self._files(pod, one) for pod in self.pods for one, group in groups_of(pod)},
            sampled=sampled,
        )

    def accepted(self, *pods: str, until: float = 60.0) -> None:
        """These pods' evictions were."""
        leaving = tuple(Evicting(pod=pod, until=Instant(self.now + until)) for pod in pods)
        others = tuple(one for one in self.memory.evicting if one.pod not in pods)
        new = len(pods) - len(self.memory.evicting) + len(others)
        at = (*self.memory.evicted_at, *(Instant(self.now) for _ in range(new)))
        self.memory = replace(self.memory, evicting=(*others, *leaving), evicted_at=at)

    def refused(self, pod: str, until: float = 30.0) -> None:
        others = tuple(one for one in self.memory.evicting if one.pod != pod)
        self.memory = replace(self.memory, evicting=others, evicted_at=self.memory.evicted_at[:-1])
        backoff = Backoff(pod=pod, until=Instant(self.now + until), tries=1)
        self.memory = replace(self.memory, backoffs=(*self.memory.backoffs, backoff))

    def _decide(self, *, sampled: bool) -> Plan:
        rules = rules_in_force(self.view, BUILTIN, self.capacity)
        names = frozenset(one.metric.name for one in rules if one.metric)
        squeezed = frozenset(claim.pod for claim in self.memory.throttled)
        scene = Scene(
            frames=self.frames,
            capacity=self.capacity,
            pods=self.view.pods,
            squeezed=squeezed,
            elastic_cpu=self.view.node.elastic_cpu,
        )
        self.readings = self.readings.with_scene(scene, BUILTIN, names, self.settings.tick)
        patience = Patience(self.settings.stale, self.settings.unknown_release)
        self.verdicts = judge(rules, self.memory.states, self.readings, Instant(self.now), patience, sampled=sampled)
        situation = self.situation(sampled=sampled)
        only_shown = tuple(verdict for verdict in self.verdicts if verdict.rule.preview)
        self.shown, told = preview(replace(situation, verdicts=only_shown, preview=True))
        self.plan = decide(situation)
        self.memory = replace(self.plan.memory, previewed=told)
        return self.plan

    def _files(self, pod: Pod, one: Container) -> KnobSettings:
        base = base_quota(one, self.settings.kubelet)
        said = self.quotas.get(pod.name)
        standing = [c.quota for c in self.plan.claims if c.pod == pod.uid and c.container == one.name and c.quota]
        times = [int(quota) * 100 for quota in [*standing, *([said] if said else [])]] + ([base] if base else [])
        return KnobSettings(quota=Quota(Microseconds(min(times)) if times else None), weight=1024)

    def _run(self, seconds: float) -> None:
        self._node_cpu += round((self.node_usage or 0) * seconds * 1e6)
        self._periods += round(seconds * 10)
        for pod in self.pods:
            for one, group in groups_of(pod):
                self._cpu[group] = self._cpu.get(group, 0) + round((self._used(pod, one) or 0) * seconds * 1e6)
                stopped = round(seconds * 10) if pod.name in self.hungry else 0
                self._throttled[group] = self._throttled.get(group, 0) + stopped
                stalled = round((self._of(self.pressing, pod, one) or 0) * seconds * 10_000)
                self._stalled[group] = self._stalled.get(group, 0) + stalled

    def _used(self, pod: Pod, one: Container) -> int | None:
        return self._of(self.usage, pod, one)

    def _of(self, said: Mapping[str, T | None], pod: Pod, one: Container) -> T | int | None:
        return said.get(f"{pod.name}/{one.name}", said.get(pod.name, 0))

    def _sample(self) -> HostSample:
        used = Nanoseconds(self._node_cpu)
        zero, zero_us = Nanoseconds(0), Microseconds(0)
        times = CpuTimes(user=used, nice=zero, system=zero, idle=zero, iowait=zero, irq=zero, softirq=zero, steal=zero)
        return HostSample(
            at=Instant(self.now),
            wall=Wall(self.wall),
            node=NodeCounters(
                cpu=None if self.node_usage is None else times,
                memory_working_set=None if self.node_holds is None else Bytes(self.node_holds),
                load=None if self.load is None else (self.load, self.load, self.load),
                pressure={name: Pressure(zero_us, zero_us, avg, avg) for name, avg in self.psi.items()},
            ),
            groups={group: self._counters(pod, one, group) for pod in self.pods for one, group in groups_of(pod)},
        )

    def _counters(self, pod: Pod, one: Container, group: GroupId) -> GroupCounters:
        if self._used(pod, one) is None:
            return GroupCounters()
        held, pressing = self._of(self.holds, pod, one), self._of(self.pressing, pod, one)
        return GroupCounters(
            cpu=Nanoseconds(self._cpu.get(group, 0)),
            periods=self._periods,
            throttled=self._throttled.get(group, 0),
            memory_working_set=None if held is None else Bytes(int(held)),
            cpu_some_total=None if pressing is None else Microseconds(self._stalled.get(group, 0)),
        )


def with_settings(story: Story, **settings: object) -> Story:
    return but(story, settings=replace(story.settings, **settings))


def squeezed(plan: Plan) -> dict[str, int]:
    """The quotas that are claimed, in millicores, by pod, or by pod and container where it is not the main one."""
    claims = [claim for claim in plan.claims if claim.knob is Knob.QUOTA]
    return {one.pod if one.container == "main" else f"{one.pod}/{one.container}": one.quota or 0 for one in claims}


def yielding(plan: Plan) -> dict[str, int]:
    return {claim.pod: claim.shares or 0 for claim in plan.claims if claim.source is Source.YIELD}


def lifted(plan: Plan) -> dict[str, int]:
    return {claim.pod: claim.shares or 0 for claim in plan.claims if claim.source is Source.LIFT}


def gone(plan: Plan) -> list[str]:
    return [order.pod.name for order in plan.evictions]


def decisions(plan: Plan, action: ActionKind = ActionKind.THROTTLE) -> list[Decision]:
    return [decision for decision in plan.decisions if decision.action is action]


def released(plan: Plan, action: ActionKind = ActionKind.THROTTLE) -> float:
    """What is expected of all of it, in each metric's unit."""
    return sum(one.expected or 0.0 for decision in decisions(plan, action) for one in decision.operations)


def gap(plan: Plan, action: ActionKind = ActionKind.THROTTLE) -> float:
    return sum(decision.gap or 0.0 for decision in decisions(plan, action))


def said_of(pod: str, found: Iterable[Decision]) -> str:
    """Why it was, or was not, taken."""
    return next(c.why for decision in found for c in decision.candidates if c.pod == f"default/{pod}")


def throttle_of(plan: Plan, pod: str) -> Throttled:
    return next(one for one in plan.memory.throttled if one.pod == pod)


def wait_of(story: Story, metric: str = "cpu_total_usage") -> float:
    """How long it waits now; 0: as long as the rules' cool-down."""
    return story.memory.waits[metric].seconds
