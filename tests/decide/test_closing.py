"""Whether new pods may come."""

from stories import Story, batch, closing, decisions, evicting, policy, rule

from slackwater.decide.plan import ActionKind

CLOSE = policy(rule(action="close"))


def closed(story: Story) -> bool:
    return story.plan.scheduling.disabled


def test_an_action_with_neither_throttle_nor_eviction_disables_scheduling() -> None:
    story = Story(policies=(CLOSE,))
    plan = story.tick(6001)
    assert plan.scheduling.disabled
    assert plan.scheduling.why == "waterline/cpu"
    assert plan.claims == ()


def test_the_node_opens_when_the_cool_down_after_the_last_harm_is_over() -> None:
    story = Story(policies=(CLOSE,))
    story.ticks(3, 6001)
    assert story.ticks(5, 5000).scheduling.disabled
    assert not story.tick(5000).scheduling.disabled


def test_a_lone_bad_tick_that_never_activates_taints_nothing() -> None:
    story = Story(policies=(policy(rule(action="close", bad=2)),))
    assert not story.tick(6001).scheduling.disabled
    assert not story.tick(5000).scheduling.disabled


def test_a_rule_that_is_recovering_keeps_it_closed() -> None:
    story = Story(policies=(policy(rule(action="close", good=10)),), actions=(closing(cool_down=0),))
    story.tick(6001)
    assert story.ticks(9, 5000).scheduling.disabled
    assert not story.tick(5000).scheduling.disabled


def test_an_evicting_rule_closes_the_node_while_it_is_active_and_cools_down() -> None:
    story = Story((batch("a"),), policies=(policy(rule(action="evict")),))
    assert story.tick(6001, {"a": 100}).scheduling.disabled
    assert story.ticks(5, 5000).scheduling.disabled
    assert not story.tick(5000).scheduling.disabled


def test_keep_schedulable_leaves_it_open() -> None:
    story = Story(policies=(policy(rule(action="evict")),), actions=(evicting(keep_schedulable=True),))
    assert not story.tick(6001).scheduling.disabled


def test_a_throttling_rule_does_not_close_the_node() -> None:
    assert not Story().tick(6001).scheduling.disabled


def test_a_deleted_policy_opens_it_at_once() -> None:
    story = Story(policies=(CLOSE,))
    story.tick(6001)
    story.policies = ()
    assert not story.tick(seconds=1, woken=True).scheduling.disabled


def test_opening_and_closing_are_told_once_each() -> None:
    story = Story(policies=(CLOSE,))
    told = []
    for usage in (6001, 6001, 5000, 5000, 5000, 5000, 5000, 5000, 5000):
        told += [decision.action for decision in story.tick(usage).decisions]
    assert told == [ActionKind.DISABLE_SCHEDULING, ActionKind.ENABLE_SCHEDULING]


def test_the_rule_that_closed_it_is_told_with_its_numbers() -> None:
    (decision,) = decisions(Story(policies=(CLOSE,)).tick(6500), ActionKind.DISABLE_SCHEDULING)
    assert (decision.rule, decision.value, decision.waterline) == ("cpu", 6500, 6000)
