"""Where the release cannot be computed: pressure, load and their kin act a step at a time, through CPU or memory."""

from dataclasses import replace as but
from itertools import pairwise

import pytest
from msgspec.structs import replace
from stories import (
    Story,
    batch,
    decisions,
    evicting,
    gone,
    policy,
    rule,
    said_of,
    service,
    squeezed,
    squeezing,
    throttle_of,
    wait_of,
    with_settings,
)

from slackwater.api.objects import Pod, Policy, Rule
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.decide.plan import ActionKind, Decision
from slackwater.judge.rules import rules_in_force
from slackwater.metrics.builtin import BUILTIN

PRESSURE = "cpu_pressure_some_10s"
EVICT, RESTORE = ActionKind.EVICT, ActionKind.RESTORE
TICKS_OF_COOL_DOWN = 6


def pressed(*rules: Rule, **more: Policy) -> Story:
    """Two groups of batch work below a service that waits for a CPU half of the time."""
    pods = (batch("low", priority=-20, limit=2000), batch("high", limit=2000), service())
    story = Story(pods, policies=(policy(*(rules or (rule(20, metric=PRESSURE),))), *more.values()))
    story.pressing = {"service": 50}
    story.usage = {"low": 1000, "high": 1000}
    return story


def relieved(story: Story, ticks: int) -> dict[str, int]:
    """Nobody waits any more, for so long; what is claimed is what is used."""
    story.pressing = {}
    for _ in range(ticks):
        story.tick(usage=dict(squeezed(story.plan)))
    return squeezed(story.plan)


def among(story: Story, *pods: Pod) -> Story:
    """The same with these pods, which were there before."""
    return but(story, pods=pods)


def first(story: Story, kind: ActionKind = ActionKind.THROTTLE) -> Decision:
    return decisions(story.plan, kind)[0]


def loaded(*rules: Rule) -> Story:
    story = pressed(*(rules or (rule(5, metric="cpu_load_1m"),)))
    story.pressing, story.load = {}, 9.0
    return story


def judged(story: Story) -> tuple[float | None, bool]:
    """The first rule's value, and whether it is missing."""
    return story.verdicts[0].value, story.verdicts[0].missing


# Throttling.


def test_at_each_bad_sample_the_lowest_group_that_is_not_at_its_floor_takes_one_step() -> None:
    story = pressed()
    assert squeezed(story.tick()) == {"low": 800}
    assert squeezed(story.tick(usage={"low": 800})) == {"low": 600}
    assert squeezed(story.tick(usage={"low": 600})) == {"low": 400}
    assert squeezed(story.tick(usage={"low": 400})) == {"low": 200}
    assert squeezed(story.tick(usage={"low": 200})) == {"low": 200, "high": 800}


def test_everybody_in_the_group_takes_the_step() -> None:
    story = among(
        pressed(), batch("low", priority=-20, limit=2000), batch("beside", priority=-20, limit=1000), service()
    )
    assert squeezed(story.tick(usage={"beside": 1000})) == {"low": 800, "beside": 900}


def test_a_good_sample_takes_no_step() -> None:
    story = pressed()
    story.tick()
    story.pressing = {"service": 20}
    assert squeezed(story.tick(usage={"low": 800})) == {"low": 800}


def test_a_tick_that_was_woken_early_takes_no_step() -> None:
    story = pressed()
    story.tick()
    assert squeezed(story.tick(woken=True, seconds=0.1)) == {"low": 800}


def test_it_takes_as_many_bad_ticks_as_the_rule_says() -> None:
    story = pressed(rule(20, metric=PRESSURE, bad=3))
    assert not squeezed(story.ticks(2))
    assert squeezed(story.tick()) == {"low": 800}


def test_two_rules_on_one_metric_take_one_step_and_the_lowest_waterline_governs() -> None:
    story = pressed(rule(30, metric=PRESSURE, name="loose"), rule(20, metric=PRESSURE, name="tight"))
    assert squeezed(story.tick()) == {"low": 800}
    assert (first(story).rule, first(story).also) == ("tight", ("waterline/loose",))
    assert len(throttle_of(story.plan, "low").causes) == 2


