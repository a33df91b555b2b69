"""Giving back: when, how much, and to whom first."""

import pytest
from msgspec.structs import replace
from stories import (
    Story,
    batch,
    decisions,
    evicting,
    policy,
    released,
    rule,
    said_of,
    squeezed,
    squeezing,
    wait_of,
    with_settings,
)

from slackwater.api.objects import Resources
from slackwater.api.units import Bytes, Millicores
from slackwater.decide.plan import ActionKind
from slackwater.snapshot.usage import Capacity

HARM = 12_000
SIXTEEN_CORES = Capacity(Millicores(16_000), Bytes(32 << 30))
LONG = 60  # seconds of cool-down: six ticks


def harmed(story: Story, **usage: int) -> Story:
    """After one bad tick that squeezed everybody to the floor."""
    story.capacity = SIXTEEN_CORES
    story.tick(HARM, usage)
    return story


def calm_for(story: Story, ticks: int, node: int = 4000, **usage: int) -> dict[str, int]:
    return squeezed(story.ticks(ticks, node, usage))


def test_nothing_is_given_back_before_the_cool_down_is_over() -> None:
    story = harmed(Story((batch("etl", limit=2000),)), etl=2000)
    assert calm_for(story, 5, etl=200) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}


def test_the_longest_cool_down_of_all_rules_that_throttle_or_evict_holds() -> None:
    rules = policy(rule(), rule(11_900, "evict", name="evict", bad=3))
    story = Story((batch("etl", limit=2000),), policies=(rules,), actions=(squeezing(), evicting(cool_down=100)))
    harmed(story, etl=2000)
    assert calm_for(story, 9, etl=200) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}


def test_the_wait_is_never_shorter_than_three_ticks() -> None:
    story = harmed(Story((batch("etl", limit=2000),), actions=(squeezing(cool_down=0),)), etl=2000)
    assert calm_for(story, 2, etl=200) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}


def test_a_rule_that_is_recovering_blocks_it() -> None:
    story = harmed(Story((batch("etl", limit=2000),), policies=(policy(rule(good=10)),)), etl=2000)
    assert calm_for(story, 9, etl=200) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}


def test_one_bad_tick_blocks_it_and_delays_nothing() -> None:
    story = Story((batch("etl", limit=2000),), policies=(policy(rule(bad=2)),))
    story.ticks(2, HARM, {"etl": 2000})
    calm_for(story, 5, etl=200)
    # A lone bad tick never activates: no harm. But it stands in the window until a cool-down later.
    assert squeezed(story.tick(6100)) == {"etl": 200}
    assert calm_for(story, 5) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}


def test_an_evicting_rule_blocks_it_too() -> None:
    rules = policy(rule(), rule(3000, "evict", name="evict"))
    story = harmed(Story((batch("etl", limit=2000),), policies=(rules,)), etl=2000)
    assert calm_for(story, 20, etl=200) == {"etl": 200}


def test_a_container_that_its_quota_stops_gets_what_there_is_room_for() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    plan = story.ticks(6, 5000, {"etl": 400}, hungry={"etl"})
    # 5 % below the waterline are 5700, so there is room for 700: one step of 400 and one cut to the rest.
    assert squeezed(plan) == {"etl": 1100}
    assert released(plan, ActionKind.RESTORE) == 700


def test_a_container_that_does_not_use_what_it_has_gets_one_step_a_tick() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    assert calm_for(story, 6, 1000, etl=100) == {"etl": 800}
    assert calm_for(story, 1, 1000) == {"etl": 1200}


def test_without_room_nothing_is_given() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    assert calm_for(story, 12, 5695, etl=400) == {"etl": 400}


def test_the_highest_usage_of_the_window_counts_and_not_the_newest() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    story.ticks(2, 4000, {"etl": 400})
    story.tick(5695)
    assert calm_for(story, 5) == {"etl": 400}
    assert calm_for(story, 1) == {"etl": 800}


def test_a_window_that_samples_do_not_cover_grants_nothing() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    story.ticks(3, 4000, {"etl": 400})
    story.now += 40
    assert calm_for(story, 1) == {"etl": 400}
    assert calm_for(story, 3) == {"etl": 400}
    assert calm_for(story, 1) == {"etl": 800}


def test_a_missing_metric_gives_no_room() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    calm_for(story, 3, etl=400)
    story.ticks(5, unread=True)
    assert squeezed(story.ticks(20, unread=True)) == {"etl": 400}


