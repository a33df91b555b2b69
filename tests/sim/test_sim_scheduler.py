"""How the simulated CPU is shared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.sim.scheduler import Group, Member, group, member, shares

AMOUNTS = st.floats(0, 8000)
WEIGHTS = st.integers(2, 10_000)


def flat(*members: Member) -> Group:
    return group(1, members)


def test_who_wants_less_than_there_is_gets_what_it_wants() -> None:
    assert shares(flat(member(0, 100, 1000), member(1, 1, 2000)), 8000) == {0: 1000, 1: 2000}


def test_scarcity_is_shared_by_weight() -> None:
    given_ = shares(flat(member(0, 300, 9000), member(1, 100, 9000)), 8000)
    assert given_ == {0: pytest.approx(6000), 1: pytest.approx(2000)}


def test_what_one_does_not_need_goes_to_the_others() -> None:
    given_ = shares(flat(member(0, 300, 1000), member(1, 100, 9000), member(2, 100, 9000)), 8000)
    assert given_ == {0: 1000, 1: pytest.approx(3500), 2: pytest.approx(3500)}


def test_nobody_gets_more_than_its_quota_however_much_is_free() -> None:
    assert shares(flat(member(0, 100, 9000, 500)), 8000) == {0: 500}


def test_a_levels_weight_bounds_all_that_is_in_it() -> None:
    level = group(100, (member(0, 9999, 9000), member(1, 9999, 9000)))
    given_ = shares(group(1, (level, member(2, 300, 9000))), 8000)
    assert given_[2] == pytest.approx(6000)
    assert given_[0] == pytest.approx(1000)


@given(st.lists(st.tuples(WEIGHTS, AMOUNTS, st.none() | AMOUNTS), min_size=1, max_size=8), AMOUNTS)
def test_all_is_given_that_is_wanted_and_there_is_and_to_nobody_more_than_it_wants(
    wishes: list[tuple[int, float, float | None]], capacity: float
) -> None:
    members = [member(key, weight, wish, cap) for key, (weight, wish, cap) in enumerate(wishes)]
    given_ = shares(flat(*members), capacity)
    assert sum(given_.values()) == pytest.approx(min(capacity, sum(one.wants for one in members)), abs=1e-3)
    assert all(given_[one.key] <= one.wants + 1e-6 for one in members)
