"""How far down each container goes, and no further."""

import pytest
from stories import (
    START,
    Story,
    allowing,
    batch,
    decisions,
    gap,
    policy,
    released,
    rule,
    said_of,
    service,
    squeezed,
    squeezing,
    throttle_of,
    with_settings,
)

from slackwater.api.units import Microseconds, Millicores
from slackwater.claims.base import KubeletRules
from slackwater.decide.candidates import floor_of
from slackwater.decide.plan import ActionKind
from slackwater.metrics.cpu import CPU_TOTAL_USAGE
from slackwater.snapshot.knobs import Quota


def test_the_gap_is_what_lies_above_the_waterline_and_a_tenth_more() -> None:
    plan = Story((batch("etl"),)).tick(6800, {"etl": 2000})
    assert gap(plan) == pytest.approx(880)


def test_the_excess_can_be_set() -> None:
    story = with_settings(Story((batch("etl"),)), excess=0.5)
    assert gap(story.tick(6800, {"etl": 2000})) == pytest.approx(1200)


def test_the_last_step_is_cut_to_what_the_gap_needs() -> None:
    plan = Story((batch("etl"),)).tick(6800, {"etl": 2000})
    assert squeezed(plan) == {"etl": 1120}
    assert released(plan) == 880


def test_a_usage_that_is_not_above_its_waterline_takes_nothing() -> None:
    plan = Story((batch("etl"),)).tick(6000, {"etl": 2000})
    assert plan.claims == ()
    assert plan.decisions == ()


def test_the_lowest_group_gives_all_it_can_before_the_next_gives_anything() -> None:
    pods = (batch("low", priority=-20), batch("high", priority=-10))
    plan = Story(pods).tick(7000, {"low": 600, "high": 3000})
    assert squeezed(plan) == {"low": 60, "high": 3000 - (1100 - 540)}


def test_a_group_gives_evenly_before_the_next_one_gives_anything() -> None:
    pods = (batch("a"), batch("b"), batch("later", priority=-5))
    plan = Story(pods).tick(6500, {"a": 1000, "b": 1000, "later": 3000})
    # 550 is two rounds of 100 each, one whole step more, and half of one.
    assert squeezed(plan) == {"a": 700, "b": 750}


def test_no_container_falls_below_its_floor() -> None:
    plan = Story((batch("etl"),)).tick(8000, {"etl": 1000})
    assert squeezed(plan) == {"etl": 100}
    assert decisions(plan)[0].stopped == "nobody left who may be squeezed further"


def test_the_floor_is_never_less_than_ten_millicores() -> None:
    plan = Story((batch("tiny"),)).tick(8000, {"tiny": 50})
    assert squeezed(plan) == {"tiny": 10}


def test_a_container_that_uses_less_than_its_floor_is_left_alone() -> None:
    plan = Story((batch("idle", limit=2000),)).tick(7000, {"idle": 150})
    assert squeezed(plan) == {}
    assert said_of("idle", plan.decisions) == "uses less than its floor"


def test_ratios_count_from_the_limit_where_there_is_one() -> None:
    story = Story((batch("etl", limit=4000),), actions=(squeezing(floor=25, step=10),))
    story.tick(8000, {"etl": 3000})
    claim = throttle_of(story.plan, "etl")
    assert (claim.reference, claim.floor) == (4000, 1000)


def test_ratios_count_from_the_elastic_limit_where_there_is_no_other() -> None:
    plan = Story((batch("etl", elastic=4000),)).tick(8000, {"etl": 3000})
    assert throttle_of(plan, "etl").reference == 4000


def test_without_a_limit_ratios_count_from_the_mean_of_what_made_the_rule_active_and_keep_it() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(bad=2)),))
    story.tick(6500, {"etl": 1000})
    story.tick(6500, {"etl": 2000})
    assert throttle_of(story.plan, "etl").reference == 1500
    story.tick(6500, {"etl": 500})
    assert throttle_of(story.plan, "etl").reference == 1500


def test_steps_count_down_from_what_was_used_and_not_from_a_quota_that_nobody_reaches() -> None:
    plan = Story((batch("etl", limit=4000),)).tick(6100, {"etl": 1000})
    assert squeezed(plan) == {"etl": 890}


def test_one_idle_moment_does_not_set_the_quota() -> None:
    story = Story((batch("idle just now"), batch("steady")), policies=(policy(rule(bad=2)),))
    story.tick(6500, {"idle just now": 3000, "steady": 2000})
    story.tick(6500, {"idle just now": 1000})
    # Both step down from a mean of 2000 by 200: two rounds and a bit, of which only one of them feels anything.
    assert squeezed(story.plan) == {"idle just now": 1600, "steady": 1450}


def test_a_busy_moment_does_not_release_what_is_not_used_any_more() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(bad=2)),))
    story.tick(6500, {"etl": 3000})
    plan = story.tick(6500, {"etl": 1000})
    assert released(plan) == pytest.approx(550)