def test_a_metric_unknown_for_too_long_bounds_nothing_and_one_step_a_tick_is_given() -> None:
    story = with_settings(harmed(Story((batch("etl", limit=4000),)), etl=4000), unknown_release=300.0)
    story.hungry = frozenset({"etl"})
    # Every activation takes its one blind step, and this one stands at its floor already.
    assert squeezed(story.ticks(32, unread=True)) == {"etl": 400}
    assert squeezed(story.tick(unread=True)) == {"etl": 800}
    assert squeezed(story.tick(unread=True)) == {"etl": 1200}


def test_a_rule_that_was_idle_when_its_metric_went_missing_does_not_hold_the_throttle_for_ever() -> None:
    rules = policy(rule(), rule(HARM + 1, name="higher"))
    story = harmed(Story((batch("etl", limit=4000),), policies=(rules,)), etl=4000)
    story = with_settings(story, unknown_release=300.0)
    assert squeezed(story.ticks(45, unread=True)) == {}


def test_zero_seconds_of_patience_hold_for_ever() -> None:
    story = with_settings(harmed(Story((batch("etl", limit=4000),)), etl=4000), unknown_release=0.0)
    assert squeezed(story.ticks(500, unread=True)) == {"etl": 400}


def test_the_last_group_that_was_squeezed_is_the_first_to_get() -> None:
    pods = (batch("low", priority=-20, limit=1000), batch("high", limit=4000))
    story = harmed(Story(pods), low=1000, high=4000)
    story.hungry = frozenset({"low", "high"})
    assert calm_for(story, 6, 5100, low=100, high=1100) == {"low": 100, "high": squeezed(story.plan)["high"]}
    assert decisions(story.plan, ActionKind.RESTORE)[0].operations[-1].pod == "default/high"


def test_within_a_group_everybody_gets_a_step_in_turn() -> None:
    story = harmed(Story((batch("a", limit=1000), batch("b", limit=1000))), a=1000, b=1000)
    story.hungry = frozenset({"a", "b"})
    # Room for 400: two rounds of one step each.
    assert calm_for(story, 6, 5300, a=100, b=100) == {"a": 300, "b": 300}


def test_a_throttle_ends_when_its_quota_reaches_the_limit() -> None:
    story = harmed(Story((batch("etl", limit=1000),)), etl=1000)
    assert calm_for(story, 13, 1000, etl=50) == {"etl": 900}
    assert calm_for(story, 1, 1000) == {}


def test_it_ends_at_the_limit_as_it_is_now_and_not_as_it_was() -> None:
    story = harmed(Story((batch("etl", limit=1000),)), etl=1000)
    story.pods = (batch("etl", limit=2000),)
    assert calm_for(story, 13, 1000, etl=50) == {"etl": 1700}
    assert calm_for(story, 2, 1000) == {}


def test_without_a_limit_it_ends_when_its_quota_has_not_stopped_it_for_a_cool_down() -> None:
    story = harmed(Story((batch("etl"),)), etl=3000)
    assert calm_for(story, 6, 1000, etl=50) == {}


def test_without_a_limit_and_hungry_it_ends_at_the_nodes_capacity() -> None:
    story = harmed(Story((batch("etl"),)), etl=3000)
    story.hungry = frozenset({"etl"})
    for _ in range(90):
        quotas = calm_for(story, 1, 300, etl=300)
        if not quotas:
            break
        assert quotas["etl"] < 16_000
    assert quotas == {}


def test_without_a_limit_of_its_own_it_ends_at_its_pods() -> None:
    pod = batch("etl", limits=Resources(cpu=Millicores(1200)))
    story = harmed(Story((pod,)), etl=1000)
    story.hungry = frozenset({"etl"})
    assert calm_for(story, 6, 4900, etl=100) == {"etl": 900}
    assert calm_for(story, 1) == {}


def test_a_container_that_does_not_run_just_now_does_not_hold_its_throttle_for_ever() -> None:
    story = harmed(Story((batch("etl", limit=1000),)), etl=1000)
    (pod,) = story.pods
    story.pods = (replace(pod, containers=(replace(pod.containers[0], running=False),)),)
    assert calm_for(story, 30, 1000) == {}


def test_a_relapse_within_the_wait_doubles_it() -> None:
    story = relapsed()
    assert wait_of(story) == 2 * LONG
    before = squeezed(story.plan)
    assert calm_for(story, 11, 5000) == before
    assert calm_for(story, 2, 5000) != before


def relapsed() -> Story:
    """Given back, and bad again at the next tick."""
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    calm_for(story, 6, 5000, etl=400)
    story.tick(6500, {"etl": 800})
    return story


def test_one_grant_doubles_the_wait_once_however_often_the_rule_flaps() -> None:
    story = relapsed()
    story.tick(5000)
    story.tick(6500)
    assert wait_of(story) == 2 * LONG


