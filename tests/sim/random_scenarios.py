"""
Scenarios drawn by a seed: node-hours in which anything happens, to see whether a promise is ever broken.

`python tests/sim/random_scenarios.py show SEED` prints one, for `slackwater simulate`; `... soak FIRST COUNT` runs many, prints the command that replays each one that breaks
a promise, and fails if there was any. The same seed is the same scenario.
"""

import logging
import random
import sys
from collections.abc import Callable

from slackwater.api.problems import Problem
from slackwater.sim.result import Result
from slackwater.sim.running import run
from slackwater.sim.scenario import read

HOUR = 3600
HEAD = "apiVersion: ensurance.crane.io/v1alpha1, "
ACTIONS = {
    "throttle": "coolDownSeconds: 120, throttle: {cpuThrottle: {}}",
    "evict": "coolDownSeconds: 120, eviction: {terminationGracePeriodSeconds: 20}",
    "both": "coolDownSeconds: 300, throttle: {cpuThrottle: {stepCPURatio: 30}}, eviction: {keepSchedulable: true}",
    "close": "coolDownSeconds: 60",
}
METRICS = {
    "cpu_total_usage": ("5000", "6000", "7000"),
    "cpu_total_utilization": ("62.5", "75"),
    "cpu_pressure_some_10s": ("0.5", "10"),
    "memory_total_usage": ("12Gi", "20Gi"),
}
PODS = ("web-0", "etl-0", "etl-1", "mix-0")
ANNOTATIONS = ("{}", '{volcano.sh/qos-level: "-1"}', "{volcano.sh/qos-level: LS}", '{slackwater.dev/protected: "true"}')


def text(seed: int) -> str:
    draw = random.Random(seed)
    faults = [_fault(draw) for _ in range(draw.randint(1, 6))]
    return "\n".join(
        (
            "apiVersion: slackwater.dev/v1alpha1",
            "kind: Scenario",
            f"metadata: {{name: random-{seed}}}",
            "spec:",
            "  duration: 1h",
            f"  seed: {seed}",
            "  workloads:",
            *_workloads(draw),
            "  policies:",
            *(f"  - {_policy(draw, name)}" for name in ("first", "second")),
            *(
                f"  - {{{HEAD}kind: AvoidanceAction, metadata: {{name: {name}}}, spec: {{{spec}}}}}"
                for name, spec in ACTIONS.items()
            ),
            *([_pod_qos(draw)] if draw.random() < 0.3 else []),
            f"  config: {{evictOnMissingUsage: {draw.choice(('true', 'false'))}}}",
            "  faults:",
            *(f"  - {{{fault}}}" for fault in faults),
            "",
        )
    )


def _workloads(draw: random.Random) -> list[str]:
    service = draw.choice(("{requests: {cpu: 4}}", "{limits: {cpu: 7, memory: 30Gi}}"))
    rise, fall = draw.randrange(60, 1200), draw.randrange(1201, 3000)
    levels = (
        f"[[0s, {draw.uniform(0, 3):.2f}], [{rise}s, {draw.uniform(2, 7):.2f}], [{fall}s, {draw.uniform(0, 5):.2f}]]"
    )
    mixed = f"priority: {draw.choice((-20, -10, 0, 10))}, containers: [{{name: main, resources: {{requests: {{cpu: 500m}}}}}}, {{name: side}}]"
    return [
        f"  - name: web\n    pod: {{spec: {{priority: 100, containers: [{{name: main, resources: {service}}}]}}}}",
        f"    cpu: {{steps: {levels}, noise: {draw.choice((0, 0.05, 0.3))}}}",
        f"    memory: {{steps: [[0s, 1Gi], [{draw.randrange(60, 3000)}s, {draw.randint(1, 20)}Gi]]}}",
        f"  - name: etl\n    replicas: {draw.randint(2, 6)}\n    pod: {{spec: {{priority: -10, containers: [{{name: main}}]}}}}",
        f"    cpu: {{value: {draw.uniform(0.2, 3):.2f}, noise: {draw.choice((0, 0.1))}}}\n    memory: {draw.randint(1, 4)}Gi",
        f"    returns: {draw.randrange(10, 600)}s\n    arrives: {draw.choice((0, 100, 900))}s",
        f"  - name: mix\n    replicas: {draw.randint(1, 4)}\n    bare: {draw.choice(('true', 'false'))}",
        f"    pod: {{metadata: {{annotations: {draw.choice(ANNOTATIONS)}}}, spec: {{{mixed}}}}}",
        f"    cpu: {draw.uniform(0.1, 2):.2f}\n    leaves: {draw.choice((20, 50, 61))}m",
    ]


