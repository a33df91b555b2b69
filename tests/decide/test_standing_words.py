"""The words in which a standing is told, where no simulated story needs them."""

import pytest
from msgspec.structs import replace

from slackwater.api.units import Amount, Seconds
from slackwater.decide.plan import ActionKind
from slackwater.decide.sentence import span
from slackwater.decide.standing import Brakes, LastAct, PassedOver, RuleStanding
from slackwater.decide.standing_words import _brakes, state

ACTIVE = RuleStanding(
    policy="waterline",
    rule="cpu",
    action="squeeze",
    does=(ActionKind.THROTTLE,),
    preview=False,
    state="active",
    metric="cpu_total_usage",
    unit="millicores",
    value=Amount(7000),
    waterline=6000,
    distance=-1000,
    bad_ticks=1,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.4, "0.4 s"),
        (40, "40 s"),
        (100, "1 min 40 s"),
        (300, "5 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (3605, "1 h"),
        (90_000, "1 d 1 h"),
        (59.7, "1 min"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_an_active_rule_says_for_how_long_it_has_been_bad() -> None:
    assert state(ACTIVE) == "active, node CPU 7 cores, 1 above its waterline of 6, bad for 1 tick"


def test_a_recovering_rule_counts_its_good_ticks() -> None:
    recovering = replace(
        ACTIVE, state="recovering", distance=1000, value=Amount(5000), good_ticks=1, good_ticks_needed=3
    )
    assert state(recovering) == "recovering, node CPU 5 cores, 1 under its waterline of 6, good for 1 of 3 ticks"


def test_a_rule_that_touched_pods_says_how_many_and_why_no_more() -> None:
    act = LastAct(action=ActionKind.THROTTLE, ago_s=Seconds(100), taken=2, stopped="gap closed", left_alone={})
    assert state(replace(ACTIVE, last=(act,))).endswith(
        "; its last throttle, 1 min 40 s earlier, touched 2 pods (gap closed)"
    )


def test_a_rule_that_has_not_been_judged_says_so() -> None:
    assert state(replace(ACTIVE, state="new")) == "has not been judged yet"


def test_brakes_name_the_key_that_holds_them() -> None:
    brakes = Brakes(used=3, per_hour=0, per_tick=1, next_s=None, passed_over=(PassedOver("default/etl", Seconds(20)),))
    (part,) = _brakes(brakes)
    assert part.head == "evictions: 3 in the last hour"
    assert part.lines == (
        "at most 1 a tick (evictionsPerTick)",
        "default/etl was refused, and is passed over for 20 s more",
    )
