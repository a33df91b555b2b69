"""A package's metric takes part: it sorts, says what a step claims and releases, and the house walks, bounds, cuts and gives back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from plugs import BOTH, EVICT, FILES, RULES, STEPWISE, THROTTLE, Node, batch, files_of, metric

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Bytes, Instant, Millicores, Seconds
from slackwater.decide.ladder import Ladder, Rung
from slackwater.decide.plan import ActionKind
from slackwater.decide.stepping import walk
from slackwater.metrics.collector import Collector
from slackwater.metrics.metric import PRECISE, Ranking
from slackwater.metrics.scene import Scene
from slackwater.metrics.steps import Standing, Step
from slackwater.sim.demand import constant
from slackwater.snapshot.usage import Capacity, Frames

NOTHING_SEEN = Scene(frames=Frames(), capacity=Capacity(Millicores(8000), Bytes(1 << 30)))


def test_as_much_is_taken_as_closes_the_gap_in_the_metric_itself() -> None:
    node = Node(metric(), pods={"etl": 1000}, value=100).files(etl=120).ticks(2)
    # 20 files and a tenth over: 22 of 120, so 22/120 of its CPU.
    assert node.quotas() == {"etl": 1000 - 1000 * 22 // 120}


def test_the_decision_says_what_each_step_is_expected_to_release() -> None:
    node = Node(metric(), pods={"etl": 1000}, value=100).files(etl=120).ticks(2)
    decision = next(one for one in node.simulation.decisions if one.rule == "files" and one.operations)
    assert (decision.metric, decision.unit) == (FILES, "files")
    assert decision.gap == pytest.approx(22)
    assert decision.stopped == "gap closed"
    assert [operation.expected for operation in decision.operations if operation.knob == "quota"] == [
        pytest.approx(22, abs=0.2)
    ]


def test_at_the_next_sample_it_says_what_was_really_released() -> None:
    node = Node(metric(), pods={"etl": 1000}, value=100).files(etl=120).ticks(2)
    node.files(etl=95).ticks(1)
    decision = next(one for one in node.simulation.decisions if one.rule == "files" and one.operations)
    assert [one.actual for one in decision.operations if one.knob == "quota"] == [pytest.approx(25)]
    assert decision.outcome.recovered is True


def test_its_own_sort_says_who_is_first() -> None:
    def fewest_first(scene: Scene) -> Ranking:
        return lambda pod: (files_of(scene, pod),)

    both = {"few": 1000.0, "many": 1000.0}
    plain = Node(metric(evict=PRECISE), pods=both, action=EVICT).files(few=40, many=80).ticks(3)
    sorted_ = Node(metric(evict=PRECISE, ranking=fewest_first), pods=both, action=EVICT).files(few=40, many=80).ticks(3)
    assert plain.evicted() == ["many"]
    assert sorted_.evicted() == ["few"]


def test_a_group_gives_evenly_before_the_next_one_gives_anything() -> None:
    node = Node(metric(), value=100)
    for name, priority in (("first", -20), ("second", -20), ("spared", -10)):
        node.simulation.add(batch(name, priority=priority), constant(Millicores(1000)))
    node.files(first=60, second=60, spared=60).ticks(2)
    quotas = node.quotas()
    assert quotas.keys() == {"first", "second"}
    assert abs(quotas["first"] - quotas["second"]) <= 100


def test_nobody_is_squeezed_below_the_floor_whatever_a_step_says() -> None:
    def all_of_it(scene: Scene, pod: Pod, _: object) -> Step:
        return Step(quotas={"main": Millicores(0)}, amounts={FILES: Amount(files_of(scene, pod))})

    node = Node(metric(throttle_step=all_of_it), pods={"etl": 1000}, value=10).files(etl=1000).ticks(3)
    assert node.quotas() == {"etl": 100}


def test_a_step_that_would_raise_a_quota_is_none() -> None:
    def upwards(*_: object) -> Step:
        return Step(quotas={"main": Millicores(5000)}, amounts={FILES: Amount(100)})

    assert Node(metric(throttle_step=upwards), pods={"etl": 1000}).files(etl=1000).ticks(3).quotas() == {}


def test_a_step_that_releases_nothing_squeezes_nobody() -> None:
    def for_nothing(*_: object) -> Step:
        return Step(quotas={"main": Millicores(100)})

    assert Node(metric(throttle_step=for_nothing), pods={"etl": 1000}).files(etl=1000).ticks(3).quotas() == {}


def test_who_may_not_be_touched_is_not_whatever_the_package_wants() -> None:
    node = Node(metric(), value=10)
    node.simulation.add(replace(batch("web"), priority=100), constant(Millicores(1000)))
    node.files(web=1000).ticks(3)
    assert node.quotas() == {}


def test_where_the_release_cannot_be_counted_all_its_candidates_take_one_step_a_tick() -> None:
    one = metric(throttle=STEPWISE)
    node = Node(one, pods={"etl": 1000, "job": 1000}).files(etl=1000).ticks(2)
    assert node.quotas() == {"etl": 900, "job": 900}
    assert set(node.ticks(1).quotas().values()) == {800}


def test_that_step_is_its_own_and_all_its_candidates_take_it() -> None:
    def halves(_: Scene, __: Pod, standings: tuple[Standing, ...]) -> Step:
        return Step(quotas={one.container: Millicores(one.level // 2) for one in standings})

    node = Node(metric(throttle=STEPWISE, throttle_step=halves))
    for name, priority in (("low", -20), ("lower", -30)):
        node.simulation.add(batch(name, priority=priority), constant(Millicores(1000)))
    assert node.files(low=1000).ticks(2).quotas() == {"low": 500, "lower": 500}


@pytest.mark.parametrize("action", [THROTTLE, EVICT])
def test_a_sort_that_cannot_tell_the_order_takes_from_nobody(action: str) -> None:
    node = Node(metric(ranking=lambda _: None), pods={"etl": 1000, "job": 1000}, action=action)
    node.files(etl=1000).ticks(3)
    assert (node.quotas(), node.evicted()) == ({}, [])
    decision = next(one for one in node.simulation.decisions if one.rule == "files" and one.candidates)
    assert {one.why for one in decision.candidates} == {"the metric's own sort cannot tell the order now"}
    assert node.faults() == {}


def test_where_an_eviction_cannot_be_counted_the_next_one_goes_one_a_tick() -> None:
    node = Node(metric(evict=STEPWISE), pods={"a": 100, "b": 100, "c": 100}, action=EVICT)
    node.files(a=10, b=500, c=200).ticks(1)
    assert node.evicted() == ["b"]
    assert node.ticks(1).evicted() == ["b", "c"]


def test_an_eviction_releases_what_its_own_function_says() -> None:
    def by_name(_: Scene, pod: Pod) -> dict[str, Amount]:
        return {FILES: Amount({"a": 5.0, "b": 60.0, "c": 60.0}[pod.name])}

    node = Node(metric(evict_release=by_name), pods={"a": 100, "b": 100, "c": 100}, action=EVICT, value=100)
    # To release are 55. By what waits a is first and gives 5; b closes the gap; c stays.
    node.files(a=90, b=30, c=30).ticks(1)
    assert node.evicted() == ["a", "b"]


def test_what_it_takes_of_cpu_counts_for_the_rules_on_cpu() -> None:
    node = Node(metric(priority=10), pods={"etl": 3500, "job": 3500}, value=100).files(etl=150, job=150).ticks(3)
    kinds = {one.rule: one for one in node.simulation.decisions if one.action is ActionKind.THROTTLE}
    assert "files" in kinds
    # The node was 1000 over its CPU waterline; what was taken for the files has closed that already.
    assert "cpu" not in kinds or not kinds["cpu"].operations


def test_what_was_taken_comes_back_when_its_cause_is_gone() -> None:
    node = Node(metric(), pods={"etl": 1000}).files(etl=150).ticks(3)
    assert node.quotas()
    node.files(etl=10).ticks(20)
    assert node.quotas() == {}
    assert node.simulation.node.differing() == []


def test_it_comes_back_where_the_package_has_no_way_of_giving_back() -> None:
    node = Node(metric(restore_step=None), pods={"etl": 1000}).files(etl=150).ticks(3)
    node.files(etl=10).ticks(25)
    assert node.quotas() == {}


@pytest.mark.parametrize(
    "says",
    [
        None,
        Step(quotas={}),
        Step(quotas={"main": Millicores(0)}),
        Step(quotas={"main": Millicores(1 << 40)}, amounts={FILES: Amount(1e12)}),
    ],
    ids=["nothing to say", "no container", "downwards", "far too much"],
)
def test_it_comes_back_whatever_the_package_says_of_giving_back(says: Any) -> None:
    node = Node(metric(restore_step=lambda *_: says), pods={"etl": 1000}).files(etl=150).ticks(3)
    node.files(etl=10).ticks(200)
    assert node.quotas() == {}


def test_nothing_comes_back_beyond_the_room_below_its_waterline() -> None:
    node = Node(metric(), pods={"etl": 1000}).files(etl=150).ticks(3)
    held = node.quotas()["etl"]
    # Under the waterline of 100, and not under what the margin leaves of it.
    node.files(etl=97).ticks(20)
    assert node.quotas() == {"etl": held}


def test_a_rule_that_is_deleted_lets_go_at_once() -> None:
    node = Node(metric(), pods={"etl": 1000}).files(etl=150).ticks(3)
    node.simulation.delete("waterline")
    assert node.ticks(1).quotas() == {}


def rung(name: str, usage: int, floor: int) -> Rung:
    return Rung(
        container=name,
        usage=Millicores(usage),
        start=Millicores(usage),
        floor=Millicores(min(floor, usage - 1)),
        step=Millicores(max(1, usage // 10)),
        reference=Millicores(usage),
        quota=None,
    )


pods_of_a_group = st.lists(
    st.lists(st.tuples(st.integers(20, 4000), st.integers(10, 500)), min_size=1, max_size=3), min_size=1, max_size=5
)


@given(groups=st.lists(pods_of_a_group, min_size=1, max_size=3), gap=st.floats(0.1, 10_000))
def test_steps_never_release_more_than_the_gap_nor_go_below_a_floor(
    groups: list[list[list[tuple[int, int]]]], gap: float
) -> None:
    def halves(_: Scene, __: Pod, standings: tuple[Standing, ...]) -> Step:
        quotas = {one.container: Millicores(one.level // 2) for one in standings}
        released = sum(one.level - quotas[one.container] for one in standings)
        return Step(quotas=quotas, amounts={FILES: Amount(released / 10)})

    ladders = [
        [
            Ladder(batch(f"{number}-{place}"), tuple(rung(str(i), *one) for i, one in enumerate(pod)))
            for place, pod in enumerate(group)
        ]
        for number, group in enumerate(groups)
    ]
    squeezes, left = walk(NOTHING_SEEN, metric(throttle_step=halves), iter(ladders), Amount(gap))
    released = sum(one.amounts[FILES] for one in squeezes)
    assert released <= gap * (1 + 1e-9)
    assert left == pytest.approx(gap - released, abs=1e-6)
    assert all(one.floor <= level < one.start for squeezed in squeezes for one, level in squeezed.quotas)


def test_the_same_situation_gives_the_same_plan() -> None:
    def told() -> list[Any]:
        node = Node(metric(), pods={"etl": 1000, "job": 2000}).files(etl=120, job=40).ticks(4)
        return list(node.simulation.decisions)

    assert told() == told()


def test_a_metric_that_only_can_be_read_acts_through_cpu() -> None:
    one = metric(
        acts_through="cpu_total_usage",
        throttle=STEPWISE,
        evict=STEPWISE,
        throttle_step=None,
        restore_step=None,
        of_pod=None,
    )
    assert Node(one, pods={"etl": 1000}).files(etl=1000).ticks(2).quotas() == {"etl": 900}


def well_then(node: Node, **files: float) -> Node:
    """A tick of quiet first, so that usages are known when it becomes bad."""
    return node.files(etl=1).ticks(2).files(**files).ticks(1)


def test_what_it_released_is_in_flight_until_a_sample_shows_it() -> None:
    node = well_then(Node(metric(), pods={"etl": 1000}), etl=120)
    held = node.simulation.held
    assert held is not None
    assert sum(one.amounts.get(FILES, 0.0) for one in held.memory.flights) == pytest.approx(22, abs=0.2)


def test_of_two_waterlines_the_higher_one_is_closed_first_and_nothing_is_released_twice() -> None:
    node = Node(metric(), pods={"etl": 1000}, value=100)
    node.simulation.apply(RULES.format(metric=FILES, value=110, action=THROTTLE).replace("waterline", "higher"))
    # 11 for the higher one, 11 more for the lower one: 17 % of its CPU, and not 26.
    assert well_then(node, etl=120).quotas()["etl"] == pytest.approx(826, abs=3)


def test_what_throttling_closes_evicts_nobody() -> None:
    node = well_then(Node(metric(), pods={"etl": 1000}, action=BOTH), etl=120)
    assert node.quotas()
    assert node.evicted() == []


def test_evicting_a_pod_releases_only_what_throttling_left_it() -> None:
    node = Node(metric(), pods={"etl": 1000, "job": 1000}, action=BOTH, value=50)
    # 1045 of 1000 are to go; squeezing to the floors takes 900, so each has 50 left: one would not be enough.
    assert sorted(well_then(node, etl=500, job=500).evicted()) == ["etl", "job"]


def test_where_nothing_is_known_of_pods_the_next_one_goes_by_class_priority_and_age() -> None:
    node = Node(metric(of_pod=None, evict=STEPWISE), action=EVICT)
    for name, priority in (("low", -20), ("lower", -30)):
        node.simulation.add(batch(name, priority=priority), constant(Millicores(100)))
    assert node.files(low=500).ticks(1).evicted() == ["lower"]


def test_what_was_taken_comes_back_also_where_a_collector_looks_more_seldom_than_the_agent() -> None:
    seldom = Collector(name=FILES, collect=lambda: None, every=Seconds(60))
    node = Node(metric(collector=seldom), pods={"etl": 1000})
    rules = RULES.format(metric=FILES, value=100, action=THROTTLE)
    node.simulation.apply(rules.replace("coolDownSeconds: 30", "coolDownSeconds: 300"))
    instant = node.simulation.clock.instant
    node.brought.now = lambda: Instant(instant() // 60 * 60)
    node.files(etl=150).ticks(10)
    assert node.quotas()
    node.files(etl=10).ticks(120)
    assert node.quotas() == {}
