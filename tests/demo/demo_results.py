"""Builders for what the demonstration measures; every test says only what it is about."""

from slackwater.api.units import Bytes, Instant, Millicores, Seconds, Wall
from slackwater.decide.plan import ActionKind, Decision, Operation
from slackwater.demo.calibration import Calibration, Load, Reached, Workers
from slackwater.demo.figures import Bucket, Reading, Request, Round
from slackwater.demo.performance import Act, GivingBack, Options, Performance, Stretch
from slackwater.demo.stage import Facts


def requests_of(*latencies: float, every: float = 1.0, wait_each: float = 0.0) -> list[Request]:
    return [
        Request(due=number * every, latency_ms=latency, waited_ms=(number + 1) * wait_each)
        for number, latency in enumerate(latencies)
    ]


def reading(at: float, *, used: float = 0.0, stolen: float = 0.0, work: int = 0) -> Reading:
    return Reading(at=at, used=used, stolen=stolen, work=work)


def one_round(phase: str, *, wait: float = 1.0, work: float = 0.0, requests: int = 1500, others: float = 0.05) -> Round:
    return Round(
        phase=phase,
        start=0.0,
        end=6.0,
        requests=requests,
        wait_ms=wait,
        p50_ms=wait + 1,
        p90_ms=wait + 2,
        p99_ms=wait + 10,
        work=work,
        cpu_cores=1.5,
        steal_cores=0.1,
        others_cores=others,
    )


def throttle(
    number: int = 1, *, gap: float = 300.0, released: float = 295.0, actual: float | None = 290.0, preview: bool = False
) -> Decision:
    return Decision(
        id=str(number),
        at=Wall(1000.0 + number),
        instant=Instant(float(number)),
        action=ActionKind.THROTTLE,
        preview=preview,
        policy="demo-waterline",
        rule="node-cpu",
        metric="cpu_total_usage",
        unit="millicores",
        value=1900.0,
        waterline=1600.0,
        gap=gap,
        bad_ticks=2,
        operations=(
            Operation(
                pod="demo/batch-0",
                uid="u0",
                container="worker-0",
                knob="quota",
                before=None,
                after=300,
                expected=released,
                actual=actual,
            ),
        ),
    )


REACHED = Reached(quiet=0.3, service=0.25, full=1.9, steal=0.0)


def calibration(**changes: object) -> Calibration:
    facts = {
        "cpus": 2,
        "load": Load(rate=250.0, turns=40_000, cpu_ms=1.0),
        "workers": Workers(pods=4, per_pod=1),
        "request": Millicores(400),
        "reached": REACHED,
        "waterline": Millicores(1620),
    }
    return Calibration(**{**facts, **changes})  # type: ignore[arg-type] # a builder takes any field by name


def performance(**changes: object) -> Performance:
    facts = {
        "facts": Facts(
            backend="cgroup1",
            kernel="6.1",
            processor="A <fast> one",
            cpus=2,
            memory=Bytes(8 << 30),
            swap=Bytes(0),
        ),
        "options": Options(rounds=1, seconds=Seconds(6.0)),
        "calibration": calibration(),
        "rounds": (
            one_round("alone", wait=0.01),
            one_round("unmanaged", wait=1.5, work=900_000.0),
            one_round("slackwater", wait=0.05, work=720_000.0),
        ),
        "stretches": (
            Stretch(Act("the service alone", "alone", 1, measuring=True), 0.0, 6.0),
            Stretch(Act("off", "unmanaged", 1, measuring=True), 6.0, 12.0),
            Stretch(Act("on", "slackwater", 1, measuring=True), 12.0, 18.0),
        ),
        "series": tuple(
            Bucket(at=at + 0.5, wait_ms=at / 10, p90_ms=at / 5, work=at * 1000.0, cpu_cores=1.5, steal_cores=0.0)
            for at in range(18)
        ),
        "decisions": (throttle(),),
        "first_actions": ("1",),
        "reactions": (3.0,),
        "giving_back": GivingBack(after=8.0, waited=8.0, cpu_cores=0.3, others_cores=0.05),
        "differences": (),
    }
    return Performance(**{**facts, **changes})  # type: ignore[arg-type] # a builder takes any field by name
