"""Elastic CPU: rules on what runs on gocrane.io/cpu concern those pods and nobody else."""

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

from slackwater.api.units import Millicores
from slackwater.decide.plan import ActionKind
from slackwater.judge.rules import rules_in_force
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.cpu import CPU_TOTAL_USAGE, EXT_CPU_TOTAL_USAGE

USAGE, DISTRIBUTE = "ext_cpu_total_usage", "ext_cpu_total_distribute"
EVICT = ActionKind.EVICT


def sharing(metric: str = USAGE, waterline: float = 2000, action: str = "squeeze") -> Story:
    """One pod on elastic CPU, and one that is first in every order and has nothing to do with it."""
    pods = (batch("plain", priority=-20), batch("elastic", elastic=4000))
    return Story(pods, policies=(policy(rule(waterline, action, metric=metric)),))


def test_only_pods_on_elastic_cpu_are_squeezed_for_it() -> None:
    plan = sharing().tick(7000, {"plain": 3000, "elastic": 3000})
    assert squeezed(plan) == {"elastic": 1900}
    assert said_of("plain", decisions(plan)) == "it does not count in ext_cpu_total_usage"


def test_what_others_use_is_not_in_its_value() -> None:
    (decision,) = decisions(sharing().tick(7000, {"plain": 3000, "elastic": 3000}))
    assert [decision.value, decision.gap] == pytest.approx([3000, 1100])


def test_of_what_the_nodes_rule_takes_only_that_from_elastic_pods_counts() -> None:
    story = sharing()
    story.policies = (policy(rule(2000, metric=USAGE), rule(6000, name="cpu")),)
    plan = story.tick(7000, {"plain": 3000, "elastic": 3000})
    first, second = decisions(plan)
    assert {one.pod: one.expected for one in first.operations if one.knob == "quota"} == {"default/plain": 1100}
    assert {one.pod: one.expected for one in second.operations if one.knob == "quota"} == {"default/elastic": 1100}


def test_of_what_the_nodes_rule_evicts_only_elastic_pods_count() -> None:
    story = sharing(action="evict")
    story.policies = (policy(rule(2000, "evict", metric=USAGE), rule(6000, "evict", name="cpu")),)
    assert gone(story.tick(7000, {"plain": 3000, "elastic": 3000})) == ["plain", "elastic"]


def test_another_pods_way_out_is_not_in_flight_for_it() -> None:
    story = sharing(action="evict")
    story.accepted("plain")
    assert gone(story.tick(7000, {"plain": 3000, "elastic": 3000})) == ["elastic"]


def test_its_own_pods_way_out_is() -> None:
    story = sharing(action="evict")
    story.pods = (*story.pods, batch("other", elastic=1000))
    story.accepted("elastic")
    assert gone(story.tick(7000, {"elastic": 3000, "other": 1000})) == []


def test_of_cpu_taken_only_what_elastic_pods_gave_is_in_flight() -> None:
    story = sharing()
    story.tick()
    flights = story.situation().in_metrics({"plain": Millicores(1000), "elastic": Millicores(500)})
    assert [float(flights[name]) for name in ("cpu_total_usage", USAGE)] == [1500, 500]


def test_a_blind_eviction_reaches_nobody_else() -> None:
    story = with_settings(sharing(action="evict"), evict_on_missing_usage=True)
    story.tick(7000, {"plain": 3000, "elastic": 3000})
    story.memory = replace(story.memory, evicting=(), evicted_at=())
    story.usage["elastic"] = None
    plans = [story.tick() for _ in range(5)]
    assert [name for plan in plans for name in gone(plan)] == ["elastic"]


def value_of(story: Story, metric: str = USAGE) -> float | None:
    """As of this tick; what an earlier one could read does not count."""
    reading = story.readings.read(metric)
    return None if reading is None or reading.at != story.now else float(reading.elements[0].value)


def test_a_pod_that_cannot_be_read_makes_it_missing_and_not_smaller() -> None:
    story = sharing()
    story.tick(7000, {"elastic": 1500})
    assert value_of(story) == 1500
    story.tick(usage={"elastic": None})
    assert value_of(story) is None


def test_a_pod_that_has_just_come_does_not_make_it_missing() -> None:
    story = sharing()
    story.tick(7000, {"elastic": 1500})
    story.pods = (*story.pods, batch("other", elastic=1000))
    story.tick(usage={"other": 1000})
    assert value_of(story) == 1500
    story.tick()
    assert value_of(story) == 2500


def offered(requested: int, offer: int | None) -> float | None:
    story = sharing(DISTRIBUTE, 50, "evict")
    story.pods = (batch("plain"), batch("elastic", elastic=requested))
    story.elastic = offer
    story.tick()
    return value_of(story, DISTRIBUTE)


def test_distribution_is_what_is_requested_of_what_the_node_offers() -> None:
    assert offered(3000, 4000) == 75


@pytest.mark.parametrize("offer", [None, 0])
def test_where_the_node_offers_none_there_is_no_distribution(offer: int | None) -> None:
    assert offered(3000, offer) is None


def test_a_pod_counts_in_what_is_requested_from_before_it_runs_until_it_has_ended() -> None:
    story = sharing(DISTRIBUTE, 50, "evict")
    phases = ("Pending", "Running", "Succeeded", "Failed")
    story.pods = tuple(batch(f"pod-{phase.lower()}", elastic=1000, phase=phase) for phase in phases)
    story.elastic = 4000
    story.tick()
    assert value_of(story, DISTRIBUTE) == 50


def test_distribution_is_brought_down_by_evicting_whoever_requests_most_until_the_gap_is_closed() -> None:
    story = sharing(DISTRIBUTE, 50, "evict")
    story.elastic = 4000
    story.pods = (batch("small", elastic=500), batch("large", elastic=2000), batch("plain"))
    plan = story.tick(usage={"plain": 4000})
    assert gone(plan) == ["large"]
    assert [gap(plan, EVICT), released(plan, EVICT)] == pytest.approx([13.75, 50])


def test_throttling_does_not_change_what_is_requested() -> None:
    story = sharing(DISTRIBUTE, 50)
    (one,) = rules_in_force(story.view, BUILTIN, story.capacity)
    assert one.error == f"{DISTRIBUTE} cannot be throttled: a quota does not change what is requested"


def test_what_was_taken_for_it_comes_back_within_its_room() -> None:
    story = sharing()
    story.actions = (squeezing(), evicting())
    story.pods = (batch("elastic", elastic=4000),)
    assert squeezed(story.tick(7000, {"elastic": 4000})) == {"elastic": 1800}
    story.ticks(6, 4000, {"elastic": 1800}, hungry=["elastic"])
    assert squeezed(story.plan) == {"elastic": 1900}
    assert squeezed(story.tick(4000, {"elastic": 1900})) == {"elastic": 1900}


def test_the_metrics_of_a_kind_rank_node_first() -> None:
    assert CPU_TOTAL_USAGE.priority > EXT_CPU_TOTAL_USAGE.priority