def test_no_release_is_expected_in_a_metric_that_cannot_count_it() -> None:
    story = pressed()
    story.tick()
    assert first(story).gap is None
    assert [one.expected for one in first(story).operations if one.knob == "quota"] == [None]


def test_who_was_not_reached_is_told_why() -> None:
    story = pressed()
    story.tick()
    assert said_of("high", [first(story)]) == "not yet: a lower group goes first"
    assert first(story).stopped == "one step at each bad sample"


@pytest.mark.parametrize(
    "metric", ["cpu_load_1m", "cpu_load_5m", "cpu_load_15m", "memory_pressure_some_10s", "io_pressure_full_10s"]
)
def test_every_metric_that_only_says_that_something_is_wrong_squeezes_through_cpu(metric: str) -> None:
    story = loaded(rule(5, metric=metric))
    story.psi = dict.fromkeys(("memory", "io"), 9.0)
    assert squeezed(story.tick()) == {"low": 800}


def test_indirect_metrics_are_no_load_error_for_either_action() -> None:
    for metric in BUILTIN.metrics.values():
        if metric.indirect:
            story = pressed(rule(5, metric=metric.name), rule(5, "evict", metric=metric.name, name="evict"))
            assert [one.error for one in rules_in_force(story.view, BUILTIN, story.capacity)] == ["", ""]


def test_a_present_precise_rule_is_closed_precisely_all_the_same() -> None:
    story = pressed(rule(6000), rule(20, metric=PRESSURE, name="pressure"))
    plan = story.tick(6500)
    precise, stepped = decisions(plan)
    assert (precise.metric, stepped.metric) == ("cpu_total_usage", PRESSURE)
    assert precise.gap == pytest.approx(550)
    assert squeezed(plan) == {"low": 450 - 200}


# Eviction.


def test_one_pod_goes_and_then_a_cool_down() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m"))
    assert gone(story.tick()) == ["low"]
    story.pods = story.pods[1:]
    assert gone(story.ticks(TICKS_OF_COOL_DOWN - 1)) == []
    assert gone(story.tick()) == ["high"]


def test_who_uses_more_of_what_the_metric_acts_through_goes_first() -> None:
    story = among(loaded(rule(5, "evict", metric="cpu_load_1m")), batch("idle"), batch("busy"))
    assert gone(story.tick(usage={"idle": 100, "busy": 2000})) == ["busy"]


def test_pressure_on_memory_evicts_by_memory_in_use() -> None:
    story = loaded(rule(5, "evict", metric="memory_pressure_some_10s"))
    story.pods, story.psi = (batch("busy"), batch("large")), {"memory": 30.0}
    story.holds = {"busy": 1 << 20, "large": 1 << 30}
    assert gone(story.tick(usage={"busy": 4000})) == ["large"]


def test_a_candidate_whose_own_use_is_missing_is_skipped() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m"))
    plan = story.tick(usage={"low": None})
    assert gone(plan) == ["high"]
    assert said_of("low", decisions(plan, EVICT)) == "its usage is missing"


def test_who_stays_is_told_why() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m"))
    story.tick()
    assert said_of("high", [first(story, EVICT)]) == "not yet: one pod at a time"
    assert said_of("service", [first(story, EVICT)]).startswith("not allowed")


def test_a_refused_pod_is_passed_over_and_the_next_goes() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m"))
    story.tick()
    story.refused("low")
    assert gone(story.tick()) == ["high"]


def test_a_tick_that_evicts_precisely_evicts_nobody_else() -> None:
    story = loaded(rule(6000, "evict"), rule(5, "evict", metric="cpu_load_1m", name="load"))
    assert gone(story.tick(6500)) == ["low"]


def test_where_nobody_may_go_it_says_so() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m"))
    story.pods = (service(),)
    story.tick()
    assert first(story, EVICT).stopped == "nobody left who may be evicted"


