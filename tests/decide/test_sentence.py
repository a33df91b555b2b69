"""How a decision is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from slackwater.api.units import Instant, Wall
from slackwater.decide.plan import ActionKind, Considered, Decision, Operation, Outcome
from slackwater.decide.sentence import amount, brief, figure, full


def throttled(*operations: Operation, candidates: tuple[Considered, ...] = (), preview: bool = False) -> Decision:
    return Decision(
        id="1",
        at=Wall(0),
        instant=Instant(0),
        action=ActionKind.THROTTLE,
        preview=preview,
        policy="waterline2",
        rule="cpu-usage",
        metric="cpu_total_usage",
        unit="millicores",
        value=6800,
        waterline=6000,
        gap=880,
        bad_ticks=2,
        candidates=candidates,
        operations=operations,
    )


def squeezed(pod: str = "default/etl-7", container: str = "main", actual: float | None = None) -> Operation:
    return Operation(
        pod=pod,
        uid=pod,
        container=container,
        knob="quota",
        before=1400,
        after=520,
        expected=880,
        actual=actual,
        who="BestEffort, -10",
    )


def weighed(before: int, after: int, pod: str = "default/etl-7") -> Operation:
    return Operation(pod=pod, uid=pod, knob="weight", before=before, after=after)


def evicted(pod: str = "default/etl-7", refused: str = "") -> Operation:
    return Operation(pod=pod, uid=pod, expected=880, refused=refused)


def left(pod: str, why: str = "not allowed: no PodQOS") -> Considered:
    return Considered(pod, False, why)


def test_a_throttle_is_told_from_cause_to_outcome() -> None:
    decision = throttled(
        squeezed(actual=850), candidates=(Considered("default/etl-7", True, "offline work"), left("default/web-1"))
    )
    told = full(replace(decision, stopped="gap closed", outcome=Outcome(recovered=True, after_s=10)))
    assert told == (
        "node CPU 6.8 cores, waterline 6 (policy waterline2, rule cpu-usage, bad for 2 ticks); to release 0.88; "
        "etl-7 (BestEffort, -10) 1.4 -> 0.52 expected 0.88, was 0.85; web-1 not allowed: no PodQOS; "
        "stopped: gap closed; back under the waterline after 10 s"
    )


def test_what_is_done_to_one_pod_is_told_together() -> None:
    told = full(throttled(squeezed(), squeezed("default/etl-8"), weighed(1024, 102)))
    assert "etl-7 (BestEffort, -10) 1.4 -> 0.52 expected 0.88, yields: weight 1024 -> 102; etl-8 " in told


def test_containers_are_named_where_a_pod_has_several() -> None:
    assert "main 1.4 -> 0.52 expected 0.88, side 1.4" in full(throttled(squeezed(), squeezed(container="side")))


def test_a_service_that_is_given_a_higher_weight_is_lifted() -> None:
    assert "web is lifted: weight 2048 -> 262144" in full(throttled(weighed(2048, 262144, "default/web")))


def test_pods_of_one_name_are_told_with_their_namespaces() -> None:
    told = full(throttled(squeezed("a/etl"), squeezed("b/etl"), squeezed("b/other")))
    assert "; a/etl (" in told
    assert "; b/etl (" in told
    assert "; other (" in told


def test_a_restore_grants_and_reaches_unlimited() -> None:
    operation = replace(squeezed(), before=520, after=None, expected=140.0, actual=120.0)
    decision = replace(throttled(operation, weighed(102, 1024)), action=ActionKind.RESTORE, gap=2600, bad_ticks=0)
    told = full(decision)
    assert "room to give back 2.6; " in told
    assert "0.52 -> unlimited grants 0.14, was 0.12, weighs as before: weight 102 -> 1024" in told


def test_in_brief_unlimited_is_no_number_of_cores() -> None:
    operation = replace(squeezed(), before=520, after=None)
    decision = replace(throttled(operation), action=ActionKind.RESTORE)
    assert brief(decision).startswith("etl-7 0.52 cores -> unlimited: node CPU")


def test_an_eviction_names_its_pod_and_what_refused_it() -> None:
    told = full(replace(throttled(evicted(refused="429: a disruption budget")), action=ActionKind.EVICT))
    assert "etl-7 not evicted, refused: 429: a disruption budget" in told


@pytest.mark.parametrize(
    ("action", "preview", "words"),
    [
        (ActionKind.DISABLE_SCHEDULING, False, "; scheduling disabled"),
        (ActionKind.DISABLE_SCHEDULING, True, "; would disable scheduling"),
        (ActionKind.ENABLE_SCHEDULING, False, "; scheduling enabled again"),
        (ActionKind.ENABLE_SCHEDULING, True, "; would enable scheduling again"),
    ],
)
def test_scheduling_is_told_without_pods(action: ActionKind, preview: bool, words: str) -> None:
    assert full(replace(throttled(), action=action, preview=preview, gap=None)).endswith(words)


def test_a_preview_says_what_it_would_have_done() -> None:
    told = full(throttled(squeezed(), preview=True))
    assert told.startswith("preview, nothing is changed: node CPU")
    assert "; would: etl-7 (BestEffort, -10) 1.4 -> 0.52" in told
    evicting = replace(throttled(evicted(), preview=True), action=ActionKind.EVICT)
    assert "would: etl-7 evict " in full(evicting)


@pytest.mark.parametrize(
    ("why", "of_two"),
    [
        ("at its floor", "at their floor"),
        ("uses less than its floor", "use less than their floor"),
        ("not allowed: no PodQOS", "not allowed: no PodQOS"),
    ],
)
def test_a_reason_is_told_in_the_number_of_its_pods(why: str, of_two: str) -> None:
    one, other = left("default/a", why), left("default/b", why)
    assert f"; a {why}" in full(throttled(candidates=(one,)))
    assert f"; a, b {of_two}" in full(throttled(candidates=(one, other)))


def test_those_left_alone_are_told_together_by_reason() -> None:
    candidates = [left(f"default/web-{n}") for n in range(5)]
    candidates += [left(f"default/db-{n}", f"reason {n}") for n in range(5)]
    told = full(throttled(candidates=tuple(candidates)))
    assert told.endswith(
        "; web-0, web-1, web-2 and 2 more not allowed: no PodQOS; db-0 reason 0; db-1 reason 1; db-2 reason 2; 2 more not taken"
    )


def test_many_pods_are_shortened() -> None:
    told = full(throttled(*(squeezed(f"default/etl-{n}") for n in range(20))))
    assert told.endswith("; and 14 more pods")


def test_other_rules_and_their_reason_are_told() -> None:
    told = full(replace(throttled(), also=("a/x", "b/y"), reason="the policy says abnormal"))
    assert "bad for 2 ticks; also a/x, b/y); the policy says abnormal; to release" in told


def test_what_was_not_measured_is_said() -> None:
    assert full(replace(throttled(), value=None, waterline=None)).startswith("node CPU not measured (policy")


def test_an_activation_that_did_not_help_says_so() -> None:
    assert full(replace(throttled(), outcome=Outcome(recovered=False, after_s=60))).endswith(
        "; not back under the waterline after 60 s"
    )


def test_an_event_has_one_line() -> None:
    decision = throttled(weighed(1024, 102), squeezed(), squeezed("default/etl-8"), squeezed("default/etl-9"))
    assert (
        brief(decision) == "etl-7 1.4 -> 0.52 cores and 2 more: node CPU 6.8 cores, waterline 6 (waterline2/cpu-usage)"
    )
    assert brief(throttled()) == "nothing taken: node CPU 6.8 cores, waterline 6 (waterline2/cpu-usage)"
    assert brief(throttled(squeezed(), preview=True)).startswith("would: etl-7 1.4 -> 0.52 cores: ")
    disabled = replace(throttled(), action=ActionKind.DISABLE_SCHEDULING)
    assert brief(disabled).startswith("scheduling disabled: node CPU")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (6000, "millicores", "6 cores"),
        (1234.5, "millicores", "1.23 cores"),
        (52, "millicores", "0.052 cores"),
        (0, "millicores", "0 cores"),
        (-0.1, "millicores", "0 cores"),
        (-500, "millicores", "-0.5 cores"),
        (3 << 29, "bytes", "1.5 GiB"),
        (85.25, "percent", "85.25 %"),
        (1000, "", "1000"),
        (12, "ms", "12 ms"),
    ],
)
def test_amounts_are_told_in_peoples_units(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text


@given(st.floats(-1e6, 1e6))
def test_a_figure_never_ends_in_zeros_that_say_nothing(value: float) -> None:
    text = figure(value, "percent")
    assert text != "-0"
    assert not ("." in text and text.endswith(("0", ".")))
    assert float(text) == pytest.approx(value, abs=0.0051)


@given(st.lists(st.sampled_from(["a/x", "b/x", "b/y"]), max_size=5), st.sampled_from(ActionKind), st.booleans())
def test_every_decision_can_be_told_on_one_line(pods: list[str], action: ActionKind, preview: bool) -> None:
    decision = replace(throttled(*map(squeezed, pods), preview=preview), action=action)
    for told in (full(decision), brief(decision)):
        assert "\n" not in told
        assert "None" not in told
