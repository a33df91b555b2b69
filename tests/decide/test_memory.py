"""Memory: what is in use only eviction frees, in order, until the gap is closed."""

import pytest
from msgspec.structs import replace
from stories import (
    Story,
    batch,
    decisions,
    evicting,
    gap,
    gone,
    policy,
    released,
    rule,
    said_of,
    squeezed,
    squeezing,
    with_settings,
)

from slackwater.api.objects import AvoidanceAction, Eviction, MemoryThrottle
from slackwater.api.units import Amount
from slackwater.decide.plan import ActionKind
from slackwater.judge.rules import rules_in_force
from slackwater.metrics.builtin import BUILTIN

GIB = 1 << 30
EVICT = ActionKind.EVICT


def held(**gib: float) -> dict[str, int | None]:
    return {name: round(amount * GIB) for name, amount in gib.items()}


def on_memory(*gib: float, metric: str = "memory_total_usage", waterline: float = 10 * GIB) -> Story:
    """A node of 16 GiB whose pods, equal in everything else, hold so much."""
    names = [f"pod-{index}" for index in range(len(gib))]
    made = Story(tuple(batch(name) for name in names), policies=(policy(rule(waterline, "evict", metric=metric)),))
    made.holds = {name: round(amount * GIB) for name, amount in zip(names, gib, strict=True)}
    return made


def full(story: Story, gib: float) -> list[str]:
    """Who goes once the node holds so much."""
    story.node_holds = round(gib * GIB)
    return gone(story.tick())


def test_pods_go_in_order_until_the_gap_is_closed_and_nobody_after_that() -> None:
    story = on_memory(1, 2, 3)
    assert full(story, 12) == ["pod-2"]
    assert full(on_memory(1, 2, 3), 14) == ["pod-2", "pod-1"]


def test_who_holds_more_memory_goes_first_whatever_cpu_it_uses() -> None:
    story = on_memory(1, 3, 2)
    story.usage = {"pod-0": 4000}
    assert full(story, 11) == ["pod-1"]


def test_class_and_priority_come_before_the_memory_in_use() -> None:
    story = on_memory(4, 1)
    story.pods = (story.pods[0], replace(story.pods[1], priority=-20))
    assert full(story, 10.5) == ["pod-1"]


def test_the_working_sets_of_all_containers_count() -> None:
    story = on_memory(2, 0)
    story.pods = (story.pods[0], batch("pod-1", containers=("main", "side")))
    story.holds.update(held(**{"pod-1/main": 1.5, "pod-1/side": 1}))
    assert full(story, 11) == ["pod-1"]
    assert released(story.plan, EVICT) == 2.5 * GIB


def test_half_a_pods_memory_is_no_pods_memory() -> None:
    story = on_memory(1, 0)
    story.pods = (story.pods[0], batch("pod-1", containers=("main", "side")))
    story.holds.update({"pod-1/main": 4 * GIB, "pod-1/side": None})
    assert full(story, 12) == ["pod-0"]
    assert said_of("pod-1", decisions(story.plan, EVICT)) == "its usage is missing"


def test_gap_and_releases_are_in_bytes() -> None:
    story = on_memory(3)
    full(story, 12)
    (decision,) = decisions(story.plan, EVICT)
    assert (decision.unit, decision.value, decision.waterline) == ("bytes", 12 * GIB, 10 * GIB)
    assert gap(story.plan, EVICT) == pytest.approx(2.2 * GIB)
    assert released(story.plan, EVICT) == 3 * GIB


def test_what_came_free_is_measured_in_bytes_when_the_pod_is_gone() -> None:
    story = on_memory(3)
    full(story, 12)
    story.accepted("pod-0", until=15)
    story.tick()
    story.pods, story.node_holds = (), 9 * GIB
    story.tick()
    assert [one.actual for one in story.plan.measurements if one.actual] == [(Amount(3 * GIB),)]


def test_a_percent_of_memory_closes_the_same_gap_as_its_bytes() -> None:
    story = on_memory(3, 2, 1, metric="memory_total_utilization", waterline=50)
    assert full(story, 10) == ["pod-0"]
    assert gap(story.plan, EVICT) == pytest.approx(13.75)
    assert released(story.plan, EVICT) == pytest.approx(18.75)


