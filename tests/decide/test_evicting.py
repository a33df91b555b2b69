"""Who must go, and nobody after that."""

import pytest
from msgspec.structs import replace
from stories import (
    Story,
    allowing,
    batch,
    decisions,
    evicting,
    gap,
    gone,
    policy,
    released,
    rule,
    said_of,
    service,
    squeezed,
    squeezing,
    with_settings,
)

from slackwater.api.objects import AvoidanceAction, CpuThrottle, Eviction
from slackwater.decide.plan import ActionKind
from slackwater.metrics.samples import SampleReadings
from slackwater.snapshot.usage import Frames

EVICT = ActionKind.EVICT


def node(*usages: int, **settings: object) -> tuple[Story, dict[str, int]]:
    """One evicting rule at 6000, and pods a, b, c ... of these usages, each of a higher priority than the one before."""
    names = "abcdefghij"[: len(usages)]
    pods = tuple(batch(name, priority=-20 + n) for n, name in enumerate(names))
    story = Story(pods, policies=(policy(rule(action="evict")),))
    return with_settings(story, **settings), dict(zip(names, usages, strict=True))


def test_it_stops_after_the_pod_that_closes_the_gap() -> None:
    story, usage = node(500, 500, 500, 500)
    plan = story.tick(6800, usage)
    assert gone(plan) == ["a", "b"]
    assert gap(plan, EVICT) == pytest.approx(880)
    assert released(plan, EVICT) == 1000


def test_who_was_not_needed_is_told_so() -> None:
    story, usage = node(1000, 500)
    plan = story.tick(6800, usage)
    assert said_of("b", plan.decisions) == "not needed: gap closed"
    assert decisions(plan, EVICT)[0].stopped == "gap closed"


def test_pods_that_would_release_next_to_nothing_come_last() -> None:
    story, usage = node(10, 43, 45, 5000)
    plan = story.tick(6800, usage)
    assert gone(plan) == ["c", "d"]


def test_idle_pods_go_too_where_nothing_else_is_left() -> None:
    story, usage = node(10, 500)
    plan = story.tick(6800, usage)
    assert gone(plan) == ["b", "a"]
    assert [one.pod for one in decisions(plan, EVICT)[0].candidates] == ["default/b", "default/a"]
    assert decisions(plan, EVICT)[0].stopped == "nobody left who may be evicted"


def test_a_pod_whose_usage_is_missing_is_skipped() -> None:
    story, _ = node(0, 0)
    plan = story.tick(6800, {"a": None, "b": 500})
    assert gone(plan) == ["b"]
    assert said_of("a", plan.decisions) == "its usage is missing"


def test_what_was_accepted_counts_as_released_until_its_time_is_over() -> None:
    story, usage = node(1000, 2000)
    assert gone(story.tick(6800, usage)) == ["a"]
    story.accepted("a", until=35)
    assert gone(story.ticks(3, 6800)) == []
    assert gone(story.tick(6800)) == ["a"]


def test_a_refused_pod_backs_off_and_the_next_candidate_is_taken() -> None:
    story, usage = node(1000, 2000)
    assert gone(story.tick(6800, usage)) == ["a"]
    story.refused("a", until=25)
    plan = story.tick(6800)
    assert gone(plan) == ["b"]
    assert said_of("a", plan.decisions) == "its eviction was refused a short while ago"
    story.refused("b", until=100)
    assert gone(story.ticks(2, 6800)) == ["a"]


def test_a_backoff_is_remembered_for_an_hour_and_no_longer() -> None:
    story, usage = node(1000)
    story.refused("a", until=10)
    story.tick(5000, usage)
    assert [one.pod for one in story.memory.backoffs] == ["a"]
    story.tick(5000, seconds=3700)
    assert story.memory.backoffs == ()


def test_a_tick_evicts_no_more_than_its_brake_allows() -> None:
    story, usage = node(300, 300, 300, 300, evictions_per_tick=2)
    plan = story.tick(6800, usage)
    assert gone(plan) == ["a", "b"]
    assert decisions(plan, EVICT)[0].stopped == said_of("c", plan.decisions) == "braked: evictionsPerTick 2"


