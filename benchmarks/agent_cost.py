"""
What the agent takes from its node: the CPU and the memory of the real process, started as its user starts it, with 400 containers; at ten-second ticks unless told
otherwise.

CPU time is the kernel's own account of all its threads (`/proc/<pid>/task/*/schedstat`), read once a tick; the start is not in it, and
everything that runs between two ticks is. Memory is what it holds resident at the end.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sampling
from scene.agent import node
from scene.memory import resident_mib

STARTED_WITHIN = 5.0
ENDS_WITHIN = 60.0


@contextmanager
def running(place: Path, root: str, tick_seconds: float) -> Iterator[int]:
    """The agent's process id."""
    nothing = place / ".slackwater" / "empty.yaml"
    nothing.write_text("{}")  # in place of whatever this machine has in /etc
    command = [f"{sysconfig.get_path('scripts')}/slackwater", "agent", "--config", str(nothing)]
    command += [
        "--cluster",
        f"folder:{place}",
        "--host-cgroup-root",
        root,
        "--log-level",
        "warning",
        "--tick-seconds",
        f"{tick_seconds:g}",
    ]
    process = subprocess.Popen(command)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(ENDS_WITHIN) == 0


def cpu_seconds(pid: int) -> float:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def measured(containers: int, ticks: int, tick_seconds: float) -> tuple[list[float], float]:
    """The CPU seconds of so many ticks one by one, and MiB."""
    with node(containers) as (place, root, _), running(place, root, tick_seconds) as pid:
        # In the middle between two ticks.
        due = time.monotonic() + max(1.5 * tick_seconds, STARTED_WITHIN)
        costs, before = [], 0.0
        for tick in range(ticks + 1):
            time.sleep(max(0.0, due - time.monotonic()))
            now = cpu_seconds(pid)
            if tick:
                costs.append(now - before)
            before = now
            due += tick_seconds
        return costs, resident_mib(pid)


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU and memory of the agent's process")
    parser.add_argument("--containers", type=int, default=400)
    parser.add_argument("--ticks", type=int, default=10)
    parser.add_argument("--tick-seconds", type=float, default=10.0)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    costs, mib = measured(asked.containers, asked.ticks, asked.tick_seconds)
    core = sum(costs) / (len(costs) * asked.tick_seconds)
    figures = sampling.spread([1000 * cost for cost in costs])
    if asked.output == "json":
        print(json.dumps({"ticks": asked.ticks, "core": core, "tick_ms": figures, "rss_mib": mib}))
        return 0
    print("{0} containers: {1:.5f} core, {median} ms a tick ({low}-{high})".format(asked.containers, core, **figures))
    print(f"{mib:.1f} MiB resident")
    return 0


if __name__ == "__main__":
    sys.exit(main())
