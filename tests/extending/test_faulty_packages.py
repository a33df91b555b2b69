"""Whatever a package's function does, only the rules that name its metric notice; and they say what it was."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from plugs import EVICT, FILES, RULES, THROTTLE, Clock, Node, claiming, element, entry, files_of, metric, of_pod

from slackwater.agent.guarding import BUDGET, PATIENCE_PER_SECOND
from slackwater.api.objects import Pod
from slackwater.metrics.metric import Metric
from slackwater.metrics.scene import Scene

NAN, INFINITE = float("nan"), float("inf")
GREEDY = {"etl": 3500.0, "job": 3500.0}


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


def raises(error: BaseException) -> Callable[..., Any]:
    def function(*_: object) -> object:
        raise error

    return function


def answers(value: object) -> Callable[..., Any]:
    return lambda *_: value


FAULTS = [
    # which function, what it does, what is said of it
    ("of_node", raises(ZeroDivisionError("no files")), "of_node raised ZeroDivisionError: no files"),
    ("of_node", raises(SystemExit(1)), "of_node raised SystemExit: 1"),
    ("of_node", raises(RecursionError("deep")), "of_node raised RecursionError"),
    ("of_node", raises(Unspeakable()), "of_node raised"),
    ("of_node", answers(NAN), "of_node answered nan; a finite number is wanted"),
    ("of_node", answers(INFINITE), "of_node answered inf; a finite number is wanted"),
    ("of_node", answers("many"), "of_node answered 'many'; a finite number is wanted"),
    ("of_node", answers(True), "of_node answered True; a finite number is wanted"),
    ("vector", answers([element(1.0)]), "a tuple of Elements is wanted"),
    ("vector", answers((element(NAN),)), "vector answered nan"),
    ("vector", answers((element(1.0, pod=1),)), "labels that are texts"),
    ("concerns", answers("yes"), "concerns answered 'yes'; True or False is wanted"),
    ("of_pod", raises(KeyError("etl")), "of_pod raised KeyError"),
    ("of_pod", answers(NAN), "of_pod answered nan"),
    ("ranking", raises(ValueError("no order")), "ranking raised ValueError: no order"),
    ("ranking", answers(answers((NAN,))), "ranking answered nan"),
    ("ranking", answers(answers("first")), "a tuple of numbers as sort key is wanted"),
    ("ranking", answers(lambda pod: (1,) * len(pod.name)), None),
    ("throttle_step", raises(TypeError("no step")), "throttle_step raised TypeError: no step"),
    ("throttle_step", answers({"main": 100}), "a Step with quotas by container, or None is wanted"),
    ("throttle_step", answers(claiming(100.5, files_waiting=1.0)), "a quota in whole millicores"),
    ("throttle_step", answers(claiming(-1, files_waiting=1.0)), "a quota in whole millicores"),
    ("throttle_step", answers(claiming(100, files_waiting=NAN)), "throttle_step answered nan"),
]


def altered(function: str, does: Callable[..., Any]) -> Metric:
    fields: dict[str, Any] = {function: does}
    return metric(**fields)


@pytest.mark.parametrize(("function", "does", "said"), FAULTS)
def test_a_faulty_function_makes_its_metric_missing_and_the_other_rules_act_as_ever(
    function: str, does: Callable[..., Any], said: str | None
) -> None:
    node = Node(altered(function, does), pods=GREEDY, value=10).files(etl=500, job=500).ticks(3)
    acted = [one.rule for one in node.simulation.decisions if one.operations]
    assert "cpu" in acted
    if said is not None:
        assert "files" not in acted
        assert said in node.faults()[FILES]


@pytest.mark.parametrize(
    "does", [raises(OSError("gone")), answers(NAN), answers({"files": NAN}), answers({FILES: NAN}), answers(7)]
)
def test_nobody_is_evicted_by_a_release_that_cannot_be_used(does: Callable[..., Any]) -> None:
    node = Node(metric(evict_release=does), pods={"etl": 100, "job": 100}, action=EVICT).files(etl=500).ticks(3)
    assert node.evicted() == []


def test_sort_keys_of_different_lengths_are_no_order() -> None:
    node = Node(metric(ranking=lambda _: lambda pod: (1,) * len(pod.name)), pods={"a": 1000, "long": 1000})
    node.files(a=500, long=500).ticks(3)
    assert node.quotas() == {}
    assert "sort keys of one length" in node.faults()[FILES]


def test_a_metric_that_is_missing_holds_what_stands_and_takes_no_more() -> None:
    works = True

    def sometimes(scene: Scene) -> float:
        if works:
            return sum(files_of(scene, pod) for pod in scene.running)
        raise ConnectionError("no queue")

    node = Node(metric(of_node=sometimes), pods={"etl": 1000}).files(etl=120).ticks(2)
    held = node.quotas()
    works = False
    assert held
    node.ticks(3)
    assert node.quotas().keys() == held.keys()
    works = True
    node.files(etl=0).ticks(30)
    assert node.quotas() == {}
    assert node.faults() == {}


def test_a_fault_is_told_once_as_an_event_and_stands_in_the_status() -> None:
    node = Node(metric(of_node=raises(ValueError("broken pipe"))), pods={"etl": 1000}).files(etl=120).ticks(20)
    told = [message for message in node.events() if "broken pipe" in message]
    assert len(told) == 1
    assert "policy waterline/files: files_waiting counts as missing: package files 1.0: of_node" in told[0]
    rules = {one["rule"]: one for one in status(node)["rules"]}
    assert "broken pipe" in rules["files"]["error"]
    assert rules["cpu"]["error"] == ""


def test_a_fault_whose_words_change_is_still_told_once() -> None:
    seen: list[int] = []

    def counts(_: Scene) -> float:
        seen.append(1)
        raise ValueError(f"failure number {len(seen)}")

    node = Node(metric(of_node=counts), pods={"etl": 1000}).files(etl=120).ticks(20)
    assert len([message for message in node.events() if "failure number" in message]) == 1


def test_after_a_fault_nothing_of_the_metric_is_asked_before_the_next_tick() -> None:
    asked: list[str] = []

    def remembers(_: Scene, pod: Pod) -> float:
        asked.append(pod.name)
        raise ValueError("no")

    Node(metric(of_pod=remembers), pods={str(number): 100.0 for number in range(20)}).files(**{"1": 500}).ticks(1)
    assert len(asked) == 1


def test_one_that_is_slow_is_left_alone_for_a_hundred_times_as_long() -> None:
    clock, asked = Clock(), []

    def slow(scene: Scene) -> float:
        asked.append(clock.now)
        clock.now += 2 * BUDGET
        return sum(files_of(scene, pod) for pod in scene.running)

    node = Node(metric(of_node=slow), pods={"etl": 1000}, clock=clock).files(etl=500).ticks(5)
    assert len(asked) == 1
    assert "of_node was slow: 1.0 s in one tick" in node.faults()[FILES]
    assert node.quotas() == {}
    clock.now += 2 * BUDGET * PATIENCE_PER_SECOND
    node.ticks(1)
    assert len(asked) == 2


def test_many_quick_answers_that_are_slow_together_count_as_slow() -> None:
    clock = Clock()

    def drags(scene: Scene, pod: Pod) -> float:
        clock.now += BUDGET / 4
        return files_of(scene, pod)

    pods = {str(number): 100.0 for number in range(20)}
    node = Node(metric(of_pod=drags), pods=pods, clock=clock).files(**{"1": 500}).ticks(1)
    assert "of_pod was slow" in node.faults()[FILES]
    assert clock.now <= 2 * BUDGET


def test_a_fault_that_nobody_has_seen_for_long_is_forgotten() -> None:
    clock = Clock()
    node = Node(metric(of_pod=raises(KeyError("etl"))), pods={"etl": 1000}, clock=clock).files(etl=500).ticks(2)
    assert node.faults()
    node.files(etl=1).ticks(2)
    clock.now += 301
    node.ticks(1)
    assert node.faults() == {}


def test_what_a_package_says_of_another_ones_metric_counts_for_nothing() -> None:
    claims_all = claiming(3000, cpu_total_usage=1e9, files_waiting=1e9)
    node = Node(metric(priority=10, throttle_step=answers(claims_all)), pods=GREEDY).files(etl=500).ticks(2)
    assert "cpu" in [one.rule for one in node.simulation.decisions if one.operations]


def test_nor_of_a_metric_of_another_package() -> None:
    liar = metric("lies", priority=10, throttle_step=answers(claiming(900, lies=1.0, files_waiting=1e9)))
    node = Node(metric(), pods={"etl": 1000}, beside=[entry(liar, package="liar")])
    node.simulation.apply(RULES.format(metric="lies", value=1, action=THROTTLE).replace("waterline", "other"))
    node.files(etl=500).ticks(2)
    assert node.quotas()["etl"] < 150  # 440 of its 500 files must go


def test_a_well_behaved_metric_has_no_faults() -> None:
    node = Node(metric(of_pod=of_pod), pods=GREEDY).files(etl=500, job=500).ticks(5)
    assert node.faults() == {}
    assert node.events() == []


def status(node: Node) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(node.simulation.cluster.status)["status"]
    return said