def test_nobody_goes_for_what_rounding_leaves_of_a_gap() -> None:
    story = with_settings(
        on_memory(1.6, 1.6, 1.6, 1.6, metric="memory_total_utilization", waterline=70 - 3 * 10.0), excess=0.0
    )
    assert len(full(story, 0.7 * 16)) == 3


def test_a_pod_on_its_way_out_has_released_what_it_holds() -> None:
    story = on_memory(3, 2)
    full(story, 12)
    story.accepted("pod-0")
    assert gone(story.tick()) == []


def test_a_refused_eviction_frees_nothing_and_the_next_pod_goes() -> None:
    story = on_memory(3, 2.5)
    full(story, 12)
    story.refused("pod-0")
    assert gone(story.tick()) == ["pod-1"]


@pytest.mark.parametrize("metric", ["memory_total_usage", "memory_total_utilization"])
def test_a_rule_on_memory_that_throttles_is_that_rules_error(metric: str) -> None:
    lines = {"memory_total_usage": 10 * GIB, "memory_total_utilization": 50}
    story = on_memory(3)
    story.policies = (policy(rule(lines[metric], metric=metric), rule(6000)),)
    (wrong, right) = rules_in_force(story.view, BUILTIN, story.capacity)
    assert (
        wrong.error == f"{metric} cannot be throttled: memory in use cannot be taken back by a limit, only by eviction"
    )
    assert not right.error


@pytest.mark.parametrize("metric", ["memory_total_usage", "cpu_total_usage"])
def test_an_action_that_only_reclaims_memory_is_the_rules_error_where_nothing_can_be_reclaimed(metric: str) -> None:
    story = on_memory(3, metric=metric)
    story.actions = (AvoidanceAction(name="evict", memory_throttle=MemoryThrottle(force_gc=True)),)
    (one,) = rules_in_force(story.view, BUILTIN, story.capacity)
    assert "cannot be throttled by memoryThrottle" in one.error


def test_beside_an_eviction_reclaiming_is_no_error() -> None:
    story = on_memory(3)
    both = AvoidanceAction(name="evict", memory_throttle=MemoryThrottle(force_gc=True), eviction=Eviction())
    story.actions = (both,)
    assert full(story, 12) == ["pod-0"]


def test_a_waterline_under_one_percent_of_the_nodes_memory_names_the_unit() -> None:
    story = on_memory(3, waterline=10)
    (one,) = rules_in_force(story.view, BUILTIN, story.capacity)
    assert one.error.endswith("memory_total_usage counts in bytes")


def test_memory_comes_before_cpu_and_what_it_frees_of_cpu_is_not_freed_again() -> None:
    story = on_memory(3, 1)
    story.policies = (*story.policies, policy(rule(6000, "evict", name="cpu"), name="second"))
    story.usage = {"pod-0": 1000, "pod-1": 2000}
    story.node_usage = 6800
    assert full(story, 12) == ["pod-0"]
    memory, cpu = decisions(story.plan, EVICT)
    assert (memory.metric, cpu.metric, cpu.operations) == ("memory_total_usage", "cpu_total_usage", ())


def test_a_memory_rule_has_no_say_in_giving_cpu_back() -> None:
    story = on_memory(0.1)
    story.policies = (*story.policies, policy(rule(6000), name="second"))
    story.actions = (squeezing(), evicting())
    story.pods = (batch("pod-0", limit=2000),)
    assert squeezed(story.tick(9000, {"pod-0": 2000})) == {"pod-0": 200}
    story.settings = replace(story.settings, evictions_per_hour=1)
    story.accepted("somebody")
    story.node_holds = 12 * GIB
    assert squeezed(story.ticks(6, 1000, {"pod-0": 200})) == {"pod-0": 400}


def test_memory_that_cannot_be_read_evicts_nobody() -> None:
    story = on_memory(3)
    story.node_holds = None
    assert gone(story.ticks(5)) == []