def _policy(draw: random.Random, name: str) -> str:
    rules = ", ".join(_rule(draw, f"rule-{number}") for number in range(draw.randint(1, 2)))
    return f"{{{HEAD}kind: NodeQOS, metadata: {{name: {name}}}, spec: {{rules: [{rules}]}}}}"


def _rule(draw: random.Random, name: str) -> str:
    metric = draw.choice(tuple(METRICS))
    action = draw.choice(("evict", "close") if metric.startswith("memory") else tuple(ACTIONS))
    strategy = draw.choice(("None", "None", "None", "Preview"))
    return (
        f"{{name: {name}, avoidanceThreshold: {draw.randint(1, 3)}, restoreThreshold: {draw.randint(1, 3)}, strategy: {strategy}, "
        f'actionName: {action}, metricRule: {{name: {metric}, value: "{draw.choice(METRICS[metric])}"}}}}'
    )


def _pod_qos(draw: random.Random) -> str:
    allowed = ", ".join(draw.sample(tuple(ACTIONS), draw.randint(0, 2)))
    scope = f"{{scopeName: Priority, operator: In, values: ['{draw.choice(('-10', '-20--10', '0-100'))}']}}"
    spec = f"scopeSelector: {{matchExpressions: [{scope}]}}, allowedActions: [{allowed}]"
    return f"  - {{{HEAD}kind: PodQOS, metadata: {{name: some}}, spec: {{{spec}}}}}"


def _fault(draw: random.Random) -> str:
    for_a_while, pod = f", for: {draw.randrange(10, 900)}s", draw.choice(PODS[:3])
    kinds: dict[str, Callable[[], str]] = {
        "missing-usage": lambda: f", pod: {pod}{for_a_while}",
        "missing-metric": lambda: f", metric: {draw.choice(tuple(METRICS))}{for_a_while}",
        "policy-deleted": lambda: f", policy: {draw.choice(('first', 'second'))}",
        "policy-changed": lambda: f", policy: first, to: {_policy(draw, 'first')}",
        "clock-jump": lambda: f", by: {draw.choice(('-3600s', '3600s', '30s'))}",
        "agent-crash": lambda: "",
        "agent-away": lambda: for_a_while,
        "journal-lost": lambda: "",
        "write-refused": lambda: f", pod: {pod}{for_a_while}",
        "eviction-refused": lambda: f", pod: {pod}{for_a_while}",
    }
    kind = draw.choice((*kinds, "agent-crash", "agent-crash"))
    return f"at: {draw.randrange(0, HOUR, 5)}s, kind: {kind}{kinds[kind]()}"


def ran(seed: int) -> Result:
    def nothing_beside(name: str) -> Problem:
        raise AssertionError(f"{name} is not asked for")

    found = read(text(seed), f"random-{seed}.yaml", nothing_beside)
    assert found.scenario is not None, [str(problem) for problem in found.problems]
    return run(found.scenario)


def replay(seed: int) -> str:
    return f"python tests/sim/random_scenarios.py show {seed} > s.yaml; slackwater simulate s.yaml"


def soak(first: int, count: int) -> int:
    """How many broke a promise."""
    logging.getLogger("slackwater").setLevel(logging.CRITICAL + 1)
    failed = 0
    for seed in range(first, first + count):
        broken = ran(seed).promises_broken
        if broken:
            failed += 1
            print(f"seed {seed}: {broken[0].promise}: {broken[0].what}\n  {replay(seed)}", flush=True)  # noqa: T201 - a program
    print(f"{count} simulated hours, {failed} of them broke a promise")  # noqa: T201 - the same
    return failed


if __name__ == "__main__":
    what, *numbers = sys.argv[1:]
    if what == "show":
        sys.stdout.write(text(int(numbers[0])))
    else:
        sys.exit(soak(int(numbers[0]), int(numbers[1])) > 0)