def test_an_hour_evicts_no_more_than_its_brake_allows() -> None:
    story, usage = node(300, 300, 300, 300, evictions_per_hour=3)
    story.accepted("gone before", "and before that")
    plan = story.tick(6800, usage)
    assert gone(plan) == ["a"]
    assert decisions(plan, EVICT)[0].stopped == "braked: evictionsPerHour 3"
    story.tick(6800, seconds=3700)
    assert gone(story.plan) == ["a", "b", "c"]


def test_a_waterline_lower_than_all_may_go_to_does_not_claim_that_its_gap_is_closed() -> None:
    rules = policy(rule(6500, "evict", name="high"), rule(6000, "hard", name="low"))
    actions = (evicting(), evicting("hard"))
    story = Story((batch("a"),), policies=(rules,), actions=actions, pod_qos=(allowing("evict"),))
    plan = story.tick(7000, {"a": 3000})
    assert gone(plan) == ["a"]
    story = Story(
        (batch("a"), batch("b", priority=-1)), policies=(rules,), actions=actions, pod_qos=(allowing("evict"),)
    )
    plan = story.tick(7000, {"a": 600, "b": 3000})
    assert gone(plan) == ["a"]
    assert decisions(plan, EVICT)[0].stopped == "nobody left who may be evicted"


def test_a_pod_taken_for_a_higher_waterline_is_told_as_taken() -> None:
    rules = policy(rule(6500, "evict", name="high"), rule(6000, "evict", name="low"), rule(6200, "hard", name="hard"))
    qos = (allowing("evict", "hard", labels={"all": "yes"}), allowing("hard", name="others"))
    pods = (batch("a", priority=-20, labels={"all": "yes"}), batch("b", labels={"all": "yes"}))
    plan = Story(pods, policies=(rules,), actions=(evicting(), evicting("hard")), pod_qos=qos).tick(
        7000, {"a": 600, "b": 900}
    )
    assert gone(plan) == ["a", "b"]
    assert said_of("a", plan.decisions) == "evicted"


def test_what_throttling_releases_need_not_be_evicted_for() -> None:
    rules = policy(rule(), rule(action="evict", name="evict"))
    plan = Story((batch("a"),), policies=(rules,)).tick(6800, {"a": 2000})
    assert squeezed(plan) == {"a": 1120}
    assert gone(plan) == []


def test_no_pod_goes_for_the_part_of_a_millicore_that_throttling_leaves() -> None:
    rules = policy(
        rule(75.001, metric="cpu_total_utilization"),
        rule(75.001, "evict", name="evict", metric="cpu_total_utilization"),
    )
    assert gone(Story((batch("a"),), policies=(rules,)).tick(6807, {"a": 2000})) == []


def test_no_second_pod_goes_for_a_rounding_error() -> None:
    story = Story(
        (batch("a", priority=-20), batch("b")), policies=(policy(rule(75, "evict", metric="cpu_total_utilization")),)
    )
    assert gone(story.tick(6800, {"a": 880, "b": 880})) == ["a"]


def test_an_action_that_does_both_throttles_first_and_evicts_for_the_rest() -> None:
    both = AvoidanceAction(name="both", cpu_throttle=CpuThrottle(min_ratio=50), eviction=Eviction())
    story = Story((batch("a", priority=-20), batch("b")), policies=(policy(rule(action="both")),), actions=(both,))
    plan = story.tick(7000, {"a": 1000, "b": 1000})
    # Squeezing to half gives 1000 of 1100; what is left of the first pod is more than the rest.
    assert squeezed(plan) == {"a": 500, "b": 500}
    assert gap(plan, EVICT) == pytest.approx(100)
    assert gone(plan) == ["a"]
    assert released(plan, EVICT) == 500


