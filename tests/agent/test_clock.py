"""The agent's clock: it never runs backwards and goes on across restarts."""

from hypothesis import given
from hypothesis import strategies as st

from slackwater.agent.clock import AgentClock
from slackwater.api.units import Instant, Wall


class Hands:
    """The machine's two clocks, moved by hand."""

    def __init__(self) -> None:
        self.monotonic = 50.0
        self.calendar = 1_000_000.0

    def clock(self) -> AgentClock:
        return AgentClock(lambda: self.monotonic, lambda: self.calendar)


def test_a_calendar_that_jumps_changes_nothing() -> None:
    hands = Hands()
    clock = hands.clock()
    before = clock.instant()
    hands.calendar -= 3600
    hands.monotonic += 10
    assert clock.instant() == before + 10


def test_after_a_restart_it_goes_on_with_the_time_it_was_away() -> None:
    hands = Hands()
    clock = hands.clock()
    clock.go_on_from(Instant(700.0), Wall(hands.calendar - 25))
    assert clock.instant() == 725.0


def test_a_last_tick_that_lies_in_the_future_counts_as_now() -> None:
    hands = Hands()
    clock = hands.clock()
    clock.go_on_from(Instant(700.0), Wall(hands.calendar + 3600))
    assert clock.instant() == 700.0


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(-1e4, 1e4), st.booleans()), max_size=30))
def test_it_never_runs_backwards_whatever_the_calendar_does_and_however_often_it_starts(
    moves: list[tuple[float, float, bool]],
) -> None:
    hands = Hands()
    clock, last = hands.clock(), 0.0
    for passed, jumped, restarted in moves:
        hands.monotonic += passed
        hands.calendar += passed + jumped
        if restarted:
            kept, wall = clock.instant(), clock.wall()
            clock = hands.clock()
            clock.go_on_from(kept, wall)
        assert clock.instant() >= last - 1e-6
        last = clock.instant()
