"""
A day of steady load: does giving back ever bring the harm back, and what does the waterline cost the batch work?

`python benchmarks/steady_load.py [SEEDS [HOURS [NOISE%]]]` simulates a node of 8 cores with its waterline at 6: a service of 4 with independent noise (by default 2 % of the
waterline), four batch pods that take all they get, ticks of 10 s. It prints per seed, and over all, the reversals (a pod's throttle raised, and lowered again within the wait),
the time above the waterline, the batch work done against what the waterline left for it, and how much faster than the clock it ran.
"""

import statistics
import sys
import time

from msgspec import Struct

from slackwater.api.objects import (
    AvoidanceAction,
    Container,
    CpuThrottle,
    Owner,
    Pod,
    Policy,
    QosClass,
    Resources,
    Rule,
)
from slackwater.api.units import Millicores, Seconds
from slackwater.sim.account import Account, work
from slackwater.sim.demand import constant, noisy
from slackwater.sim.world import Simulation

CPU, WATERLINE, SERVICE, GREED = Millicores(8000), Millicores(6000), Millicores(4000), Millicores(8000)
BATCH_PODS = 4
COOL_DOWN = Seconds(300)


class Day(Struct, frozen=True):
    reversals: int
    seconds_above: float
    highest: Millicores
    work: float  # core seconds
    decisions: int
    pace: float  # simulated seconds in one of ours


def main(seeds: int, hours: float, noise: float) -> None:
    print(f"{hours:g} h of steady load, noise {noise:g} % of the waterline, {seeds} seeds")
    days = [day(seed, hours, noise) for seed in range(1, seeds + 1)]
    for seed, one in enumerate(days, 1):
        print(f"seed {seed}: {told(one)}")
    left = hours * 3600 * (WATERLINE - SERVICE) / 1000
    above = [one.seconds_above for one in days]
    done = [100 * one.work / left for one in days]
    pace = [one.pace for one in days]
    print(f"reversals: {sum(one.reversals for one in days)} in {seeds * hours:g} h")
    print(f"above the waterline: median {statistics.median(above):.0f} s ({min(above):.0f}-{max(above):.0f})")
    print(f"batch work of what the waterline left: {statistics.median(done):.1f} % ({min(done):.1f}-{max(done):.1f})")
    print(f"pace: {statistics.median(pace):.0f} x real time ({min(pace):.0f}-{max(pace):.0f})")


def told(one: Day) -> str:
    return (
        f"{one.reversals} reversals, {one.seconds_above:.0f} s above (at most {one.highest} m), "
        f"{one.work / 3600:.1f} core hours of batch, {one.decisions} decisions"
    )


def day(seed: int, hours: float, noise: float) -> Day:
    simulation = node(seed, Millicores(round(WATERLINE * noise / 100)))
    account = Account(WATERLINE, COOL_DOWN)
    begin = time.perf_counter()
    for _ in range(round(hours * 3600 / simulation.configuration.tick_seconds)):
        simulation.tick()
        account.look(simulation)
    took = time.perf_counter() - begin
    return Day(
        account.reversals,
        account.seconds_above,
        account.highest,
        work(simulation),
        len(simulation.decisions),
        hours * 3600 / took,
    )


def node(seed: int, deviation: Millicores) -> Simulation:
    simulation = Simulation(cpu=CPU)
    rule = Rule(name="cpu", action="squeeze", metric="cpu_total_usage", value=WATERLINE, avoidance_threshold=2)
    simulation.put(
        Policy(kind="NodeQOS", name="waterline", rules=(rule,)),
        AvoidanceAction(name="squeeze", cool_down=COOL_DOWN, cpu_throttle=CpuThrottle()),
    )
    simulation.add(pod("service", 100), noisy(constant(SERVICE), deviation, seed, "service"))
    for index in range(BATCH_PODS):
        simulation.add(pod(f"batch-{index}", -10), constant(GREED))
    return simulation


def pod(name: str, priority: int) -> Pod:
    requests = Resources(cpu=Millicores(1000))
    return Pod(
        namespace="default",
        name=name,
        uid="",
        priority=priority,
        qos_class=QosClass.BURSTABLE,
        containers=(Container(name="main", requests=requests),),
        owner=Owner("Job", name),
    )


if __name__ == "__main__":
    arguments = [float(text) for text in sys.argv[1:4]]
    seeds, hours, noise = [*arguments, *(10.0, 24.0, 2.0)[len(arguments) :]]
    main(int(seeds), hours, noise)
