"""What was done is told act by act, a line each; what was not done is told as well."""

from demo_results import performance, throttle

from slackwater.api.units import Wall
from slackwater.decide import sentence
from slackwater.demo import account, report
from slackwater.demo.performance import GivingBack


def test_an_act_is_told_in_the_words_of_explain_a_line_a_pod() -> None:
    (told,) = account.tellings(performance())
    assert told.deeds == sentence.telling(throttle()).deeds
    assert "node CPU 1.9 cores, waterline 1.6" in told.cause
    assert told.deeds[0] in report.html(performance(), Wall(0.0)).replace("&gt;", ">")


def test_only_the_last_round_is_told() -> None:
    played = performance(decisions=(throttle(1), throttle(2), throttle(3)), first_actions=("1", "2"))
    assert len(account.tellings(played)) == 2


def test_acts_too_many_to_tell_are_counted() -> None:
    played = performance(decisions=tuple(throttle(number) for number in range(1, 12)))
    assert len(account.tellings(played)) == account.MOST_TOLD
    assert account.left_out(played) == "and 3 more of the kind, in the journal"
    assert not account.left_out(performance())


def test_gap_plan_and_measurement_come_with_words() -> None:
    said = " ".join(account.closing(performance(decisions=(throttle(gap=318.0, released=164.0, actual=187.0),))))
    assert "318m had to go (all above the waterline, and the margin); planned 164m, measured 187m" in said
    assert "no more to give" in said


def test_a_plan_that_closes_its_gap_is_not_called_short() -> None:
    assert "no more to give" not in " ".join(account.closing(performance()))


def test_a_release_that_was_never_measured_is_said_to_be() -> None:
    assert "not measured" in " ".join(account.closing(performance(decisions=(throttle(actual=None),))))


def test_an_agent_that_did_not_give_back_by_itself_is_told_with_what_kept_it() -> None:
    kept = GivingBack(after=None, waited=25.1, cpu_cores=2.0, others_cores=1.76)
    said = " ".join(account.closing(performance(giving_back=kept)))
    assert "did NOT give back by itself within 25 s" in said
    assert "2.00 cores, others 1.76 of them, waterline 1.62" in said
    assert "it did so at its end" in said


def test_what_did_not_come_back_even_at_its_end_is_not_said_to_have() -> None:
    kept = GivingBack(after=None, waited=25.0)
    said = " ".join(account.closing(performance(giving_back=kept, differences=("a: 1 before, 2 after",))))
    assert "at its end" not in said
    assert "NOT everything is as before" in said
