"""What an agent would refuse is found by `check`, by the agent's own test and on the nodes that are known."""

import pytest

from slackwater.api.manifests import load
from slackwater.api.problems import Problem, Severity
from slackwater.api.units import Bytes, Millicores
from slackwater.cli.refused import refused_rules, this_machine
from slackwater.metrics.builtin import BUILTIN
from slackwater.snapshot.usage import Capacity

MACHINE = Capacity(Millicores(2000), Bytes(8 << 30))
ENSURANCE = "apiVersion: ensurance.crane.io/v1alpha1"
CLOSE = f"{ENSURANCE}\nkind: AvoidanceAction\nmetadata: {{name: close}}\nspec: {{}}\n"
SQUEEZE = (
    f"{ENSURANCE}\nkind: AvoidanceAction\nmetadata: {{name: squeeze}}\nspec: {{throttle: {{cpuThrottle: {{}}}}}}\n"
)


def policy(value: object, *, metric: str = "cpu_total_usage", action: str = "close", pool: str = "") -> str:
    selector = f"selector: {{matchLabels: {{pool: {pool}}}}}, " if pool else ""
    rule = f"{{name: r, actionName: {action}, metricRule: {{name: {metric}, value: {value}}}}}"
    return f"{ENSURANCE}\nkind: NodeQOS\nmetadata: {{name: w}}\nspec: {{{selector}rules: [{rule}]}}\n"


def node(cpu: int, pool: str) -> str:
    about = f"metadata: {{name: {pool}, labels: {{pool: {pool}}}}}\nstatus: {{capacity: {{cpu: {cpu}}}}}\n"
    return f"apiVersion: v1\nkind: Node\n{about}"


def found(*documents: str) -> list[Problem]:
    return list(refused_rules(load("---\n".join(documents), "a.yaml").items, BUILTIN, MACHINE))


@pytest.mark.parametrize(
    ("metric", "value", "refused"),
    [
        ("cpu_total_usage", 19, True),
        ("cpu_total_usage", 20, False),
        ("memory_total_usage", "1Mi", True),
        ("memory_total_usage", "1Gi", False),
        ("cpu_total_utilization", "0.8", True),
        ("cpu_total_utilization", 80, False),
        ("a_metric_nobody_knows", 1, False),  # an error of its own, found elsewhere
    ],
)
def test_a_waterline_under_one_percent_of_the_machine_is_an_error(metric: str, value: object, refused: bool) -> None:
    problems = found(CLOSE, policy(value, metric=metric))
    assert [(one.severity, one.field) for one in problems] == [
        (Severity.ERROR, "spec.rules[0].metricRule.value")
    ] * refused


def test_the_error_says_what_stands_there_what_the_node_has_and_what_to_write() -> None:
    (problem,) = found(CLOSE, policy("1Mi", metric="memory_total_usage"))
    assert str(problem) == (
        "a.yaml:9: spec.rules[0].metricRule.value: is under 1 % of the node's 8Gi: memory_total_usage counts in bytes "
        "(found 1Mi); write at least 82Mi: twenty gibibytes are 20Gi"
    )


def test_an_action_that_cannot_move_the_metric_is_an_error_of_the_rule() -> None:
    (problem,) = found(SQUEEZE, policy("4Gi", metric="memory_total_usage", action="squeeze"))
    assert (problem.field, problem.value) == ("spec.rules[0].actionName", "squeeze")
    assert problem.message.startswith("memory_total_usage cannot be throttled: ")


def test_the_nodes_that_are_given_count_and_of_them_the_largest_that_the_policy_is_for() -> None:
    nodes = node(4, "small"), node(64, "large")
    assert len(found(CLOSE, policy(500), *nodes)) == 1
    assert found(CLOSE, policy(500, pool="small"), *nodes) == []
    assert found(CLOSE, policy(30), node(4, "small")) != []


def test_a_policy_for_none_of_the_nodes_is_not_tried_on_any() -> None:
    assert found(CLOSE, policy(1, pool="elsewhere"), node(4, "small")) == []


def test_this_machine_has_cores_and_memory() -> None:
    assert this_machine().cpu >= 1000
    assert this_machine().memory > 1 << 20
