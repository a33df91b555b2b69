"""
What sampling costs: the agent's own pass over real cgroups against a C program that reads the same files the same way.

Both keep every file open and read it at its beginning; the two take turns, so that a machine that is slow for a while is slow for both. Figures are CPU time (user and
system), because that is what the agent takes from its node. `--output json` is for the collection of all benchmarks.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slackwater.api.objects import QosClass
from slackwater.api.units import Instant, Wall
from slackwater.host.discovery import driver_at
from slackwater.host.layout import Layout
from slackwater.host.machine import Machine
from slackwater.snapshot.groups import PodGroups

CGROUPS = Path("/sys/fs/cgroup")
SOURCE = Path(__file__).with_suffix(".c")
PER_POD = 2
PASSES = 10
LAYOUT = Layout()


class SystemClock:
    def instant(self) -> Instant:
        return Instant(time.monotonic())

    def wall(self) -> Wall:
        return Wall(time.time())


def pods(containers: int) -> list[PodGroups]:
    count = -(-containers // PER_POD)
    return [
        PodGroups(f"pod-{i:05d}", QosClass.BURSTABLE, tuple(f"{i:031x}{j}".rjust(64, "0") for j in range(PER_POD)))
        for i in range(count)
    ]


@contextmanager
def groups(wanted: list[PodGroups], root: str) -> Iterator[None]:
    """Those pods' groups, in every hierarchy there is, and gone afterwards."""
    paths = ["", LAYOUT.top, LAYOUT.level(QosClass.BURSTABLE)]
    for pod in wanted:
        paths += [
            LAYOUT.pod(pod.uid, pod.qos_class),
            *(LAYOUT.container(pod.uid, pod.qos_class, container) for container in pod.containers),
        ]
    try:
        for tree in trees(root):
            for path in paths:
                make(tree / path)
        yield
    finally:
        for tree in trees(root):
            for path in reversed(paths):
                if (tree / path).is_dir():
                    (tree / path).rmdir()


def trees(root: str) -> list[Path]:
    """Where the groups lie, in every hierarchy there is."""
    names = ("cpu", "cpuacct", "memory", "unified") if driver_at(str(CGROUPS)).backend == "cgroup1" else ("",)
    return [CGROUPS / name / root for name in names if (CGROUPS / name).is_dir()]


def make(folder: Path) -> None:
    folder.mkdir()
    controllers = folder.parent / "cgroup.controllers"
    if controllers.exists() and "cpu" in controllers.read_text().split():
        (folder.parent / "cgroup.subtree_control").write_text("+cpu +memory")


def counter_files(wanted: list[PodGroups], root: str) -> str:
    driver = driver_at(str(CGROUPS), root)
    paths = (LAYOUT.container(pod.uid, pod.qos_class, container) for pod in wanted for container in pod.containers)
    return "".join("\t".join(driver.counter_files(path)) + "\n" for path in paths) + "\n"


def compiled() -> Path:
    """The C program, in the cache; built anew when its source is younger."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slackwater"
    program = cache / "sampling"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program


class Plain:
    """The C program, waiting for its turn."""

    def __init__(self, program: Path, files: str) -> None:
        self._process = subprocess.Popen(
            [program, str(PASSES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._ask(files)

    def _ask(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def cpu_ms(self) -> float:
        assert self._process.stdout
        self._ask("go\n")
        return int(self._process.stdout.readline()) / PASSES / 1e6

    def close(self) -> None:
        self._process.communicate()


def agent_cpu_ms(machine: Machine, expected: int) -> float:
    start = time.process_time_ns()
    for _ in range(PASSES):
        sample = machine.sample()
    spent = time.process_time_ns() - start
    assert len(sample.groups) == expected
    return spent / PASSES / 1e6


def spread(values: list[float]) -> dict[str, float]:
    return {"median": round(statistics.median(values), 3), "low": round(min(values), 3), "high": round(max(values), 3)}


def compare(containers: int, repeats: int) -> dict[str, dict[str, float]]:
    """Both arms in turn, in real groups made for it."""
    wanted, root = pods(containers), f"slackwater-bench-{os.getpid()}"
    with groups(wanted, root):
        plain, machine = Plain(compiled(), counter_files(wanted, root)), Machine(SystemClock(), root=root)
        machine.follow(wanted)
        agent_cpu_ms(machine, containers), plain.cpu_ms()
        gc.collect()
        arms = [(agent_cpu_ms(machine, containers), plain.cpu_ms()) for _ in range(repeats)]
        machine.close()
        plain.close()
    return {
        "agent_ms": spread([ours for ours, _ in arms]),
        "c_ms": spread([theirs for _, theirs in arms]),
        "ratio": spread([ours / theirs for ours, theirs in arms]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU time of one sample against a C program that reads the same files")
    parser.add_argument("--containers", type=int, nargs="*", default=[50, 100, 200, 400, 1000])
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    results = {containers: compare(containers, asked.repeats) for containers in asked.containers}
    if asked.output == "json":
        print(json.dumps({"passes": PASSES, "repeats": asked.repeats, "sampling": results}))
        return 0
    print(
        "containers   agent ms (range)           C ms (range)               ratio (range)          agent us a container"
    )
    for containers, result in results.items():
        cells = [
            "{median:8.3f} ({low:.3f}-{high:.3f})".format(**result[arm]).ljust(26)
            for arm in ("agent_ms", "c_ms", "ratio")
        ]
        print(f"{containers:10d} {' '.join(cells)} {result['agent_ms']['median'] * 1000 / containers:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
