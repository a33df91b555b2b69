"""
How fast the agent acts: from the end of sampling to the last quota written, on a node with 1,000 containers of which 20 must be throttled.

The groups, their settings, the marks and the writes are the kernel's; only the CPU counters are told, for nothing runs in the groups. In one arm nobody but the 20 may be
squeezed; in the other all 1,000 are batch work and candidates, so that every quota is read and everybody is put in order before the 20 lowest are taken. Each repeat is an agent
that has just started: the files it must look at are not open yet.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import sampling
from msgspec import Struct
from scene import folder
from scene.agent import agent, node
from scene.told import CALM_MILLICORES, HOT_MILLICORES, OTHERS_MILLICORES, Told

from slackwater.host.discovery import driver_at
from slackwater.host.machine import Machine
from slackwater.snapshot.groups import PodGroups

THROTTLED = 20
LOWEST, SERVICE = -20, 100
QUIET_TICKS = 3


class Reaction(Struct, frozen=True):
    wall_ms: float
    cpu_ms: float


def reactions(containers: int, repeats: int, *, everybody: bool) -> Iterator[Reaction]:
    pods = sampling.pods(containers)
    hungry = {pod.uid for pod in pods[-THROTTLED // sampling.PER_POD :]}
    others = {} if everybody else {pod.uid: SERVICE for pod in pods}
    priorities = {**others, **dict.fromkeys(hungry, LOWEST)}
    with node(containers, percent=waterline(containers), priorities=priorities) as (place, root, wanted):
        for _ in range(repeats):
            yield reaction(place, root, hungry)
        assert not throttled(root, wanted)


def waterline(containers: int) -> int:
    """In percent of the node: passed when the hungry are hot, and by no more than they can give."""
    calm = (containers - THROTTLED) * OTHERS_MILLICORES + THROTTLED * CALM_MILLICORES
    rise = THROTTLED * (HOT_MILLICORES - CALM_MILLICORES)
    return (calm + rise * 6 // 10) * 100 // (folder.CPUS * 1000)


def reaction(place: Path, root: str, hungry: Collection[str]) -> Reaction:
    told: list[Told] = []

    def between(machine: Machine) -> Told:
        told.append(Told(machine, hungry))
        return told[0]

    with agent(place, root, host=between) as acting:
        host = told[0]
        for _ in range(QUIET_TICKS):
            acting.tick()
        assert host.quotas == 0
        host.hot = True
        acting.tick()
        assert host.quotas == len(acting.held.memory.throttled) == THROTTLED
        (wall, cpu), (wall_after, cpu_after) = host.sampled, host.written
        assert acting.give_back()
    return Reaction((wall_after - wall) * 1e3, (cpu_after - cpu) * 1e3)


def throttled(root: str, pods: Iterable[PodGroups]) -> int:
    """How many containers still have a quota, read from the kernel's own files."""
    driver = driver_at(str(sampling.CGROUPS), root)
    name, unlimited = ("cpu.cfs_quota_us", "-1") if driver.backend == "cgroup1" else ("cpu.max", "max")
    paths = (
        sampling.LAYOUT.container(pod.uid, pod.qos_class, container) for pod in pods for container in pod.containers
    )
    return sum(Path(driver.directory(path), name).read_text().split()[0] != unlimited for path in paths)


def told_as(values: list[float]) -> dict[str, float]:
    p95 = statistics.quantiles(values, n=20, method="inclusive")[-1]
    return {**sampling.spread(values), "p95": round(p95, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(description="time from the end of sampling to the last quota written")
    parser.add_argument("--containers", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    arms = {
        f"only the {THROTTLED} may be squeezed": False,
        f"all {asked.containers} may be squeezed": True,
    }
    results = {}
    for name, everybody in arms.items():
        found = list(reactions(asked.containers, asked.repeats, everybody=everybody))
        results[name] = {
            "wall_ms": told_as([one.wall_ms for one in found]),
            "cpu_ms": told_as([one.cpu_ms for one in found]),
        }
    if asked.output == "json":
        print(json.dumps({"containers": asked.containers, "repeats": asked.repeats, "reaction": results}))
        return 0
    for name, result in results.items():
        for what, figures in result.items():
            print(f"{name}: {what} {{median}}, p95 {{p95}} ({{low}}-{{high}})".format(**figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
