"""A rule's states: idle, arming, active, recovering, idle."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging import PATIENCE, Judge, rule

from slackwater.api.objects import Rule
from slackwater.api.units import Instant, Seconds
from slackwater.judge.states import Mark, Needed, Patience, Phase, RuleState, step
from slackwater.judge.verdicts import Change, is_blind
from slackwater.metrics.samples import SampleReadings

BAD, GOOD = 6001.0, 6000.0


PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too


def test_strictly_above_the_waterline_is_bad_and_at_it_is_good() -> None:
    assert Judge(rule()).tick(6000.001).state.phase is Phase.ACTIVE
    assert Judge(rule()).tick(6000).state.phase is Phase.IDLE


def test_so_many_bad_ticks_in_a_row_activate() -> None:
    judge = Judge(rule(bad=3))
    assert judge.ticks(BAD, BAD).state.phase is Phase.ARMING
    assert judge.tick(BAD).state.phase is Phase.ACTIVE


def test_a_good_tick_resets_the_count_of_bad_ones() -> None:
    judge = Judge(rule(bad=2))
    assert judge.ticks(BAD, GOOD, BAD).state.phase is Phase.ARMING
    assert judge.tick(BAD).state.phase is Phase.ACTIVE


def test_so_many_good_ticks_in_a_row_end_it() -> None:
    judge = Judge(rule(good=3))
    assert judge.ticks(BAD, GOOD, GOOD).state.phase is Phase.RECOVERING
    assert judge.tick(GOOD).state.phase is Phase.IDLE


def test_a_bad_tick_resets_the_count_of_good_ones() -> None:
    judge = Judge(rule(good=2))
    assert judge.ticks(BAD, GOOD, BAD).state.phase is Phase.ACTIVE
    assert judge.ticks(GOOD).state.phase is Phase.RECOVERING
    assert judge.ticks(GOOD).state.phase is Phase.IDLE


def test_a_rule_counts_a_sample_once() -> None:
    judge = Judge(rule(bad=2))
    judge.tick(BAD)
    verdict = judge.tick(None, seconds=1)
    assert (verdict.state.phase, verdict.counted, verdict.acts) == (Phase.ARMING, False, False)


def test_a_tick_that_was_woken_early_counts_nothing_not_even_for_a_new_rule() -> None:
    judge = Judge(rule())
    verdict = judge.tick(BAD, sampled=False)
    assert (verdict.state.phase, verdict.value) == (Phase.IDLE, BAD)
    assert judge.tick(None, seconds=1).state.phase is Phase.ACTIVE


def test_it_acts_only_at_a_bad_sample_that_was_not_acted_on() -> None:
    judge = Judge(rule(good=2))
    assert judge.tick(BAD).acts
    assert not judge.tick(None, seconds=1).acts
    assert not judge.tick(GOOD).acts
    assert judge.tick(BAD).acts


def test_a_sample_is_fresh_for_two_and_a_half_of_its_intervals() -> None:
    judge = Judge(rule())
    judge.tick(BAD)
    assert not judge.tick(None, seconds=25).missing
    assert judge.tick(None, seconds=0.001).missing


def test_an_unknown_tick_changes_no_count() -> None:
    judge = Judge(rule(bad=2, good=2))
    judge.ticks(BAD, None, None, None)
    assert judge.tick(BAD).state.phase is Phase.ACTIVE
    judge.ticks(GOOD, None, None, None)
    assert judge.tick(GOOD).state.phase is Phase.IDLE


def test_an_active_rule_stays_active_while_nothing_is_known_and_is_blind() -> None:
    judge = Judge(rule())
    verdict = judge.ticks(BAD, None, None, None, None)
    assert (verdict.state.phase, verdict.acts, is_blind(verdict)) == (Phase.ACTIVE, False, True)


def test_a_recovering_rule_is_not_blind() -> None:
    assert not is_blind(Judge(rule(good=9)).ticks(BAD, GOOD, None, None, None, None))


def test_the_first_tick_of_a_process_has_no_reading_and_is_not_blind_for_that() -> None:
    judge = Judge(rule())
    judge.tick(BAD)
    judge.readings = SampleReadings()
    assert not is_blind(judge.tick(None))
    assert is_blind(judge.tick(None))


def test_an_arming_count_lapses_when_nothing_is_known_for_too_long() -> None:
    judge = Judge(rule(bad=2))
    judge.tick(BAD)
    judge.tick(None, seconds=30)
    assert judge.tick(None, seconds=299).state.phase is Phase.ARMING
    assert judge.tick(None, seconds=1).state.phase is Phase.IDLE


def test_stale_is_told_once() -> None:
    judge = Judge(rule())
    judge.tick(BAD)
    judge.tick(None, seconds=30)
    assert judge.tick(None, seconds=299).changes == ()
    assert judge.tick(None, seconds=1).changes == (Change.STALE,)
    assert judge.tick(None).changes == ()


def test_after_long_enough_without_a_reading_the_rule_ends_as_if_it_were_good() -> None:
    judge = Judge(rule())
    judge.tick(BAD)
    judge.tick(None, seconds=30)
    assert judge.tick(None, seconds=3599).state.phase is Phase.ACTIVE
    verdict = judge.tick(None, seconds=1)
    assert (verdict.state.phase, verdict.state.released_blind) == (Phase.IDLE, True)
    assert set(verdict.changes) == {Change.ENDED, Change.RELEASED}
    assert judge.tick(None).changes == ()


def test_zero_seconds_hold_for_ever() -> None:
    judge = Judge(rule(), patience=Patience(Seconds(300), Seconds(0)))
    judge.tick(BAD)
    judge.tick(None, seconds=30)
    assert judge.tick(None, seconds=10**6).state.phase is Phase.ACTIVE


def test_an_idle_rule_that_has_known_nothing_for_as_long_bounds_nothing_and_tells_nothing() -> None:
    judge = Judge(rule())
    judge.tick(GOOD)
    judge.tick(None, seconds=30)
    judge.tick(None, seconds=3599)
    verdict = judge.tick(None, seconds=1)
    assert verdict.state.released_blind
    assert verdict.changes == ()


def test_a_reading_that_comes_back_makes_all_as_before() -> None:
    judge = Judge(rule())
    judge.tick(BAD)
    judge.tick(None, seconds=30)
    judge.tick(None, seconds=4000)
    verdict = judge.tick(BAD)
    assert (verdict.state.phase, verdict.state.released_blind, verdict.missing) == (Phase.ACTIVE, False, False)
    assert verdict.changes == (Change.ACTIVATED,)


def test_the_last_harm_is_the_last_tick_at_which_it_was_active_and_bad() -> None:
    judge = Judge(rule(bad=2, good=5))
    assert judge.tick(BAD).state.last_harm is None
    at = judge.tick(BAD).state.last_harm
    assert at == judge.now
    assert judge.ticks(GOOD, None, None).state.last_harm == at


def test_a_lone_bad_tick_that_never_activates_is_no_harm() -> None:
    assert Judge(rule(bad=2)).ticks(BAD, GOOD).state.last_harm is None


@pytest.mark.parametrize(
    "changed",
    [
        rule(5000, name="cpu"),
        rule(name="renamed"),
        rule(bad=7),
        rule(preview=True),
    ],
)
def test_a_changed_value_or_name_keeps_the_state(changed: Rule) -> None:
    judge = Judge(rule(good=5))
    judge.ticks(BAD, GOOD)
    judge.change(changed)
    verdict = judge.tick(None, seconds=1)
    assert (verdict.state.phase, verdict.state.id) == (Phase.RECOVERING, "NodeQOS/waterline/cpu")


@pytest.mark.parametrize("changed", [rule(80, metric="cpu_total_utilization"), rule(action="close")])
def test_a_changed_metric_or_action_starts_anew_under_another_id(changed: Rule) -> None:
    judge = Judge(rule(good=5))
    judge.ticks(BAD, GOOD)
    judge.change(changed)
    verdict = judge.tick(None, seconds=1)
    assert verdict.state.phase is Phase.IDLE
    assert verdict.state.id != "NodeQOS/waterline/cpu"


def test_a_renamed_rule_does_not_take_the_state_of_one_that_kept_its_name() -> None:
    judge = Judge(rule(name="a", bad=1), rule(name="b", bad=9))
    judge.tick(BAD)
    judge.change(rule(name="new", bad=9), rule(name="a"))
    judge.tick(None, seconds=1)
    new, kept = judge.states
    assert (new.name, new.phase, new.id) == ("new", Phase.ARMING, "NodeQOS/waterline/b")
    assert (kept.name, kept.phase, kept.id) == ("a", Phase.ACTIVE, "NodeQOS/waterline/a")


def test_two_rules_of_one_name_have_states_of_their_own() -> None:
    judge = Judge(rule(5000), rule(7000))
    judge.tick(BAD)
    assert [state.phase for state in judge.states] == [Phase.ACTIVE, Phase.IDLE]
    assert len({state.id for state in judge.states}) == 2


def test_a_rule_with_an_error_keeps_no_state_and_others_go_on() -> None:
    judge = Judge(rule(), rule(5000, name="other"))
    judge.tick(BAD)
    judge.change(rule(metric="no_such_metric"), rule(5000, name="other"))
    judge.tick(BAD)
    assert [state.name for state in judge.states] == ["other"]


marks = st.lists(st.sampled_from([Mark.BAD, Mark.GOOD, Mark.UNKNOWN]), max_size=60)
NEW = RuleState(id="r", object="o", name="n", metric="m", text=None, action="a")


@PATIENT
@given(marks, st.integers(1, 4), st.integers(1, 4))
def test_it_is_engaged_exactly_as_a_plain_reading_of_the_rule_says(seen: list[Mark], bad: int, good: int) -> None:
    """Without the unknown ticks: on after `bad` bad ones in a row, off after `good` good ones in a row."""
    state, on, run = NEW, False, 0
    for n, mark in enumerate(seen):
        state = step(state, mark, Instant(float(n)), Needed(bad, good), Patience(Seconds(1e9), Seconds(0)))
        if mark is not Mark.UNKNOWN:
            run = run + 1 if mark is (Mark.GOOD if on else Mark.BAD) else 0
            if run == (good if on else bad):
                on, run = not on, 0
        assert state.engaged is on


@PATIENT
@given(marks, st.integers(1, 4), st.integers(1, 4))
def test_harm_is_only_ever_noted_while_active_and_bad(seen: list[Mark], bad: int, good: int) -> None:
    state = NEW
    for n, mark in enumerate(seen):
        before = state.last_harm
        state = step(state, mark, Instant(float(n)), Needed(bad, good), PATIENCE)
        assert (state.last_harm != before) is (mark is Mark.BAD and state.phase is Phase.ACTIVE)