def test_a_first_step_below_a_busy_moment_is_cut_to_the_gap_too() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(bad=2)),))
    story.tick(6100, {"etl": 1000})
    plan = story.tick(6100, {"etl": 3000})
    assert squeezed(plan) == {"etl": 2890}
    assert released(plan) == pytest.approx(gap(plan)) == pytest.approx(110)


def test_all_containers_of_a_pod_give_in_proportion_sidecars_too() -> None:
    pod = batch("etl", containers=("main", "sidecar"))
    plan = Story((pod,)).tick(6100, {"etl/main": 3000, "etl/sidecar": 1000})
    taken = {"etl": 3000 - squeezed(plan)["etl"], "sidecar": 1000 - squeezed(plan)["etl/sidecar"]}
    assert taken == {"etl": 82, "sidecar": 28}
    assert released(plan) == 110


def test_a_container_whose_usage_is_missing_is_skipped_and_the_next_one_taken() -> None:
    story = Story((batch("unread"), batch("etl")))
    plan = story.tick(6800, {"unread": None, "etl": 2000})
    assert squeezed(plan) == {"etl": 1120}
    assert said_of("unread", plan.decisions) == "its usage is missing"


def test_the_larger_ratios_of_the_rules_concerned_hold() -> None:
    actions = (squeezing("gentle", floor=50, step=5), squeezing("rough", floor=10, step=20))
    rules = (rule(6000, "gentle", name="a"), rule(6000, "rough", name="b"))
    plan = Story((batch("etl"), batch("other")), policies=(policy(*rules),), actions=actions).tick(
        6300, {"etl": 1000, "other": 1000}
    )
    assert throttle_of(plan, "etl").floor == 500
    assert squeezed(plan) == {"etl": 800, "other": 870}


def test_the_lowest_waterline_of_the_active_rules_governs() -> None:
    rules = (rule(6500, name="high"), rule(6000, name="low"))
    plan = Story((batch("etl"),), policies=(policy(*rules),)).tick(7000, {"etl": 3000})
    (decision,) = decisions(plan)
    assert (decision.rule, decision.waterline, decision.also) == ("low", 6000, ("waterline/high",))
    assert decision.gap == pytest.approx(1100)


def test_a_pod_gives_only_down_to_the_lowest_waterline_of_a_rule_that_may_touch_it() -> None:
    rules = (rule(6500, "mild", name="high"), rule(6000, "hard", name="low"))
    pods = (batch("first", priority=-20, labels={"for": "mild"}), batch("second", labels={"for": "hard"}))
    qos = (
        allowing("mild", labels={"for": "mild"}, name="m"),
        allowing("hard", labels={"for": "hard"}, name="h"),
    )
    plan = Story(pods, policies=(policy(*rules),), actions=(squeezing("mild"), squeezing("hard")), pod_qos=qos).tick(
        7000, {"first": 3000, "second": 3000}
    )
    # 550 down to the higher waterline come from who stands first; the other 550 only from who may go further down.
    assert squeezed(plan) == {"first": 2450, "second": 2450}
    assert released(plan) == gap(plan) == pytest.approx(1100)


def test_what_is_released_for_one_metric_is_not_released_again_for_another() -> None:
    rules = (rule(6000, name="usage"), rule(75, name="percent", metric="cpu_total_utilization"))
    story = Story((batch("etl"),), policies=(policy(*rules),))
    plan = story.tick(6800, {"etl": 3000})
    assert squeezed(plan) == {"etl": 2120}


def test_a_second_metric_with_a_lower_waterline_takes_only_the_rest() -> None:
    rules = (rule(6400, name="usage"), rule(75, name="percent", metric="cpu_total_utilization"))
    plan = Story((batch("etl"),), policies=(policy(*rules),)).tick(6800, {"etl": 3000})
    assert squeezed(plan) == {"etl": 2120}
    assert [decision.metric for decision in decisions(plan)] == ["cpu_total_usage", "cpu_total_utilization"]


def test_a_percent_waterline_counts_in_parts_of_the_node() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(75, metric="cpu_total_utilization")),))
    plan = story.tick(6800, {"etl": 3000})
    assert gap(plan) == pytest.approx(11)
    assert released(plan) == pytest.approx(11)
    assert squeezed(plan) == {"etl": 2120}


def test_a_rule_of_several_bad_ticks_acts_at_the_last_of_them() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(bad=3)),))
    assert story.ticks(2, 6800, {"etl": 2000}).claims == ()
    assert squeezed(story.tick()) == {"etl": 1120}


def test_a_tick_that_was_woken_early_takes_no_step() -> None:
    story = Story((batch("etl"),))
    story.tick(6800, {"etl": 2000})
    woken = story.tick(seconds=1, woken=True)
    assert squeezed(woken) == {"etl": 1120}
    assert woken.decisions == ()


def test_a_rule_that_is_new_in_a_woken_tick_waits_for_the_next_sample() -> None:
    story = Story((batch("etl"),), policies=())
    story.tick(6800, {"etl": 2000})
    story.policies = (policy(rule()),)
    assert story.tick(seconds=1, woken=True).claims == ()
    assert squeezed(story.tick(seconds=9)) != {}


