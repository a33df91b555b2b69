"""
Whether the agent's memory stays flat: resident memory along 10,000 ticks at full speed, on real groups, with the real journal.

The clock is stepped by ten seconds a tick, so it is more than a day to the agent: windows fill and move on, the journal grows to its bound by age or size, and whatever is kept
without need shows. The process is this benchmark's own, a little larger than the agent's (benchmarks/agent_cost.py tells that one's size).
"""

import argparse
import json
import os
import sys

from scene.agent import agent, node
from scene.memory import resident_mib

LOOKED_AT = (100, 1_000, 2_500, 5_000, 7_500, 10_000)


def growth(containers: int, ticks: int) -> dict[int, float]:
    """MiB by ticks."""
    found = {}
    with node(containers) as (place, root, _), agent(place, root) as ticking:
        for number in range(1, ticks + 1):
            ticking.tick()
            if number in LOOKED_AT or number == ticks:
                found[number] = round(resident_mib(), 1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="resident memory along many ticks")
    parser.add_argument("--containers", type=int, default=400)
    parser.add_argument("--ticks", type=int, default=10_000)
    parser.add_argument("--output", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        print("making cgroups takes root", file=sys.stderr)
        return 3
    found = growth(asked.containers, asked.ticks)
    if asked.output == "json":
        print(json.dumps({"containers": asked.containers, "rss_mib": found}))
        return 0
    for ticks, mib in found.items():
        print(f"after {ticks:6d} ticks: {mib:6.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
