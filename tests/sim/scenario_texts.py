"""Short ways to write a scenario, read it and run it."""

from pathlib import Path

from slackwater.api import documents
from slackwater.api.problems import Problem
from slackwater.sim import scenario
from slackwater.sim.result import Result
from slackwater.sim.running import run
from slackwater.sim.scenario import Read, Scenario

EXAMPLES = Path(__file__).parents[2] / "examples" / "scenarios"

WATERLINE = """
  - apiVersion: ensurance.crane.io/v1alpha1
    kind: NodeQOS
    metadata: {name: waterline}
    spec:
      rules:
      - {name: cpu, avoidanceThreshold: 2, restoreThreshold: 2, actionName: ACTION, metricRule: {name: cpu_total_usage, value: 6000}}
  - {apiVersion: ensurance.crane.io/v1alpha1, kind: AvoidanceAction, metadata: {name: throttle}, spec: {coolDownSeconds: 60, throttle: {cpuThrottle: {}}}}
  - {apiVersion: ensurance.crane.io/v1alpha1, kind: AvoidanceAction, metadata: {name: evict}, spec: {coolDownSeconds: 60, eviction: {terminationGracePeriodSeconds: 20}}}
  - {apiVersion: ensurance.crane.io/v1alpha1, kind: AvoidanceAction, metadata: {name: close}, spec: {coolDownSeconds: 60}}
"""

SPEC = """
apiVersion: slackwater.dev/v1alpha1
kind: Scenario
metadata: {name: story}
spec:
  duration: 10m
  workloads:
  - name: web
    pod: {spec: {priority: 100, containers: [{name: main, resources: {requests: {cpu: 4}}}]}}
    cpu: WEB
  - name: etl
    replicas: 2
    pod: {spec: {priority: -10, containers: [{name: main}]}}
    cpu: 1.5
  policies:POLICIES
"""


def story(web: str = "{steps: [[0s, 2], [2m, 4]]}", action: str = "throttle", more: str = "") -> str:
    """A service and two batch pods on eight cores with a waterline of six; over it from the second minute on."""
    policies = WATERLINE.replace("ACTION", action)
    return SPEC.replace("WEB", web).replace("POLICIES", policies) + more


def read(text: str, files: dict[str, str] | None = None) -> Read:
    def opened(name: str) -> str | Problem:
        found = (files or {}).get(name)
        return found if found is not None else documents.unread(name, "is not there", "name one that is")

    return scenario.read(text, "story.yaml", opened)


def taken(text: str, files: dict[str, str] | None = None) -> Scenario:
    found = read(text, files)
    assert found.scenario is not None, [str(problem) for problem in found.problems]
    return found.scenario


def ran(text: str, files: dict[str, str] | None = None) -> Result:
    result = run(taken(text, files))
    assert not result.promises_broken
    return result


def refused(text: str, files: dict[str, str] | None = None) -> list[str]:
    """What is said of it, a line each."""
    found = read(text, files)
    assert found.scenario is None
    return [str(problem) for problem in found.problems]


def example(name: str) -> Result:
    file = EXAMPLES / f"{name}.yaml"
    found = scenario.read(file.read_text(), file.name, lambda beside: (EXAMPLES / beside).read_text())
    assert found.scenario is not None, found.problems
    result = run(found.scenario)
    assert not result.promises_broken
    return result
