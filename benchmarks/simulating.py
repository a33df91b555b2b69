"""
How much faster than the clock a simulation runs: half the pods a service whose load is a day, half of them batch, a waterline in between, all with noise.

`python benchmarks/simulating.py [HOURS [ROUNDS]]` prints the pace for 20 and for 200 pods, simulated seconds in one CPU second of this process: median and range over the rounds.
"""

import statistics
import sys
import time

from slackwater.api.problems import Problem
from slackwater.sim.running import run
from slackwater.sim.scenario import Scenario, read

SIZES = (20, 200)
TEXT = """
apiVersion: slackwater.dev/v1alpha1
kind: Scenario
metadata: {{name: pace}}
spec:
  duration: {hours}h
  node: {{cpu: "{cores}", memory: 320Gi}}
  workloads:
  - name: web
    replicas: {half}
    pod: {{spec: {{priority: 100, containers: [{{name: main, resources: {{requests: {{cpu: 100m}}}}}}]}}}}
    cpu: {{day: {{low: 0.1, high: {high}, peak: "14:00"}}, noise: 0.01}}
  - name: etl
    replicas: {half}
    pod: {{spec: {{priority: -10, containers: [{{name: main}}]}}}}
    cpu: {{value: {batch}, noise: 0.02}}
    memory: 1Gi
  policies:
  - apiVersion: ensurance.crane.io/v1alpha1
    kind: NodeQOS
    metadata: {{name: waterline}}
    spec:
      rules:
      - name: cpu
        avoidanceThreshold: 2
        restoreThreshold: 2
        actionName: throttle
        metricRule: {{name: cpu_total_utilization, value: 75}}
  - apiVersion: ensurance.crane.io/v1alpha1
    kind: AvoidanceAction
    metadata: {{name: throttle}}
    spec: {{throttle: {{cpuThrottle: {{}}}}}}
"""


def main(hours: int, rounds: int) -> None:
    for pods in SIZES:
        paces = [pace(scenario(pods, hours)) for _ in range(rounds)]
        spread = f"{min(paces):.0f}-{max(paces):.0f}"
        print(f"{pods} pods, {hours} h: {statistics.median(paces):.0f} x real time ({spread}, {rounds} rounds)")


def scenario(pods: int, hours: int) -> Scenario:
    cores, half = max(8, pods // 4), pods // 2
    text = TEXT.format(hours=hours, cores=cores, half=half, high=0.5 * cores / half, batch=0.6 * cores / half)
    found = read(text, "pace.yaml", _nothing_beside)
    assert found.scenario is not None, found.problems
    return found.scenario


def pace(one: Scenario) -> float:
    begin = time.process_time()
    result = run(one)
    took = time.process_time() - begin
    assert not result.promises_broken
    return result.ticks * result.tick / took


def _nothing_beside(name: str) -> Problem:
    raise AssertionError(f"{name} is not asked for")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*[*given, *(6, 3)[len(given) :]])