def test_the_brakes_hold_here_too() -> None:
    story = with_settings(loaded(rule(5, "evict", metric="cpu_load_1m")), evictions_per_hour=1)
    story.tick()
    story.pods = story.pods[1:]
    assert gone(story.ticks(TICKS_OF_COOL_DOWN + 1)) == []
    assert first(story, EVICT).stopped == "braked: evictionsPerHour 1"


# Giving back.


def squeezed_both() -> Story:
    """Six bad samples: the low group at its floor, the high one two steps down."""
    story = pressed()
    for _ in range(6):
        story.tick(usage=dict(squeezed(story.plan)))
    assert squeezed(story.plan) == {"low": 200, "high": 600}
    return story


def test_it_comes_back_one_step_a_tick_in_reverse() -> None:
    story = squeezed_both()
    assert relieved(story, TICKS_OF_COOL_DOWN - 1) == {"low": 200, "high": 600}
    assert relieved(story, 1) == {"low": 200, "high": 800}
    assert relieved(story, 5) == {"low": 200, "high": 1800}
    assert relieved(story, 1) == {"low": 200}
    assert relieved(story, 1) == {"low": 400}


def test_all_of_it_comes_back_in_the_end() -> None:
    story = squeezed_both()
    assert relieved(story, 30) == {}


def test_it_comes_back_at_the_step_of_the_action_that_took_it() -> None:
    story = pressed()
    story.actions = (squeezing(step=25), evicting())
    assert squeezed(story.tick()) == {"low": 500}
    assert relieved(story, TICKS_OF_COOL_DOWN) == {"low": 1000}


def test_it_does_not_come_back_while_its_rule_arms_again() -> None:
    story = pressed(rule(20, metric=PRESSURE, bad=2))
    story.ticks(2)
    relieved(story, 5)
    story.pressing = {"service": 50}
    assert squeezed(story.tick(usage={"low": 800})) == {"low": 800}


def test_it_comes_back_within_the_room_of_every_cpu_rule() -> None:
    story = pressed(rule(20, metric=PRESSURE), rule(6000, name="cpu"))
    story.node_usage = 5690
    story.tick()
    story.hungry = frozenset({"low"})
    relieved(story, TICKS_OF_COOL_DOWN)
    assert squeezed(story.plan) == {"low": 810}


def test_a_cpu_rule_without_room_holds_it() -> None:
    story = pressed(rule(20, metric=PRESSURE), rule(6000, name="cpu"))
    story.node_usage = 5700
    story.tick()
    story.hungry = frozenset({"low"})
    assert relieved(story, 20) == {"low": 800}


def test_all_rules_behind_a_claim_must_be_over() -> None:
    story = pressed(rule(6000), rule(20, metric=PRESSURE, name="pressure"))
    story.tick(6200)
    assert len(throttle_of(story.plan, "low").causes) == 2
    before = squeezed(story.plan)
    story.node_usage = 2000
    assert squeezed(story.ticks(20)) != before  # pressure goes on, and so do the steps
    held = squeezed(story.plan)
    story.pressing = {}
    assert squeezed(story.ticks(TICKS_OF_COOL_DOWN - 1)) == held
    assert squeezed(story.tick()) != held


def test_another_rules_trouble_does_not_hold_what_it_did_not_take() -> None:
    story = pressed(rule(20, metric=PRESSURE), rule(5, metric="cpu_load_1m", name="load", action="evict"))
    story.pods = (batch("low", limit=2000, owner="DaemonSet", priority=-20), service())
    story.tick()
    story.load = 9.0
    assert relieved(story, TICKS_OF_COOL_DOWN) == {"low": 1000}


def test_what_is_given_back_is_told_under_the_rule_that_took_it() -> None:
    story = pressed(rule(20, metric=PRESSURE), rule(2, metric="cpu_load_1m", name="load"))
    story.load = 0.0
    story.tick()
    relieved(story, TICKS_OF_COOL_DOWN)
    assert (first(story, RESTORE).metric, first(story, RESTORE).also) == (PRESSURE, ())


