"""
Whether the agent's memory stays flat: resident memory along 10,000 ticks at full speed, on real groups, with the real journal.

The clock is stepped by ten seconds a tick, so it is more than a day to the agent: windows fill and move on, the journal forgets, and whatever is kept without need shows. In the
busy arm, beside that, the node is above its waterline for some ticks of every hundred, so that batch is squeezed and given back again, and one pod after the other restarts with
containers, groups and reports of its own. The process is this benchmark's, a little larger than the agent's (benchmarks/agent_cost.py tells that one's size).
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

import sampling
from scene import folder
from scene.agent import agent, node
from scene.memory import resident_mib
from scene.told import Told

from slackwater.host.machine import Machine
from slackwater.snapshot.groups import PodGroups

LOOKED_AT = (100, 1_000, 2_500, 5_000, 7_500, 10_000)
BUSY_CONTAINERS = 100
ROUND, HOT = 100, 5  # ticks
TICKS_BETWEEN_RESTARTS = 25
PERCENT = 20  # of the capacity, the waterline of the busy arm: half of the pods pass it when they are hot


def quiet(containers: int, ticks: int) -> dict[int, float]:
    """MiB by ticks."""
    found = {}
    with node(containers) as (place, root, _), agent(place, root) as ticking:
        for number in range(1, ticks + 1):
            ticking.tick()
            if number in LOOKED_AT or number == ticks:
                found[number] = round(resident_mib(), 1)
    return found


def busy(ticks: int) -> tuple[dict[int, float], int]:
    """MiB by ticks, and how many quotas were written meanwhile."""
    found = {}
    told: list[Told] = []

    def between(machine: Machine) -> Told:
        told.append(Told(machine, {pod.uid for pod in sampling.pods(BUSY_CONTAINERS // 2)}))
        return told[0]

    with node(BUSY_CONTAINERS, percent=PERCENT) as (place, root, pods), agent(place, root, host=between) as ticking:
        restarts = restarting(place, root, pods)
        try:
            for number in range(1, ticks + 1):
                told[0].hot = number % ROUND < HOT
                if number % TICKS_BETWEEN_RESTARTS == 0:
                    next(restarts)
                ticking.tick()
                if number in LOOKED_AT or number == ticks:
                    found[number] = round(resident_mib(), 1)
            assert ticking.give_back()
        finally:
            ended(root, pods)
    return found, told[0].quotas


def restarting(place: Path, root: str, pods: list[PodGroups]) -> Iterator[None]:
    """At each turn the next pod has new containers, in groups of their own, and the lab's report says so."""
    for turn, index in enumerate(cycle(range(len(pods))), 1):
        before = pods[index]
        fresh = tuple(f"{turn:x}{number}".rjust(64, "f") for number in range(len(before.containers)))
        for tree in sampling.trees(root):
            pod = tree / sampling.LAYOUT.pod(before.uid, before.qos_class)
            replaced(pod, before.containers, fresh)
        pods[index] = PodGroups(before.uid, before.qos_class, fresh)
        folder.report(place, pods)
        yield


def ended(root: str, pods: Sequence[PodGroups]) -> None:
    """Takes every container's group away; the scene knows only those of its beginning."""
    for tree in sampling.trees(root):
        for pod in pods:
            replaced(tree / sampling.LAYOUT.pod(pod.uid, pod.qos_class), pod.containers, ())


def replaced(pod: Path, before: Sequence[str], after: Sequence[str]) -> None:
    for name in after:
        (pod / name).mkdir()
    for name in before:
        (pod / name).rmdir()


def main() -> int:
    parser = argparse.ArgumentParser(description="resident memory along many ticks")
    parser.add_argument("--containers", type=int, default=400)
    parser.add_argument("--ticks", type=int, default=10_000)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    calm = quiet(asked.containers, asked.ticks)
    active, quotas = busy(asked.ticks)
    if asked.output == "json":
        print(json.dumps({"containers": asked.containers, "quiet_mib": calm, "busy_mib": active, "quotas": quotas}))
        return 0
    print(
        f"   ticks   quiet, {asked.containers} containers   busy, {BUSY_CONTAINERS} containers ({quotas} quotas written)"
    )
    for ticks, mib in calm.items():
        print(f"{ticks:8d} {mib:15.1f} MiB {active[ticks]:17.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
