"""What becomes of a pod when its containers start, end and start again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.objects import Container
from slackwater.lab.lifecycle import BackOff, Outcome, expand, phase, starts_again

RUNNING = Outcome(started=True, running=True)
DONE = Outcome(started=True, exit_code=0)
BROKEN = Outcome(started=True, exit_code=1)
WAITING = Outcome(started=True, exit_code=1, starts_again=True)
FRESH = Outcome(starts_again=True)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([FRESH], "Pending"),
        ([RUNNING, FRESH], "Pending"),
        ([RUNNING], "Running"),
        ([RUNNING, DONE], "Running"),
        ([WAITING], "Running"),  # it comes back
        ([DONE, DONE], "Succeeded"),
        ([DONE, BROKEN], "Failed"),
        ([DONE, Outcome(sidecar=True, started=True, running=True)], "Succeeded"),  # a sidecar holds nobody back
        ([DONE, Outcome(sidecar=True, started=True, exit_code=1)], "Succeeded"),
    ],
)
def test_a_phase_is_what_the_containers_add_up_to(outcomes: list[Outcome], expected: str) -> None:
    assert phase(outcomes) == expected


@pytest.mark.parametrize(
    ("policy", "code", "expected"),
    [("Always", 0, True), ("Always", 1, True), ("OnFailure", 0, False), ("OnFailure", 1, True), ("Never", 1, False)],
)
def test_the_policy_says_which_end_is_a_new_start(policy: str, code: int, expected: bool) -> None:
    assert starts_again(policy, Container(name="main"), code) is expected


def test_a_sidecar_always_starts_again() -> None:
    assert starts_again("Never", Container(name="proxy", sidecar=True), 0)


def test_the_first_restart_is_immediate_and_each_next_waits_twice_as_long() -> None:
    waits: list[float] = [BackOff().wait(restarts) for restarts in range(8)]
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300]


@given(st.integers(0, 10_000))
def test_no_wait_is_longer_than_the_longest(restarts: int) -> None:
    assert 0 <= BackOff().wait(restarts) <= 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [("$(WHO)", "you"), ("to $(WHO)!", "to you!"), ("$$(WHO)", "$(WHO)"), ("$(NOBODY)", "$(NOBODY)"), ("$WHO", "$WHO")],
)
def test_variables_are_replaced_as_in_a_cluster(text: str, expected: str) -> None:
    assert expand(text, {"WHO": "you"}) == expected