def test_the_wait_never_grows_beyond_its_bound() -> None:
    story = harmed(Story((batch("etl", limit=4000),), policies=(policy(rule()),)), etl=4000)
    story = with_settings(story, restore_wait_max=200.0)
    for _ in range(4):
        floor = squeezed(story.plan)
        next(n for n in range(60) if calm_for(story, 1, 5000, etl=400) != floor)
        story.tick(HARM, {"etl": 4000})
    assert wait_of(story) == 200


def test_a_harm_long_after_the_grant_doubles_nothing() -> None:
    story = harmed(Story((batch("etl", limit=1000),)), etl=1000)
    calm_for(story, 30, 5000, etl=50)
    story.ticks(10, 5500)
    story.tick(6500, {"etl": 1000})
    assert wait_of(story) <= LONG


def test_a_grant_that_has_held_for_four_waits_halves_it() -> None:
    story = relapsed()
    story.hungry = frozenset({"etl"})
    calm_for(story, 13, 5000, etl=400)
    assert squeezed(story.plan) != {}
    story.ticks(47, 5695)
    assert wait_of(story) == 2 * LONG
    story.ticks(2, 5695)
    assert wait_of(story) == LONG


def test_usage_far_below_the_waterline_resets_it() -> None:
    story = relapsed()
    story.tick(4799)
    assert wait_of(story) == 0


def test_each_metric_waits_for_its_own_harm() -> None:
    rules = policy(rule(), rule(90, name="percent", metric="cpu_total_utilization"))
    story = harmed(Story((batch("etl", limit=4000),), policies=(rules,)), etl=4000)
    calm_for(story, 6, 5000, etl=400)
    story.tick(6500, {"etl": 800})
    assert (wait_of(story), wait_of(story, "cpu_total_utilization")) == (2 * LONG, 0)


@pytest.mark.parametrize(("millicores", "percent"), [(6000, 35), (5600, 37.5)])
def test_grants_stop_at_the_smallest_room_of_all_metrics(millicores: float, percent: float) -> None:
    rules = policy(rule(millicores), rule(percent, name="percent", metric="cpu_total_utilization"))
    story = harmed(Story((batch("etl", limit=4000),), policies=(rules,)), etl=4000)
    story.hungry = frozenset({"etl"})
    # 35 % of 16 cores are 5600, less 5 % are 5320: one of them leaves 320 where the other would leave 700.
    assert calm_for(story, 6, 5000, etl=400) == {"etl": 720}
    (decision,) = decisions(story.plan, ActionKind.RESTORE)
    assert decision.metric == ("cpu_total_usage" if millicores < 6000 else "cpu_total_utilization")


def test_the_lowest_waterline_of_all_real_rules_bounds_it_whatever_their_state() -> None:
    rules = policy(rule(), rule(5500, name="other", bad=100))
    story = harmed(Story((batch("etl", limit=4000),), policies=(rules,)), etl=4000)
    story.hungry = frozenset({"etl"})
    assert calm_for(story, 6, 5000, etl=400) == {"etl": 400 + 225}


def test_a_tick_that_was_woken_early_gives_nothing() -> None:
    story = harmed(Story((batch("etl", limit=2000),)), etl=2000)
    calm_for(story, 6, etl=200)
    before = squeezed(story.plan)
    assert squeezed(story.tick(seconds=1, woken=True)) == before


def test_steady_load_does_not_swing() -> None:
    story = harmed(Story((batch("etl", limit=4000),)), etl=4000)
    story.hungry = frozenset({"etl"})
    quotas = []
    for _ in range(200):
        used = squeezed(story.plan).get("etl", 4000)
        quotas.append(squeezed(story.tick(4000 + used, {"etl": used})).get("etl", 4000))
    assert quotas == sorted(quotas)
    assert 4000 + quotas[-1] == pytest.approx(5700, abs=20)


def test_what_is_given_back_is_told_with_what_it_will_be_used_for() -> None:
    story = harmed(Story((batch("etl", limit=2000),)), etl=2000)
    story.hungry = frozenset({"etl"})
    plan = story.ticks(6, 5500, {"etl": 200})
    (decision,) = decisions(plan, ActionKind.RESTORE)
    (operation,) = [one for one in decision.operations if one.knob == "quota"]
    assert (operation.before, operation.after, operation.expected) == (200, 400, 200)
    assert decision.gap == pytest.approx(200)


def test_a_cool_down_begins_at_the_last_harm_and_not_at_the_first() -> None:
    story = harmed(Story((batch("etl", limit=2000),)), etl=2000)
    story.ticks(3, HARM)
    assert calm_for(story, 5, etl=200) == {"etl": 200}
    assert calm_for(story, 1) == {"etl": 400}
    assert said_of("etl", decisions(story.tick(HARM))) != ""
