"""A verdict that says who is hurt: nothing is taken from them, nor from anybody beside or above them."""

from msgspec.structs import replace
from stories import Story, batch, decisions, policy, rule, said_of, service, squeezed

from slackwater.decide.engine import Plan, decide


def hurting(story: Story, name: str, *uids: str) -> Plan:
    """This tick's plan, had that rule said that these pods are hurt."""
    before, standing = story.memory, story.plan
    story.tick(7000, {"low": 500, "middle": 3000, "service": 1000})
    verdicts = tuple(replace(one, victims=uids) if one.rule.rule.name == name else one for one in story.verdicts)
    story.memory, story.plan = before, standing
    return decide(replace(story.situation(), verdicts=verdicts))


def pods() -> Story:
    made = (batch("low", priority=-20), batch("middle", priority=-10), service())
    return Story(made, policies=(policy(rule(), rule(6900, name="other")),))


def test_only_groups_below_the_lowest_of_the_hurt_are_candidates() -> None:
    story = pods()
    story.policies = (policy(rule()),)
    plan = hurting(story, "cpu", "middle", "service")
    assert squeezed(plan) == {"low": 50}
    assert said_of("middle", decisions(plan)) == "it is the one that is hurt"


def test_the_victim_of_one_rule_is_nobodys_candidate() -> None:
    plan = hurting(pods(), "other", "middle")
    assert "middle" not in squeezed(plan)


def test_pods_beside_the_hurt_one_are_left_alone_too() -> None:
    story = Story((batch("low", priority=-20), batch("middle"), batch("beside")))
    plan = hurting(story, "cpu", "beside")
    assert set(squeezed(plan)) == {"low"}
    assert said_of("middle", decisions(plan)) == "not below the one that is hurt"