def test_each_time_that_giving_back_brings_it_back_the_wait_doubles() -> None:
    story = pressed()
    story.tick()
    relieved(story, TICKS_OF_COOL_DOWN)
    story.pressing = {"service": 50}
    story.tick()
    assert wait_of(story, PRESSURE) == 120
    held = squeezed(story.plan)
    assert relieved(story, 11) == held
    assert relieved(story, 1) != held


def test_calm_that_we_made_does_not_shorten_the_wait() -> None:
    story = pressed()
    story.tick()
    relieved(story, TICKS_OF_COOL_DOWN)
    story.pressing = {"service": 50}
    story.tick()
    relieved(story, 5)
    assert wait_of(story, PRESSURE) == 120


def test_once_nothing_is_held_for_it_calm_shortens_the_wait() -> None:
    story = pressed()
    story.tick()
    relieved(story, TICKS_OF_COOL_DOWN)
    story.pressing = {"service": 50}
    story.tick()
    assert relieved(story, 60) == {}
    assert wait_of(story, PRESSURE) == 0


def test_a_rule_that_is_gone_gives_it_back_at_once() -> None:
    story = squeezed_both()
    story.policies = ()
    assert squeezed(story.tick()) == {}


# What is missing, and what is only shown.


def test_a_metric_that_goes_missing_takes_one_step_and_no_more() -> None:
    story = pressed()
    story.tick()
    story.pressing = dict.fromkeys(("low", "high", "service"), None)
    steps = [squeezed(story.tick(usage={"low": 800})) for _ in range(8)]
    assert steps[-1] == {"low": 600}
    assert sum(one != other for one, other in pairwise(steps)) == 1


def test_a_metric_that_goes_missing_evicts_nobody() -> None:
    story = loaded(rule(5, "evict", metric="cpu_load_1m", bad=2))
    story.tick()
    story.load = None
    assert [name for _ in range(8) for name in gone(story.tick())] == []


def test_preview_shows_the_step_and_takes_none() -> None:
    story = pressed(rule(20, metric=PRESSURE, preview=True))
    assert squeezed(story.tick()) == {}
    (shown,) = story.shown
    assert [(one.pod, one.before, one.after) for one in shown.operations] == [("default/low", 2000, 800)]


def test_preview_of_an_eviction_evicts_nobody_and_starts_no_cool_down() -> None:
    shown, real = (
        rule(5, "evict", metric="cpu_load_1m", name="shown", preview=True),
        rule(5, "evict", metric="cpu_load_1m"),
    )
    story = loaded(shown)
    assert gone(story.tick()) == []
    assert [one.action for one in story.shown if one.operations] == [EVICT]
    story.policies = (policy(shown, real),)
    assert gone(story.tick()) == ["low"]


# Who presses.


def test_the_record_says_who_pressed_and_what_the_whole_node_did() -> None:
    story = among(pressed(), batch("low"), batch("high"), service(), service("other"))
    story.pressing |= {"other": 30, "high": 10}
    story.psi = {"cpu": 61.5}
    story.tick()
    assert first(story).reason == "default/service 50, default/other 30, the whole node 61.5"


def test_the_pressure_of_who_is_squeezed_by_us_is_of_our_making() -> None:
    story = pressed()
    story.pressing = {"low": 90}
    assert squeezed(story.tick()) == {"low": 800}
    assert squeezed(story.ticks(5, usage={"low": 800})) == {"low": 800}
    assert judged(story) == (0.0, False)


def selecting(namespace: str) -> Story:
    selector = LabelSelector((Requirement("namespace", Operator.IN, frozenset({namespace})),))
    return pressed(replace(rule(20, metric=PRESSURE), selector=selector))


def test_a_rule_may_select_whose_pressure_it_means() -> None:
    assert squeezed(selecting("default").tick()) == {"low": 800}
    assert squeezed(selecting("shop").tick()) == {}


def test_where_nobody_selected_presses_it_is_good_and_not_unknown() -> None:
    story = selecting("shop")
    story.tick()
    assert judged(story) == (0.0, False)
