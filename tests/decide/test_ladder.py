"""How a group is squeezed: as if everybody stepped in turn."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stories import batch

from slackwater.api.units import Millicores
from slackwater.decide.ladder import Ladder, Rung, one_step, squeeze

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too


def rung(name: str, usage: int, start: int, floor: int, step: int) -> Rung:
    return Rung(
        container=name,
        usage=Millicores(usage),
        start=Millicores(start),
        floor=Millicores(floor),
        step=Millicores(step),
        reference=Millicores(1000),
        quota=None,
    )


rungs = st.builds(
    lambda floor, above, used, step: rung("c", floor + used, floor + above, floor, step),
    st.integers(10, 200),
    st.integers(1, 2000),
    st.integers(1, 2000),
    st.integers(1, 500),
)
ladders = st.lists(rungs, min_size=1, max_size=3).map(tuple)
groups = st.lists(ladders, min_size=1, max_size=4).map(
    lambda all_rungs: [Ladder(batch(f"pod{n}"), some) for n, some in enumerate(all_rungs)]
)


def walked(group: list[Ladder], gap: int) -> tuple[list[int], list[int], int]:
    """Step by step: how many whole steps each took, what each released, and what is still open."""
    steps, cut, left = [0] * len(group), [0] * len(group), gap
    while left > 0 and any(taken < ladder.height for taken, ladder in zip(steps, group, strict=True)):
        for n, ladder in enumerate(group):
            if left <= 0 or steps[n] >= ladder.height:
                continue
            further = ladder.release(steps[n] + 1) - ladder.release(steps[n])
            if further > left:
                cut[n], left = left, 0
            else:
                steps[n], left = steps[n] + 1, left - further
    released = [ladder.release(taken) + more for ladder, taken, more in zip(group, steps, cut, strict=True)]
    return steps, released, left


@PATIENT
@given(groups, st.integers(0, 10_000))
def test_the_closed_form_takes_what_a_walk_round_by_round_would_take(group: list[Ladder], gap: int) -> None:
    taken, left = squeeze(group, Millicores(gap))
    steps, released, still = walked(group, gap)
    found = {one.ladder.pod.name: one.release for one in taken}
    assert [found.get(ladder.pod.name, 0) for ladder in group] == released
    assert left == still
    whole = {
        ladder.pod.name: n for ladder, n, out in zip(group, steps, released, strict=True) if ladder.release(n) == out
    }
    for one in taken:
        if (n := whole.get(one.ladder.pod.name)) is not None:
            assert [quota for _, quota in one.quotas] == [each.level(n) for each in one.ladder.rungs]


@PATIENT
@given(groups, st.integers(0, 10_000))
def test_what_is_released_never_exceeds_the_gap(group: list[Ladder], gap: int) -> None:
    taken, left = squeeze(group, Millicores(gap))
    assert sum(one.release for one in taken) == gap - left
    assert 0 <= left <= gap


@PATIENT
@given(groups, st.integers(0, 10_000))
def test_no_quota_lies_above_what_is_used_and_none_below_its_floor(group: list[Ladder], gap: int) -> None:
    for one in squeeze(group, Millicores(gap))[0]:
        assert all(each.floor <= quota <= max(each.start, each.usage) for each, quota in one.quotas)


@PATIENT
@given(groups, st.integers(0, 10_000))
def test_the_quotas_release_what_was_said(group: list[Ladder], gap: int) -> None:
    for one in squeeze(group, Millicores(gap))[0]:
        assert sum(max(0, each.usage - quota) for each, quota in one.quotas) == one.release


def test_nobody_steps_on_after_the_gap_is_closed_even_where_it_would_release_nothing() -> None:
    closes = Ladder(batch("closes"), (rung("c", 1000, 1000, 900, 100),))
    idle = Ladder(batch("idle"), (rung("c", 300, 1000, 100, 100),))
    taken, _ = squeeze([closes, idle], Millicores(100))
    assert [(one.ladder.pod.name, one.quotas[0][1]) for one in taken] == [("closes", 900)]


def test_one_step_is_one_step_of_everybody() -> None:
    group = [Ladder(batch("a"), (rung("c", 1000, 1000, 100, 100),)), Ladder(batch("b"), ())]
    assert [(one.ladder.pod.name, one.release) for one in one_step(group)] == [("a", 100)]
