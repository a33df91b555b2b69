"""Ticks to keep: builders that the journal's tests share."""

from slackwater.api.objects import Container, Node, Pod, PodQos, Policy, QosClass, Rule, Scope
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.api.units import Bytes, Instant, Nanoseconds, Wall
from slackwater.decide.plan import ActionKind, Considered, Decision, Measurement, Operation
from slackwater.journal.edge import Entry
from slackwater.snapshot.counters import CpuTimes, GroupCounters, HostSample, NodeCounters, Pressure
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Quota, Settings
from slackwater.snapshot.view import View


def view(generation: int = 1, pods: int = 2) -> View:
    return View(
        complete=True,
        generation=generation,
        node=Node(name="node-1"),
        pods=tuple(pod(number) for number in range(pods)),
        policies=(
            Policy(
                kind="NodeQOS",
                name="waterline",
                rules=(Rule(name="cpu", action="squeeze", metric="cpu_total_usage", value=6000.0),),
            ),
        ),
        pod_qos=(
            PodQos(
                kind="PodQOS", name="batch", selector=selector(), scopes=(Scope("Priority", False, frozenset({"-10"})),)
            ),
        ),
    )


def pod(number: int) -> Pod:
    container = Container(name="main", id=f"{number:064x}", env={"A": "b"})
    return Pod(
        namespace="default",
        name=f"pod-{number}",
        uid=f"uid-{number}",
        qos_class=QosClass.BURSTABLE,
        containers=(container,),
    )


def selector() -> LabelSelector:
    return LabelSelector((Requirement("tier", Operator.IN, frozenset({"batch", "spare"})),))


def sample(at: float, groups: int = 2) -> HostSample:
    ns = Nanoseconds(int(at * 1e9))
    return HostSample(
        at=Instant(at),
        wall=Wall(at),
        node=NodeCounters(cpu=CpuTimes(ns, ns, ns, ns, ns, ns, ns, ns), pressure={"cpu": Pressure(1, 2, 0.5, 0.25)}),  # type: ignore[arg-type] # plain numbers
        groups={GroupId(f"uid-{n}", f"{n:064x}"): counters(n, at) for n in range(groups)},
        settings={
            GroupId("uid-0"): Settings(quota=None, weight=1024),
            GroupId("uid-0", "c"): Settings(quota=Quota(None)),
        },
    )


def counters(number: int, at: float) -> GroupCounters:
    return GroupCounters(
        cpu=Nanoseconds(number * 7_919_000_003 + int(at * 1e9)),
        periods=int(at * 10) + number,
        throttled=number,
        memory_working_set=Bytes(number * 104_729 * 4096),
    )


def decision(name: str = "7", at: float = 10.0, pod: str = "default/etl-7") -> Decision:
    return Decision(
        id=name,
        at=Wall(at),
        instant=Instant(at),
        action=ActionKind.THROTTLE,
        preview=False,
        policy="waterline",
        rule="cpu",
        metric="cpu_total_usage",
        candidates=(Considered(pod, True, "offline work"),),
        operations=(
            Operation(pod=pod, uid="u", container="main", knob="quota", before=None, after=520, expected=880.0),
            Operation(pod=pod, uid="u", knob="weight", before=1024, after=102),
        ),
    )


def entry(
    at: float,
    *decisions: Decision,
    measured: tuple[Measurement, ...] = (),
    seen: View | None = None,
    groups: int = 2,
    memory: bytes = b"memory",
) -> Entry:
    return Entry(
        at=Wall(at),
        instant=Instant(at),
        sample=sample(at, groups),
        view=seen or view(),
        memory=memory,
        decisions=decisions,
        measurements=measured,
    )
