"""A run ends where it stands, and its tidying is left alone."""

import os
import signal

import pytest

from slackwater.demo.interrupts import ENDING, Interrupted, Interrupts, delayed


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_what_is_going_on(number: signal.Signals) -> None:
    with Interrupts().watched(), pytest.raises(Interrupted):
        os.kill(os.getpid(), number)


def test_a_second_signal_does_not_disturb_the_tidying() -> None:
    done: list[str] = []

    def impatient() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            done.append("tidied")

    with Interrupts().watched(), pytest.raises(Interrupted):
        impatient()
    assert done == ["tidied"]


def test_once_the_tidying_has_begun_even_the_first_signal_is_too_late() -> None:
    interrupts = Interrupts()
    with interrupts.watched():
        interrupts.disarm()
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_in_a_delayed_block_comes_after_it() -> None:
    done: list[str] = []

    def block() -> None:
        with delayed():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("finished")

    with Interrupts().watched(), pytest.raises(Interrupted):
        block()
    assert done == ["finished"]


def test_afterwards_signals_are_whose_they_were() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts().watched():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) is before
