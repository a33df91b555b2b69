"""What holds of imprecise rules whatever happens: in turn, a step at a time, and all of it comes back."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stories import Story, batch, gone, policy, rule, service, squeezed

GREEDY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FULL, FLOOR, STEP = 2000, 200, 200
COOL_DOWN = 60
PRESSURES = st.lists(st.sampled_from([0.0, 10.0, 50.0, None]), min_size=1, max_size=25)


def node(action: str = "squeeze") -> Story:
    pods = (batch("low", priority=-20, limit=FULL), batch("high", limit=FULL), service())
    return Story(pods, policies=(policy(rule(20, action, metric="cpu_pressure_some_10s", good=2)),))


def lived(story: Story, pressure: float | None) -> dict[str, int]:
    """One tick in which everybody uses all that is left to it."""
    batch_work = None if pressure is None else 0.0
    story.pressing = {"low": batch_work, "high": batch_work, "service": pressure}
    held = squeezed(story.plan)
    story.tick(usage={name: held.get(name, FULL) for name in ("low", "high")}, hungry=held)
    return squeezed(story.plan)


@GREEDY
@given(PRESSURES)
def test_nobody_gives_before_those_below_are_at_their_floors(pressures: list[float | None]) -> None:
    story = node()
    for pressure in pressures:
        held = lived(story, pressure)
        assert "high" not in held or held["low"] == FLOOR


@GREEDY
@given(PRESSURES)
def test_a_tick_moves_one_group_by_one_step_at_most(pressures: list[float | None]) -> None:
    story, before = node(), dict[str, int]()
    for pressure in pressures:
        held = lived(story, pressure)
        moved = {name: abs(before.get(name, FULL) - held.get(name, FULL)) for name in ("low", "high")}
        assert sorted(moved.values()) in ([0, 0], [0, STEP])
        before = held


@GREEDY
@given(PRESSURES)
def test_once_nobody_presses_everything_comes_back_for_good(pressures: list[float | None]) -> None:
    story = node()
    for pressure in pressures:
        lived(story, pressure)
    waited = max([COOL_DOWN, *(wait.seconds for wait in story.memory.waits.values())])
    ticks = int(waited / 10) + 2 * FULL // STEP + 5
    assert [lived(story, 0.0) for _ in range(ticks)][-1] == {}
    assert not story.plan.claims


@GREEDY
@given(PRESSURES)
def test_no_two_evictions_lie_within_a_cool_down(pressures: list[float | None]) -> None:
    story, went = node("evict"), list[float]()
    for pressure in pressures:
        lived(story, pressure)
        went += [story.now] * len(gone(story.plan))
    assert all(later - earlier >= COOL_DOWN for earlier, later in pairwise(went))
