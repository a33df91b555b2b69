"""The loop: by the timer or by a wake-up, and on after a tick that failed."""

import logging
import threading

import pytest

from slackwater.agent.loop import Loop
from slackwater.api.units import Seconds


def at_once() -> Seconds:
    return Seconds(0.0)


def never() -> Seconds:
    return Seconds(3600.0)


def still() -> float:
    return 0.0


def test_it_ends_after_so_many_ticks() -> None:
    ticks: list[bool] = []
    Loop(still).run(ticks.append, at_once, ticks=3)
    assert ticks == [True, True, True]


def test_a_tick_that_fails_is_logged_with_its_reason_and_the_next_one_comes(caplog: pytest.LogCaptureFixture) -> None:
    ticks: list[bool] = []

    def tick(by_timer: bool) -> None:
        ticks.append(by_timer)
        if len(ticks) == 1:
            raise ZeroDivisionError("no cores")

    with caplog.at_level(logging.ERROR):
        Loop(still).run(tick, at_once, ticks=2)
    assert len(ticks) == 2
    assert "no cores" in caplog.text


def test_a_change_wakes_it_between_two_ticks_of_the_timer() -> None:
    loop = Loop(still)
    ticks: list[bool] = []

    def tick(by_timer: bool) -> None:
        ticks.append(by_timer)
        if len(ticks) == 1:
            threading.Thread(target=loop.wake).start()
        else:
            loop.stop()

    loop.run(tick, never)
    assert ticks == [True, False]


def test_told_to_stop_it_takes_no_further_tick() -> None:
    loop = Loop(still)
    ticks: list[bool] = []

    def tick(by_timer: bool) -> None:
        ticks.append(by_timer)
        loop.stop()

    loop.run(tick, at_once)
    assert ticks == [True]


def test_being_woken_a_hundred_thousand_times_before_it_listens_neither_blocks_nor_ticks_more_than_once() -> None:
    loop = Loop(still)
    for _ in range(100_000):
        loop.wake()
    ticks: list[bool] = []
    loop.run(ticks.append, at_once, ticks=1)
    assert ticks == [True]
