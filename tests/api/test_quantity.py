"""Quantities against the grammar that Kubernetes publishes: sign, digits with or without a point, and one of three kinds of suffix."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slackwater.api import quantity

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}

digits = st.text("0123456789", min_size=1, max_size=12)
numbers = st.one_of(
    digits,
    st.builds("{}.{}".format, digits, digits),
    st.builds("{}.".format, digits),
    st.builds(".{}".format, digits),
)
signs = st.sampled_from(["", "+", "-"])
exponents = st.builds("{}{}{}".format, st.sampled_from("eE"), signs, st.integers(0, 30))
suffixes = st.one_of(st.sampled_from([*DECIMAL, *BINARY]), exponents)


def meant_by(suffix: str) -> Fraction:
    if suffix in DECIMAL:
        return Fraction(10) ** DECIMAL[suffix]
    if suffix in BINARY:
        return Fraction(1024) ** BINARY[suffix]
    return Fraction(10) ** int(suffix[1:])


@given(signs, numbers, suffixes)
def test_whatever_the_grammar_writes_is_read_exactly(sign: str, number: str, suffix: str) -> None:
    expected = Fraction(number) * meant_by(suffix) * (-1 if sign == "-" else 1)
    assert quantity.parse(f"{sign}{number}{suffix}") == expected


@given(st.text("0123456789.+-eEnumkKMGTPi ", max_size=8))
def test_nothing_but_the_grammar_is_read(text: str) -> None:
    number = text.lstrip("+-")
    assume(len(text) - len(number) <= 1)
    end = len(number) - len(number.lstrip("0123456789."))
    in_grammar = any(c.isdigit() for c in number[:end]) and number[:end].count(".") <= 1
    suffix = number[end:]
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix != "Ei":
        exponent = suffix[1:].removeprefix("+") if suffix[1] == "+" else suffix[1:].removeprefix("-")
        in_grammar = in_grammar and exponent.isdigit()
        assume(not exponent.isdigit() or int(exponent) <= 60)
    else:
        in_grammar = in_grammar and suffix in {**DECIMAL, **BINARY}
    if in_grammar:
        quantity.parse(text)
    else:
        with pytest.raises(quantity.Malformed):
            quantity.parse(text)


@given(st.integers(-(10**15), 10**15))
def test_whole_numbers_from_yaml_are_themselves(number: int) -> None:
    assert quantity.parse(number) == number


@given(st.decimals(0, 10**6, places=4).map(float))
def test_a_float_from_yaml_is_what_the_user_wrote(number: float) -> None:
    assert quantity.parse(number) == Fraction(repr(number))


@given(st.fractions(0, 10**6))
def test_units_are_rounded_up_and_by_less_than_one(amount: Fraction) -> None:
    exact = quantity.Quantity(amount)
    assert 0 <= quantity.millicores(exact) - amount * 1000 < 1
    assert 0 <= quantity.whole_bytes(exact) - amount < 1


def test_4000_and_4k_are_the_same() -> None:
    assert quantity.parse("4k") == quantity.parse(4000) == quantity.parse("4e3") == quantity.parse("4E3")


def test_a_lone_e_is_exa_and_not_an_exponent() -> None:
    assert quantity.parse("1E") == 10**18
    with pytest.raises(quantity.Malformed):
        quantity.parse("1e")


def test_a_half_is_a_half() -> None:
    assert quantity.as_float(quantity.parse("0.5")) == 0.5


def test_three_tenths_are_exactly_three_tenths() -> None:
    assert sum(quantity.parse("0.1") for _ in range(3)) == quantity.parse("300m")


@pytest.mark.parametrize(
    ("written", "millicores", "size"),
    [
        ("500m", 500, 1),
        ("1.5", 1500, 2),
        ("100u", 1, 1),
        ("1n", 1, 1),
        ("2", 2000, 2),
        ("1Ki", 1_024_000, 1024),
        ("0", 0, 0),
    ],
)
def test_amounts_in_units(written: str, millicores: int, size: int) -> None:
    amount = quantity.parse(written)
    assert (quantity.millicores(amount), quantity.whole_bytes(amount)) == (millicores, size)


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("2K", "k (1000) or Ki (1024)"),
        ("1gi", "Gi"),
        ("6 cores", "without spaces"),
        ("", "digits"),
        (True, "a number"),
        (None, "a number"),
        ([], "a number"),
        (float("nan"), "digits"),
        ("1e999999999", "exponent from"),
        ("1" * 65, "digits"),
        ("\u0661", "digits"),
    ],
)
def test_what_is_refused_says_what_to_write(written: object, remedy: str) -> None:
    with pytest.raises(quantity.Malformed) as refused:
        quantity.parse(written)
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0, "0"), (1000, "1000"), (1536, "1.5Ki"), (1 << 20, "1Mi"), (25_276_500_000, "23.54Gi"), (1 << 70, "1024Ei")],
)
def test_bytes_are_said_in_the_largest_suffix_that_fits(amount: float, said: str) -> None:
    assert quantity.binary(amount) == said
