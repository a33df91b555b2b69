"""A preview does everything but act, and never touches what a real rule does."""

from stories import Story, batch, closing, gone, policy, released, rule, squeezed

from slackwater.decide.plan import ActionKind
from slackwater.judge.states import Phase

SHOWN = rule(5000, name="shown", preview=True)
EVICTS = rule(5000, "evict", name="evicts", preview=True)
CLOSES = rule(5000, "close", name="closes", preview=True)


def test_a_preview_claims_evicts_and_closes_nothing() -> None:
    story = Story((batch("etl"),), policies=(policy(SHOWN, EVICTS, CLOSES),))
    plan = story.tick(7000, {"etl": 2000})
    assert (plan.claims, plan.evictions, plan.scheduling.disabled, plan.decisions) == ((), (), False, ())


def test_it_shows_what_it_would_have_done() -> None:
    story = Story((batch("etl"), batch("more")), policies=(policy(SHOWN, EVICTS, CLOSES),))
    story.tick(7000, {"etl": 2000, "more": 100})
    assert all(decision.preview for decision in story.shown)
    assert {(one.action, one.rule) for one in story.shown} == {
        (ActionKind.THROTTLE, "shown"),
        (ActionKind.EVICT, "evicts"),
        (ActionKind.DISABLE_SCHEDULING, "closes"),
        (ActionKind.DISABLE_SCHEDULING, "evicts"),
    } - {(ActionKind.DISABLE_SCHEDULING, "evicts")}
    (throttle,) = [one for one in story.shown if one.action is ActionKind.THROTTLE]
    assert [(one.pod, one.before, one.after) for one in throttle.operations] == [
        ("default/etl", None, 200),
        ("default/more", None, 10),
    ]


def test_what_it_shows_is_told_once_and_again_when_it_changes() -> None:
    story = Story((batch("etl"), batch("new")), policies=(policy(SHOWN),))
    told = []
    for usage in ({"etl": 3000}, {"etl": 3000}, {"etl": 100, "new": 3000}, {}):
        story.tick(6000, usage)
        told.append(len(story.shown))
    assert told == [1, 0, 1, 0]


def test_a_preview_does_not_raise_lower_or_delay_what_a_real_rule_does() -> None:
    pods = (batch("etl", limit=4000), batch("more"))
    alone = Story(pods, policies=(policy(rule()),))
    beside = Story(pods, policies=(policy(rule(), SHOWN, EVICTS, CLOSES),))
    loads = [7000, 7500, 5500, *[4000] * 8, 6500, *[4900] * 12, 3000, 3000]
    for load in loads:
        plans = [story.tick(load, {"etl": 2000, "more": 500}) for story in (alone, beside)]
        assert plans[0].claims == plans[1].claims
        assert plans[0].evictions == plans[1].evictions
        assert plans[0].scheduling == plans[1].scheduling
        assert plans[0].decisions == plans[1].decisions
        assert plans[0].memory.waits == plans[1].memory.waits
        assert plans[0].memory.windows == plans[1].memory.windows
        assert plans[0].memory.flights == plans[1].memory.flights


def test_a_preview_alone_fills_no_window_and_lengthens_no_cool_down() -> None:
    story = Story((batch("etl"),), policies=(policy(SHOWN),))
    memory = story.tick(7000, {"etl": 2000}).memory
    assert (memory.windows, memory.waits, memory.flights, memory.throttled) == ({}, {}, (), ())


def test_a_previewed_rule_goes_through_its_states_all_the_same() -> None:
    story = Story((batch("etl"),), policies=(policy(SHOWN),))
    story.tick(7000, {"etl": 2000})
    assert story.verdicts[0].state.phase is Phase.ACTIVE


def test_a_rule_that_turns_to_preview_gives_back_at_once() -> None:
    story = Story((batch("etl"),), policies=(policy(rule()),))
    assert squeezed(story.tick(7000, {"etl": 2000})) != {}
    story.policies = (policy(rule(preview=True)),)
    plan = story.tick(seconds=1, woken=True)
    assert plan.claims == ()
    assert plan.decisions[0].reason == "the last rule behind it is gone"


def test_what_is_previewed_is_what_a_real_rule_would_do() -> None:
    pods = (batch("etl"), batch("more"))
    real = Story(pods, policies=(policy(rule()),), actions=(*Story().actions, closing("x")))
    shown = Story(pods, policies=(policy(rule(preview=True)),))
    usage = {"etl": 700, "more": 1500}
    plan = real.tick(7000, usage)
    shown.tick(7000, usage)
    quotas = tuple(one for one in plan.decisions[0].operations if one.knob == "quota")
    assert shown.shown[0].operations == quotas
    assert released(plan) == sum(one.expected or 0 for one in shown.shown[0].operations)
    assert gone(plan) == []
