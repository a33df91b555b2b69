"""
What a quiet tick costs, whole: observe, judge, decide, reconcile and record, against the C program of benchmarks/sampling.py that only reads the containers' files.

The two take turns on the same real groups; figures are CPU time. Two rules are judged and are far below their waterlines, nothing is claimed, the view does not change; the
journal is a real one and every tick is written to it. What does not depend on the number of containers (the folder's listing, the status, the journal's transaction) is told
apart from what does by a straight line through all sizes.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping

import sampling
from scene.agent import Agent, agent, node

WARM_UP = 40  # ticks until the windows of the rules are full
TICKS = 10


def tick_cpu_ms(ticking: Agent) -> float:
    start = time.process_time_ns()
    for _ in range(TICKS):
        ticking.tick()
    return (time.process_time_ns() - start) / TICKS / 1e6


def compare(containers: int, repeats: int) -> dict[str, dict[str, float]]:
    with node(containers) as (place, root, wanted), agent(place, root) as ticking:
        plain = sampling.Plain(sampling.compiled(), sampling.counter_files(wanted, root))
        for _ in range(WARM_UP):
            ticking.tick()
        check(ticking, containers)
        plain.cpu_ms()
        gc.collect()
        arms = [(tick_cpu_ms(ticking), plain.cpu_ms()) for _ in range(repeats)]
        check(ticking, containers)
        plain.close()
    return {
        "agent_ms": sampling.spread([ours for ours, _ in arms]),
        "c_ms": sampling.spread([theirs for _, theirs in arms]),
        "ratio": sampling.spread([ours / theirs for ours, theirs in arms]),
    }


def check(ticking: Agent, containers: int) -> None:
    """That what was measured is a quiet tick of so many containers."""
    held = ticking.held
    assert held.frames.newest
    assert len(held.frames.newest.groups) == containers
    assert len(held.verdicts) == 2
    assert all(verdict.counted and not verdict.state.bad_now for verdict in held.verdicts)
    assert not held.memory.throttled
    assert held.last_action is None


def line(results: Mapping[int, Mapping[str, Mapping[str, float]]]) -> tuple[float, float, float]:
    """
    The tick as so many ms and so many times the C program, through all sizes, and how far the farthest size is from that, in percent. Held against the C program, because with
    many groups the kernel itself takes longer for each.
    """
    plain = [result["c_ms"]["median"] for result in results.values()]
    ratios = [result["agent_ms"]["median"] / theirs for result, theirs in zip(results.values(), plain, strict=True)]
    fixed, times = statistics.linear_regression([1 / theirs for theirs in plain], ratios)
    off = max(abs((times + fixed / theirs) / ratio - 1) for theirs, ratio in zip(plain, ratios, strict=True))
    return fixed, times, 100 * off


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU time of a whole quiet tick against a C program that only reads")
    parser.add_argument("--containers", type=int, nargs="*", default=[50, 100, 200, 400, 1000])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    results = {containers: compare(containers, asked.repeats) for containers in asked.containers}
    if asked.output == "json":
        print(json.dumps({"ticks": TICKS, "repeats": asked.repeats, "tick": results}))
        return 0
    print(
        "containers   tick ms (range)            C ms (range)               ratio (range)          tick us a container"
    )
    for containers, result in results.items():
        cells = [
            "{median:8.3f} ({low:.3f}-{high:.3f})".format(**result[arm]).ljust(26)
            for arm in ("agent_ms", "c_ms", "ratio")
        ]
        print(f"{containers:10d} {' '.join(cells)} {result['agent_ms']['median'] * 1000 / containers:6.1f}")
    if len(results) > 2:
        print(
            "all sizes: {:.2f} ms and {:.2f} times the C program; the farthest is {:.0f} % off".format(*line(results))
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
