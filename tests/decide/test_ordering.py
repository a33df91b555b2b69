"""Who is acted on first."""

from itertools import permutations

import pytest
from msgspec.structs import replace
from stories import Story, annotated, batch, decisions, policy, rule, squeezed

from slackwater.api.objects import Pod, QosClass, Resources
from slackwater.api.units import Bytes, Millicores
from slackwater.decide import order


def names(pods: tuple[Pod, ...], usage: dict[str, int]) -> list[str]:
    """In the order in which they are acted on; the same whatever the order they came in."""
    used = {name: Millicores(millicores) for name, millicores in usage.items()}
    orders = {
        tuple(pod.name for pod in order.ordered(some, order.by_cpu(lambda pod: used.get(pod.name))))
        for some in permutations(pods)
    }
    (only,) = orders
    return list(only)


def of_class(name: str, qos: QosClass) -> Pod:
    return batch(name, qos_class=qos)


TABLE = [
    # the level comes before the class,
    ((annotated(of_class("a", QosClass.GUARANTEED), level="-1"), of_class("b", QosClass.BEST_EFFORT)), {}, ["a", "b"]),
    # the class before the priority,
    ((batch("a", priority=-1, qos_class=QosClass.BEST_EFFORT), batch("b", priority=-99)), {}, ["a", "b"]),
    ((of_class("a", QosClass.BURSTABLE), of_class("b", QosClass.GUARANTEED)), {}, ["a", "b"]),
    # the priority before the usage,
    ((batch("a", priority=-2), batch("b", priority=-1)), {"a": 1, "b": 1000}, ["a", "b"]),
    # more usage first,
    ((batch("a"), batch("b")), {"a": 1, "b": 2}, ["b", "a"]),
    # then who uses elastic CPU,
    ((batch("a"), batch("b", elastic=1000)), {"a": 100, "b": 100}, ["b", "a"]),
    # then who uses the larger share of its elastic limit,
    ((batch("a", elastic=2000), batch("b", elastic=1000)), {"a": 500, "b": 500}, ["b", "a"]),
    # then who started last,
    ((batch("a", started=1), batch("b", started=2)), {}, ["b", "a"]),
    # and at last the name.
    ((batch("b"), batch("a")), {}, ["a", "b"]),
    ((batch("a", namespace="z"), batch("b", namespace="y")), {}, ["b", "a"]),
]


@pytest.mark.parametrize(("pods", "usage", "expected"), TABLE)
def test_each_tie_is_broken_by_the_next_comparison(
    pods: tuple[Pod, ...], usage: dict[str, int], expected: list[str]
) -> None:
    assert names(pods, usage) == expected


def test_elastic_memory_does_not_make_a_user_of_elastic_cpu() -> None:
    pod = batch("b")
    memory = replace(pod.containers[0], requests=Resources(elastic_memory=Bytes(1)))
    assert names((batch("a"), replace(pod, containers=(memory,))), {}) == ["a", "b"]


def test_pods_equal_in_level_class_and_priority_are_one_group() -> None:
    pods = [batch("a"), batch("b"), batch("c", priority=-5), annotated(batch("d", priority=-5), level="-1")]
    ranking = order.by_cpu(lambda _: None)
    groups = order.grouped(order.ordered(pods, ranking))
    assert [[pod.name for pod in group] for group in groups] == [["d"], ["a", "b"], ["c"]]


def test_a_percent_metric_compares_whole_millicores_too() -> None:
    rules = policy(rule(75, metric="cpu_total_utilization"))
    plan = Story((batch("a"), batch("b")), policies=(rules,)).tick(6100, {"a": 1000, "b": 1010})
    (decision,) = decisions(plan)
    assert [one.pod for one in decision.candidates] == ["default/b", "default/a"]


def test_the_last_step_of_a_group_comes_from_who_stands_first() -> None:
    plan = Story((batch("old", started=1), batch("young", started=2))).tick(6050, {"old": 1000, "young": 1000})
    assert squeezed(plan) == {"young": 945}
