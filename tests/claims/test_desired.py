"""What a knob should hold: the least of the caps and of the replacement, or else of the base."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.claims.claim import Kind, Source
from slackwater.claims.desired import Wanted, cause_of, desired

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too


def cap(value: int, cause: str = "") -> Wanted:
    return Wanted(Kind.CAP, Source.THROTTLE, value, cause)


def instead(value: int, source: Source = Source.LIFT) -> Wanted:
    return Wanted(Kind.REPLACE, source, value, "")


@pytest.mark.parametrize(
    ("base", "claims", "value"),
    [
        (None, (), None),
        (100, (), 100),
        (None, (cap(50),), 50),  # unlimited is not a number
        (100, (cap(50),), 50),
        (100, (cap(200),), 100),  # a cap never raises
        (100, (cap(50), cap(30)), 30),
        (100, (instead(200),), 200),
        (None, (instead(200), cap(300)), 200),
        (100, (instead(200), cap(150)), 150),
        (100, (instead(200), instead(300, Source.THROTTLE)), 200),  # who stands first in the list of sources
    ],
)
def test_the_merge(base: int | None, claims: tuple[Wanted, ...], value: int | None) -> None:
    assert desired(base, claims) == value


wanted = st.builds(Wanted, st.sampled_from(Kind), st.sampled_from(Source), st.integers(1, 1000), st.sampled_from("abc"))


@PATIENT
@given(st.none() | st.integers(1, 1000), st.lists(wanted, max_size=6), st.randoms())
def test_the_merge_does_not_depend_on_the_order_of_the_claims(
    base: int | None, claims: list[Wanted], random: Random
) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)
    assert desired(base, shuffled) == desired(base, claims)
    assert cause_of(shuffled) == cause_of(claims)


@PATIENT
@given(st.none() | st.integers(1, 1000), st.lists(wanted.filter(lambda one: one.kind is Kind.CAP), max_size=6))
def test_a_cap_never_raises(base: int | None, caps: list[Wanted]) -> None:
    value = desired(base, caps)
    assert base is None or (value is not None and value <= base)


def test_a_cause_is_told_once() -> None:
    assert cause_of([cap(1, "b"), cap(2, "a"), cap(3, "b")]) == "a; b"
