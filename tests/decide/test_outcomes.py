"""What came of a decision: measured by a later sample, or said not to be."""

from stories import Story, batch, decisions, policy, rule

from slackwater.decide.plan import ActionKind, Measurement, Outcome


def measured(story: Story, decision: str) -> list[Measurement]:
    return [one for one in story.plan.measurements if one.decision == decision]


def throttled() -> tuple[Story, str]:
    story = Story((batch("etl"),))
    story.tick(6800, {"etl": 2000})
    return story, decisions(story.plan)[0].id


def test_the_actual_release_is_measured_at_the_next_sample() -> None:
    story, decision = throttled()
    story.tick(6050, {"etl": 1250})
    (measurement,) = measured(story, decision)
    assert list(measurement.actual) == [750, None]
    assert measurement.outcome is None


def test_a_tick_that_was_woken_early_measures_nothing() -> None:
    story, decision = throttled()
    story.tick(seconds=1, woken=True)
    assert measured(story, decision) == []


def test_the_outcome_is_that_the_metric_came_back_and_after_how_long() -> None:
    story, decision = throttled()
    story.tick(6050, {"etl": 1250})
    story.tick(6000)
    (measurement,) = measured(story, decision)
    assert measurement.outcome == Outcome(recovered=True, after_s=20)
    assert story.tick(6000).measurements == ()


def test_one_that_does_not_come_back_is_told_so_in_the_end() -> None:
    story, decision = throttled()
    outcomes = []
    for _ in range(62):
        story.tick(6050, {"etl": 1120})
        outcomes += [one.outcome for one in measured(story, decision) if one.outcome]
    assert outcomes == [Outcome(recovered=False)]


def test_what_cannot_be_measured_is_said_to_be_unmeasured_and_never_zero() -> None:
    story, decision = throttled()
    story.tick(6050, {"etl": None})
    (measurement,) = measured(story, decision)
    assert measurement.actual == (None, None)


def test_the_usage_of_a_pod_that_is_gone_is_all_released() -> None:
    story = Story((batch("etl"), batch("other", priority=-5)), policies=(policy(rule(action="evict")),))
    story.tick(6800, {"etl": 900})
    (decision,) = decisions(story.plan, ActionKind.EVICT)
    story.accepted("etl", until=15)
    assert story.tick(5000).measurements[0].actual == ()
    story.pods = story.pods[1:]
    story.tick(5000)
    (measurement,) = measured(story, decision.id)
    assert measurement.actual == (900,)
