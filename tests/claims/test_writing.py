"""What is done to one knob, and that whatever happens in between, it comes back."""

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from slackwater.claims.claim import Kind, Source
from slackwater.claims.desired import Wanted, desired
from slackwater.claims.writing import NOTHING_TO_DO, Act, Computed, act_on
from slackwater.snapshot.knobs import KnobMark, Value

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine too

KUBELETS = Computed(100_000)


def cap(value: int) -> Wanted:
    return Wanted(Kind.CAP, Source.THROTTLE, value, "policy waterline")


def mark(
    base: Value = 100_000, *, before: Value = 100_000, after: Value = 50_000, remembered: bool = False
) -> KnobMark:
    return KnobMark(base=base, remembered=remembered, before=before, after=after, cause="policy waterline")


def test_a_knob_without_claim_and_without_mark_is_never_touched() -> None:
    assert act_on(12_345, (), None, KUBELETS) == NOTHING_TO_DO


def test_the_mark_is_set_before_the_first_write() -> None:
    act = act_on(100_000, (cap(50_000),), None, KUBELETS)
    assert act == Act(mark=mark(), writes=True, value=50_000, before=100_000)


def test_a_cap_that_does_not_bite_marks_and_writes_nothing() -> None:
    assert act_on(100_000, (cap(200_000),), None, KUBELETS) == NOTHING_TO_DO


def test_what_stood_there_is_the_base_where_it_is_not_what_kubelet_would_have_set() -> None:
    act = act_on(80_000, (cap(50_000),), None, KUBELETS)
    assert act.differs
    assert act.mark == mark(80_000, before=80_000, remembered=True)


def test_what_cannot_be_computed_is_remembered() -> None:
    act = act_on(1024, (cap(100),), None, None)
    assert act.mark is not None
    assert (act.mark.base, act.mark.remembered, act.differs) == (1024, True, False)


def test_what_holds_already_is_not_written_again() -> None:
    assert act_on(50_000, (cap(50_000),), mark(), KUBELETS) == Act()


def test_a_new_claim_is_marked_with_the_value_before_and_after() -> None:
    act = act_on(50_000, (cap(30_000),), mark(), KUBELETS)
    assert act.mark == mark(before=50_000, after=30_000)
    assert (act.writes, act.value) == (True, 30_000)


def test_without_a_claim_it_goes_back_and_the_mark_goes_last() -> None:
    assert act_on(50_000, (), mark(), KUBELETS) == Act(writes=True, value=100_000, before=50_000, unmark=True)


def test_the_base_is_computed_anew_when_it_goes_back() -> None:
    assert act_on(50_000, (), mark(), Computed(200_000)).value == 200_000


def test_a_remembered_base_goes_back_as_it_was_found() -> None:
    assert act_on(50_000, (), mark(80_000, remembered=True), KUBELETS).value == 80_000


def test_a_crash_between_mark_and_write_leaves_only_a_mark_to_take_away() -> None:
    assert act_on(100_000, (), mark(), KUBELETS) == Act(unmark=True)


def test_a_crash_between_a_second_mark_and_its_write_is_ours_still() -> None:
    assert act_on(50_000, (), mark(before=50_000, after=30_000), KUBELETS).value == 100_000


def test_another_writers_value_is_written_over_while_a_claim_stands() -> None:
    act = act_on(70_000, (cap(50_000),), mark(before=50_000), KUBELETS)
    assert (act.foreign, act.writes, act.value) == (True, True, 50_000)


def test_another_writers_value_is_left_alone_once_nothing_is_claimed() -> None:
    assert act_on(70_000, (), mark(), KUBELETS) == Act(unmark=True)


def test_another_writers_value_becomes_the_base_that_is_remembered() -> None:
    act = act_on(2048, (cap(100),), mark(1024, before=1024, after=100, remembered=True), None)
    assert act.mark is not None
    assert act.mark.base == 2048


def test_a_remembered_base_that_becomes_what_kubelet_sets_is_computed_again() -> None:
    act = act_on(100_000, (cap(50_000),), mark(80_000, before=80_000, remembered=True), KUBELETS)
    assert act.mark is not None
    assert (act.mark.base, act.mark.remembered) == (100_000, False)


def test_a_resize_below_the_cap_ends_the_mark() -> None:
    assert act_on(20_000, (cap(50_000),), mark(), Computed(20_000)) == Act(unmark=True, foreign=True)


