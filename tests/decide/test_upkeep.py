"""What ends a throttle at once, and what does not."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from stories import (
    Story,
    allowing,
    annotated,
    batch,
    closing,
    decisions,
    evicting,
    lifted,
    policy,
    rule,
    service,
    squeezed,
    squeezing,
)

from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.decide.engine import decide
from slackwater.decide.plan import ActionKind

ELSEWHERE = LabelSelector((Requirement("pool", Operator.IN, frozenset({"other"})),))


def squeezed_node() -> Story:
    story = Story((batch("etl", limit=2000), service()))
    story.tick(8000, {"etl": 2000, "service": 1000})
    assert squeezed(story.plan) == {"etl": 200}
    return story


def changed(story: Story, **fields: object) -> None:
    story.pods = tuple(replace(pod, **fields) if pod.name == "etl" else pod for pod in story.pods)


def delete_the_policy(story: Story) -> None:
    story.policies = ()


def turn_to_preview(story: Story) -> None:
    story.policies = (policy(rule(preview=True)),)


def change_the_metric(story: Story) -> None:
    story.policies = (policy(rule(90, metric="cpu_total_utilization")),)


def name_another_action(story: Story) -> None:
    story.actions = (*story.actions, squeezing("another"))
    story.policies = (policy(rule(action="another")),)


def delete_the_action(story: Story) -> None:
    story.actions = ()


def take_the_throttle_from_the_action(story: Story) -> None:
    story.actions = (closing("squeeze"),)


def protect_the_pod(story: Story) -> None:
    story.pods = tuple(annotated(pod, protected="true") for pod in story.pods)


def disallow_the_action(story: Story) -> None:
    story.pod_qos = (allowing("evict"),)


def select_other_nodes(story: Story) -> None:
    story.policies = (replace(policy(rule()), selector=ELSEWHERE),)


def make_the_rule_an_error(story: Story) -> None:
    story.policies = (policy(rule(6)),)


def let_the_pod_end(story: Story) -> None:
    changed(story, phase="Succeeded")


def take_the_pod_away(story: Story) -> None:
    story.pods = (service(),)


def rename_the_container(story: Story) -> None:
    changed(story, containers=batch("etl", containers=("other",)).containers)


@pytest.mark.parametrize(
    "change",
    [
        delete_the_policy,
        turn_to_preview,
        change_the_metric,
        name_another_action,
        delete_the_action,
        take_the_throttle_from_the_action,
        protect_the_pod,
        disallow_the_action,
        select_other_nodes,
        make_the_rule_an_error,
        let_the_pod_end,
        take_the_pod_away,
        rename_the_container,
    ],
)
def test_a_throttle_without_its_cause_ends_at_once_and_takes_yield_and_lift_with_it(
    change: Callable[[Story], None],
) -> None:
    story = squeezed_node()
    change(story)
    assert story.tick(seconds=1, woken=True).claims == ()
    assert story.memory.throttled == ()


def rename_the_rule(story: Story) -> None:
    story.policies = (policy(rule(name="renamed")),)


def change_the_value(story: Story) -> None:
    story.policies = (policy(rule(5000)),)


def let_the_pod_terminate(story: Story) -> None:
    changed(story, deleted_at=story.wall, grace=30.0)


def restart_the_container(story: Story) -> None:
    (one,) = batch("etl", limit=2000).containers
    changed(story, containers=(replace(one, id="another-id"),))


@pytest.mark.parametrize("change", [rename_the_rule, change_the_value, let_the_pod_terminate, restart_the_container])
def test_a_throttle_outlives_what_does_not_concern_its_cause(change: Callable[[Story], None]) -> None:
    story = squeezed_node()
    change(story)
    assert squeezed(story.tick(seconds=1, woken=True)) == {"etl": 200}


def test_a_throttle_stands_as_long_as_one_of_its_causes_does() -> None:
    story = Story((batch("etl", limit=2000),), policies=(policy(rule(), name="one"), policy(rule(), name="two")))
    story.tick(8000, {"etl": 2000})
    story.policies = story.policies[1:]
    plan = story.tick(seconds=1, woken=True)
    assert squeezed(plan) == {"etl": 200}
    assert story.memory.throttled[0].causes == ("NodeQOS/two/cpu",)


def test_the_end_is_told_with_its_reason() -> None:
    story = squeezed_node()
    protect_the_pod(story)
    (decision,) = decisions(story.tick(seconds=1, woken=True), ActionKind.RESTORE)
    assert decision.reason == "protected by its annotation slackwater.dev/protected"
    (quota,) = [one for one in decision.operations if one.knob == "quota"]
    assert (quota.before, quota.after) == (200, 2000)


def test_an_unlimited_container_is_told_to_be_unlimited_again() -> None:
    story = Story((batch("etl", elastic=2000),))
    story.tick(8000, {"etl": 2000})
    story.policies = ()
    (decision,) = decisions(story.tick(), ActionKind.RESTORE)
    assert decision.operations[0].after is None


def test_a_pod_that_ended_lifts_nobody() -> None:
    story = squeezed_node()
    assert lifted(story.plan) != {}
    let_the_pod_end(story)
    assert lifted(story.tick(seconds=1, woken=True)) == {}


def test_an_evicting_rule_alone_holds_no_throttle() -> None:
    story = Story((batch("etl", limit=2000),), actions=(squeezing(), evicting("only")))
    story.tick(8000, {"etl": 2000})
    story.policies = (policy(rule(action="only")),)
    assert squeezed(story.tick(seconds=1, woken=True)) == {}


def test_an_agent_that_may_not_act_any_more_gives_back_and_says_who_said_so() -> None:
    story = squeezed_node()
    plan = decide(replace(story.situation(sampled=False), verdicts=(), idle_because="mode is preview (configuration)"))
    assert (plan.claims, plan.evictions, plan.scheduling.disabled) == ((), (), False)
    assert decisions(plan, ActionKind.RESTORE)[0].reason == "mode is preview (configuration)"


@pytest.mark.parametrize("jump", [3600, -3600])
def test_a_calendar_that_jumps_an_hour_changes_nothing(jump: float) -> None:
    steady, jumping = squeezed_node(), squeezed_node()
    jumping.wall += jump
    for load in (8000, 5000, *[3000] * 20):
        steady.tick(load, {"etl": 200})
        jumping.tick(load, {"etl": 200})
        assert steady.plan.claims == jumping.plan.claims
    assert squeezed(steady.plan) == {}
