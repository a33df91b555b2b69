"""Yield and lift: what throttles do to the weights of pods."""

from msgspec.structs import replace
from stories import (
    Story,
    allowing,
    annotated,
    batch,
    decisions,
    lifted,
    policy,
    rule,
    service,
    squeezed,
    squeezing,
    with_settings,
    yielding,
)

from slackwater.api.objects import QosClass, Weight
from slackwater.api.units import HIGHEST_SHARES
from slackwater.claims.base import KubeletRules
from slackwater.decide.plan import ActionKind

HIGH = 7000
USAGE = {"etl": 3000, "service": 1000, "other": 500}


def test_a_throttled_pod_of_offline_work_yields_down_to_the_weight_of_its_floor() -> None:
    plan = Story((batch("etl"),)).tick(HIGH, USAGE)
    assert yielding(plan) == {"etl": 300 * 1024 // 1000}


def test_the_floors_of_all_its_throttled_containers_make_a_pods_weight() -> None:
    pod = batch("etl", containers=("main", "sidecar"))
    plan = Story((pod,)).tick(HIGH, {"etl/main": 3000, "etl/sidecar": 1000})
    assert yielding(plan) == {"etl": 400 * 1024 // 1000}


def test_a_throttled_pod_that_is_not_offline_work_does_not_yield() -> None:
    plan = Story((batch("etl", priority=10),), pod_qos=(allowing("squeeze"),)).tick(HIGH, USAGE)
    assert squeezed(plan) != {}
    assert yielding(plan) == {}


def test_a_pod_that_weighs_less_than_its_floor_has_nothing_to_yield() -> None:
    plan = Story((batch("etl", qos_class=QosClass.BEST_EFFORT),)).tick(HIGH, USAGE)
    assert squeezed(plan) != {}
    assert yielding(plan) == {}


def test_a_guaranteed_service_is_lifted_while_a_throttle_stands() -> None:
    story = Story((batch("etl"), service()))
    assert lifted(story.tick(5000, USAGE)) == {}
    assert lifted(story.tick(HIGH)) == {"service": HIGHEST_SHARES}


def test_weight_keep_turns_both_off() -> None:
    plan = Story((batch("etl"), service()), actions=(squeezing(weight=Weight.KEEP),)).tick(HIGH, USAGE)
    assert squeezed(plan) != {}
    assert (yielding(plan), lifted(plan)) == ({}, {})


def test_an_action_that_comes_to_say_keep_ends_both_at_the_next_tick() -> None:
    story = Story((batch("etl"), service()))
    story.tick(HIGH, USAGE)
    story.actions = (squeezing(weight=Weight.KEEP),)
    plan = story.tick(seconds=1, woken=True)
    assert squeezed(plan) != {}
    assert (yielding(plan), lifted(plan)) == ({}, {})


def test_only_guaranteed_pods_are_lifted() -> None:
    burstable = replace(service(), qos_class=QosClass.BURSTABLE)
    assert lifted(Story((batch("etl"), burstable)).tick(HIGH, USAGE)) == {}


def test_a_candidate_is_not_lifted() -> None:
    story = Story((batch("etl"), batch("other", limit=1000, qos_class=QosClass.GUARANTEED)))
    assert lifted(story.tick(HIGH, USAGE)) == {}


def test_a_pod_that_no_limit_bounds_is_not_lifted() -> None:
    assert lifted(Story((batch("etl"), service(limit=None))).tick(HIGH, USAGE)) == {}


def test_without_cfs_quota_nobody_is_lifted() -> None:
    story = with_settings(Story((batch("etl"), service())), kubelet=KubeletRules(cfs_quota=False))
    assert lifted(story.tick(HIGH, USAGE)) == {}


def test_a_pod_kept_out_of_everything_is_not_lifted_either() -> None:
    story = Story((batch("etl"), annotated(service(), protected="true")))
    assert lifted(story.tick(HIGH, USAGE)) == {}


def test_a_terminating_service_is_not_lifted() -> None:
    assert lifted(Story((batch("etl"), service(deleted_at=0.0))).tick(HIGH, USAGE)) == {}


def test_yield_ends_with_the_pods_last_throttle_and_lift_with_the_nodes() -> None:
    story = Story((batch("etl", priority=-20), batch("other"), service()))
    story.tick(8000, {**USAGE, "etl": 1000, "other": 2000})
    assert set(yielding(story.plan)) == {"etl", "other"}
    story.pods = tuple(annotated(pod, protected="true") if pod.name == "etl" else pod for pod in story.pods)
    plan = story.tick(5000)
    assert set(yielding(plan)) == {"other"}
    assert set(lifted(plan)) == {"service"}
    story.policies = ()
    assert story.tick(5000).claims == ()


def test_weights_that_change_are_told_with_what_changed_them() -> None:
    story = Story((batch("etl"), service()))
    (decision,) = decisions(story.tick(HIGH, USAGE))
    told = {(one.pod, one.before, one.after) for one in decision.operations if one.knob == "weight"}
    assert told == {("default/etl", 1024, 307), ("default/service", 1024, HIGHEST_SHARES)}
    story.policies = (policy(rule(action="close")),)
    (ended,) = decisions(story.tick(), ActionKind.RESTORE)
    back = {(one.pod, one.before, one.after) for one in ended.operations if one.knob == "weight"}
    assert back == {("default/etl", 307, 1024), ("default/service", HIGHEST_SHARES, 1024)}