def test_a_resize_is_followed_while_squeezed() -> None:
    act = act_on(50_000, (cap(50_000),), mark(), Computed(200_000))
    assert act.mark == mark(200_000)
    assert not act.writes


class Knob:
    """
    A knob in a world where anything may happen: the agent dies between any two steps, others write, kubelet resizes.

    Ours are odd numbers and others' are even, so it is always known whose a value is.
    """

    def __init__(self, value: int, *, computable: bool) -> None:
        self.value: Value = value
        self.mark: KnobMark | None = None
        self.computable = computable
        self.kubelets = value
        self.others = value
        self.claims: tuple[Wanted, ...] = ()

    @property
    def computed(self) -> Computed | None:
        return Computed(self.kubelets) if self.computable else None

    def tick(self, steps: int = 3) -> None:
        """As the reconciler does it, dying after so many steps."""
        act = act_on(self.value, self.claims, self.mark, self.computed)
        if act.mark is not None and steps > 0:
            self.mark = act.mark
        if act.writes and steps > 1:
            self.value = act.value
        if act.unmark and steps > 2:
            self.mark = None

    def write(self, value: int) -> None:
        self.value = self.others = 2 * value

    def resize(self, value: int) -> None:
        self.kubelets = 2 * value
        self.write(value)

    def claim(self, values: list[int], kind: Kind) -> None:
        self.claims = tuple(Wanted(kind, Source.THROTTLE, 2 * value + 1, "") for value in values)

    @property
    def holds_ours(self) -> bool:
        return self.value is not None and self.value % 2 == 1


values = st.integers(1, 40)
events: st.SearchStrategy[Callable[[Knob], None]] = st.one_of(
    st.integers(0, 3).map(lambda steps: lambda knob: knob.tick(steps)),
    st.just(lambda knob: knob.tick()),
    values.map(lambda value: lambda knob: knob.write(value)),
    values.map(lambda value: lambda knob: knob.resize(value)),
    st.tuples(st.lists(values, max_size=2), st.sampled_from(Kind)).map(lambda said: lambda knob: knob.claim(*said)),
)


@settings(PATIENT, max_examples=400)
@given(values, st.booleans(), st.lists(events, max_size=25))
def test_whatever_happens_ours_never_stands_without_a_mark_and_all_comes_back(
    start: int, computable: bool, happened: list[Callable[[Knob], None]]
) -> None:
    knob = Knob(2 * start, computable=computable)
    for event in happened:
        event(knob)
        assert knob.mark is not None or not knob.holds_ours
    knob.claims = ()
    for _ in range(2):
        knob.tick()
    assert knob.mark is None
    assert not knob.holds_ours
    assert knob.value in ({knob.others} if not computable else {knob.others, knob.kubelets})


@PATIENT
@given(values, st.lists(st.one_of(values, st.none()), max_size=20), st.lists(st.integers(0, 3), max_size=20))
def test_where_only_kubelet_writes_it_ends_at_what_kubelet_would_have_set(
    start: int, resizes: list[int | None], deaths: list[int]
) -> None:
    knob = Knob(2 * start, computable=True)
    caps = count(1)
    for resize, steps in zip(resizes, deaths, strict=False):
        knob.claim([next(caps)], Kind.CAP) if resize is None else knob.resize(resize)
        knob.tick(steps)
    knob.claims = ()
    for _ in range(2):
        knob.tick()
    assert (knob.value, knob.mark) == (knob.kubelets, None)


@PATIENT
@given(values, st.lists(events, max_size=15), st.lists(values, min_size=1, max_size=3))
def test_one_whole_tick_makes_it_hold_what_is_desired(
    start: int, happened: list[Callable[[Knob], None]], caps: list[int]
) -> None:
    knob = Knob(2 * start, computable=False)
    for event in happened:
        event(knob)
    knob.claim(caps, Kind.CAP)
    knob.tick()
    assert knob.value == desired(knob.others, knob.claims)


@pytest.mark.parametrize("found", [50_000, 100_000, 70_000, None])
def test_doing_it_twice_is_doing_it_once(found: Value) -> None:
    first = act_on(found, (cap(50_000),), mark(), KUBELETS)
    value = first.value if first.writes else found
    again = act_on(value, (cap(50_000),), first.mark or mark(), KUBELETS)
    assert replace(again, mark=None) == Act()