def test_what_one_metric_evicts_for_counts_for_the_next() -> None:
    rules = policy(
        rule(action="evict", name="usage"), rule(75, "evict", name="percent", metric="cpu_total_utilization")
    )
    plan = Story((batch("a", priority=-20), batch("b")), policies=(rules,)).tick(6800, {"a": 900, "b": 900})
    assert gone(plan) == ["a"]
    assert [decision.metric for decision in decisions(plan, EVICT)] == ["cpu_total_usage", "cpu_total_utilization"]


@pytest.mark.parametrize(
    ("graces", "expected"), [((None,), None), ((30.0,), 30), ((30.0, 10.0), 10), ((None, 30.0), 30)]
)
def test_the_shortest_grace_of_the_actions_holds_or_the_pods_own(
    graces: tuple[float | None, ...], expected: float | None
) -> None:
    actions = tuple(evicting(f"evict{n}", grace=grace) for n, grace in enumerate(graces))
    rules = policy(*(rule(action=one.name, name=one.name) for one in actions))
    plan = Story((batch("a"),), policies=(rules,), actions=actions).tick(7000, {"a": 3000})
    assert [order.grace for order in plan.evictions] == [expected]


def test_an_eviction_names_the_decision_it_belongs_to() -> None:
    story, usage = node(1000)
    plan = story.tick(6800, usage)
    (order,) = plan.evictions
    assert order.decision == decisions(plan, EVICT)[0].id
    assert order.why == "policy waterline, rule cpu"


def test_a_missing_metric_evicts_nobody() -> None:
    story, usage = node(1000)
    story.tick(6800, usage)
    story.accepted("a", until=5)
    assert [gone(story.tick(unread=True)) for _ in range(20)] == [[]] * 20


def test_it_evicts_one_pod_a_cool_down_where_that_was_asked_for() -> None:
    story, usage = node(1000, 1000, evict_on_missing_usage=True)
    story.tick(6100, usage)
    story.accepted("a", until=500)
    missing = [gone(story.tick(unread=True)) for _ in range(5)]
    assert missing == [[]] * 5
    assert gone(story.tick(unread=True)) == ["b"]
    assert decisions(story.plan, EVICT)[0].stopped == "one pod"


def test_that_one_may_be_a_pod_whose_usage_is_missing_too() -> None:
    story, _ = node(0, evict_on_missing_usage=True)
    story.tick(6100, {"a": None})
    assert gone(story.ticks(4, unread=True)) == ["a"]


def test_two_rules_on_one_missing_metric_evict_one_pod_between_them() -> None:
    story, usage = node(1000, 1000, evict_on_missing_usage=True)
    story.policies = (policy(rule(action="evict"), rule(5900, "evict", name="second")),)
    story.tick(6050, usage)
    story.memory = replace(story.memory, evicting=(), evicted_at=())
    assert len(gone(story.ticks(4, unread=True))) == 1


def test_a_tick_that_was_woken_early_evicts_nobody() -> None:
    story, usage = node(1000, 1000, evict_on_missing_usage=True)
    story.tick(6800, usage)
    assert gone(story.tick(seconds=1, woken=True)) == []
    story.ticks(3, unread=True)
    assert gone(story.tick(seconds=1, woken=True)) == []


def test_an_agent_that_starts_anew_while_a_rule_is_active_evicts_nobody_for_lack_of_a_first_reading() -> None:
    story, usage = node(1000, 1000, evict_on_missing_usage=True)
    story.tick(6100, usage)
    story.memory = replace(story.memory, evicted_at=())
    story.frames, story.readings = Frames(), SampleReadings()
    story.tick(seconds=1, woken=True)
    assert gone(story.tick(6100)) == []
    assert decisions(story.plan, EVICT) == []


def test_a_service_that_no_podqos_names_is_never_evicted() -> None:
    story = Story((service(),), policies=(policy(rule(action="evict")),))
    assert gone(story.tick(8000, {"service": 4000})) == []


def test_a_throttle_of_this_tick_is_not_counted_as_an_evicted_pods_release_again() -> None:
    both = (squeezing(floor=50), evicting())
    rules = policy(rule(), rule(action="evict", name="evict"))
    plan = Story((batch("a"),), policies=(rules,), actions=both).tick(8000, {"a": 1000})
    assert released(plan, EVICT) == 500