def test_a_release_that_the_newest_sample_does_not_show_yet_counts_once() -> None:
    story = Story((batch("etl"),))
    story.tick(6800, {"etl": 2000})
    # A rule that begins to act in the middle of things must not take the same 880 again.
    story.now += 5
    assert story.situation().gap(CPU_TOTAL_USAGE, 6800, 6000) == pytest.approx(0)


def test_the_next_sample_shows_a_release_that_was_written_right_after_the_last() -> None:
    story = Story((batch("etl"),))
    story.tick(6800, {"etl": 2000})
    plan = story.tick(6100, {"etl": 1120})
    assert gap(plan) == pytest.approx(110)
    assert squeezed(plan) == {"etl": 1010}


def test_what_a_terminating_pod_uses_counts_as_released_until_its_time_is_over() -> None:
    story = Story((batch("etl"), batch("leaving")))
    story.pods = (batch("etl"), batch("leaving", deleted_at=story.wall, grace=30.0))
    plan = story.tick(6800, {"etl": 2000, "leaving": 500})
    assert gap(plan) == pytest.approx(330)
    story.tick(6800, seconds=70)
    assert gap(story.plan) > 800


def test_what_a_pod_used_that_has_just_gone_counts_as_released_for_one_sample() -> None:
    story = Story((batch("etl"), batch("ended")))
    story.ticks(2, 5000, {"etl": 2000, "ended": 500})
    story.pods = story.pods[:1]
    assert gap(story.tick(6800)) == pytest.approx(330)
    assert gap(story.tick(6800 - 330, {"etl": 1670})) == pytest.approx(517)


def test_a_terminating_pod_is_nobodys_candidate() -> None:
    story = Story((batch("leaving", deleted_at=START, grace=30.0),))
    plan = story.tick(7000, {"leaving": 500})
    assert squeezed(plan) == {}
    assert said_of("leaving", plan.decisions) == "terminating"


def test_a_pod_whose_eviction_was_accepted_is_nobodys_candidate() -> None:
    story = Story((batch("leaving"), batch("etl", priority=-5)))
    story.accepted("leaving")
    plan = story.tick(6800, {"leaving": 500, "etl": 2000})
    assert squeezed(plan) == {"etl": 1670}
    assert said_of("leaving", plan.decisions) == "its eviction is under way"


def test_a_quota_that_stands_already_is_where_steps_begin() -> None:
    story = Story((batch("etl"),), quotas={"etl": 800})
    plan = story.tick(6100, {"etl": 800})
    assert squeezed(plan) == {"etl": 690}


def test_without_cfs_quota_a_limit_still_says_what_the_ratios_mean() -> None:
    plan = with_settings(Story((batch("etl", limit=2000),)), kubelet=KubeletRules(cfs_quota=False)).tick(
        6100, {"etl": 1000}
    )
    assert throttle_of(plan, "etl").reference == 2000


def test_a_missing_metric_takes_one_step_an_activation_and_no_more() -> None:
    story = Story((batch("low", priority=-20), batch("high")))
    story.tick(6050, {"low": 1000, "high": 1000})
    before = squeezed(story.plan)
    story.ticks(4, unread=True)
    assert story.verdicts[0].missing
    after = squeezed(story.plan)
    assert after == {"low": before["low"] - 100}
    assert squeezed(story.ticks(5, unread=True)) == after


def test_the_blind_step_says_what_it_is() -> None:
    story = Story((batch("etl"),))
    story.tick(6050, {"etl": 1000})
    plans = [story.tick(unread=True) for _ in range(6)]
    (decision,) = [decision for plan in plans for decision in decisions(plan)]
    assert decision.reason == "the metric is missing: one step, and no more in this activation"


def test_a_rule_that_was_recovering_takes_no_blind_step() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(good=5)),))
    story.tick(6050, {"etl": 1000})
    story.tick(5000)
    before = squeezed(story.plan)
    assert squeezed(story.ticks(6, unread=True)) == before


def test_every_candidate_is_told_with_its_reason_in_the_order_of_looking() -> None:
    pods = (batch("low", priority=-20), batch("high"), service())
    plan = Story(pods).tick(6100, {"low": 1000, "high": 1000, "service": 1000})
    (decision,) = decisions(plan)
    assert [(one.pod, one.taken, one.why) for one in decision.candidates] == [
        ("default/low", True, "main unlimited -> 0.89"),
        ("default/high", False, "not needed: the gap is closed"),
        ("default/service", False, "not allowed: no PodQOS, and not offline work"),
    ]
    assert decision.action is ActionKind.THROTTLE


@pytest.mark.parametrize(("period", "least"), [(100_000, 10), (1_000_000, 10), (10_000, 100)])
def test_the_floor_is_what_the_kernel_takes_in_the_period_that_stands_there(period: int, least: int) -> None:
    assert floor_of(Millicores(50), 10, Quota(None, Microseconds(period))) == least
