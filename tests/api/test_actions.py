"""AvoidanceAction, and PodQOS: what to do, and to whom it may be done."""

import pytest

from slackwater.api.objects import AvoidanceAction, CpuThrottle, Eviction, MemoryThrottle, PodQos, Scope, Weight
from slackwater.api.selectors import LabelSelector
from slackwater.api.units import Seconds

from .manifest import errors, fields, loaded, of_kind, only, warnings


def action(spec: str) -> AvoidanceAction:
    return only(AvoidanceAction, of_kind("AvoidanceAction", spec))


def test_an_action_that_says_neither_disables_scheduling() -> None:
    found = action("description: no new pods")
    assert (found.cpu_throttle, found.memory_throttle, found.eviction, found.throttles) == (None, None, None, False)
    assert found.cool_down == Seconds(300)


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ("{}", CpuThrottle(min_ratio=10, step_ratio=10)),
        ("{minCPURatio: 0, stepCPURatio: 0}", CpuThrottle(min_ratio=10, step_ratio=10)),
        ("{minCPURatio: 25, stepCPURatio: 5}", CpuThrottle(min_ratio=25, step_ratio=5)),
        ("{minCPURatio: 100, weight: keep}", CpuThrottle(min_ratio=100, weight=Weight.KEEP)),
        ("{weight: yield}", CpuThrottle(weight=Weight.YIELD)),
    ],
)
def test_ratios_of_nothing_are_ten(ratios: str, expected: CpuThrottle) -> None:
    assert action(f"throttle: {{cpuThrottle: {ratios}}}").cpu_throttle == expected


def test_an_eviction_takes_its_own_grace_or_the_pods() -> None:
    assert action("eviction: {}").eviction == Eviction(grace=None)
    assert action("eviction: {terminationGracePeriodSeconds: 0, keepSchedulable: true}").eviction == Eviction(
        grace=Seconds(0), keep_schedulable=True
    )


def test_throttling_memory_is_understood_and_not_served() -> None:
    found = loaded(of_kind("AvoidanceAction", "throttle: {memoryThrottle: {forceGC: true}}"))
    assert isinstance(found.objects[0], AvoidanceAction)
    assert found.objects[0].memory_throttle == MemoryThrottle(force_gc=True)
    assert fields(warnings(found)) == ["spec.throttle.memoryThrottle"]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("coolDownSeconds: -1", "coolDownSeconds"),
        ("coolDownSeconds: 5m", "coolDownSeconds"),
        ("throttle: {cpuThrottle: {minCPURatio: 101}}", "throttle.cpuThrottle.minCPURatio"),
        ("throttle: {cpuThrottle: {stepCPURatio: -1}}", "throttle.cpuThrottle.stepCPURatio"),
        ("throttle: {cpuThrottle: {stepCPURatio: 10.5}}", "throttle.cpuThrottle.stepCPURatio"),
        ("throttle: {cpuThrottle: {weight: low}}", "throttle.cpuThrottle.weight"),
        ("throttle: {}", "throttle"),
        ("throttle: hard", "throttle"),
        ("eviction: {terminationGracePeriodSeconds: -30}", "eviction.terminationGracePeriodSeconds"),
        ("eviction: {keepSchedulable: yes}", "eviction.keepSchedulable"),
        (f"description: {'x' * 1025}", "description"),
    ],
)
def test_an_action_that_is_wrong_plays_no_part(spec: str, field: str) -> None:
    found = loaded(of_kind("AvoidanceAction", spec))
    assert found.objects == ()
    assert fields(errors(found)) == [f"spec.{field}"]


def test_a_description_may_be_as_long_as_it_may() -> None:
    assert len(action(f"description: {'x' * 1024}").description) == 1024


@pytest.mark.parametrize(
    ("line", "allowed"),
    [("allowedActions: [a, b]", frozenset({"a", "b"})), ("allowedActions: []", frozenset()), ("", None)],
)
def test_allowing_nothing_is_not_the_same_as_not_speaking_of_it(line: str, allowed: frozenset[str] | None) -> None:
    assert only(PodQos, of_kind("PodQOS", f"labelSelector: {{}}\n{line}")).allowed_actions == allowed


def test_a_list_left_empty_by_mistake_is_warned_of() -> None:
    found = loaded(of_kind("PodQOS", "labelSelector: {}\nallowedActions:"))
    assert "write []" in warnings(found)[0].remedy


def test_scopes_say_what_labels_cannot() -> None:
    spec = """
        scopeSelector:
          matchExpressions:
          - {scopeName: QOSClass, operator: In, values: [BestEffort]}
          - {scopeName: Priority, operator: In, values: ["0-1000", -5]}
          - {scopeName: Namespace, operator: NotIn, values: [kube-system]}
        """
    assert only(PodQos, of_kind("PodQOS", spec)).scopes == (
        Scope("QOSClass", negated=False, values=frozenset({"BestEffort"})),
        Scope("Priority", negated=False, values=frozenset({"0-1000", "-5"})),
        Scope("Namespace", negated=True, values=frozenset({"kube-system"})),
    )


@pytest.mark.parametrize(
    "expression",
    [
        "{scopeName: QOSClass, operator: In, values: [Best]}",
        "{scopeName: Priority, operator: In, values: [high]}",
        '{scopeName: Priority, operator: In, values: ["9-1"]}',
        "{scopeName: Namespace, operator: Exists, values: [a]}",
        "{scopeName: Namespace, operator: In, values: []}",
        "{scopeName: Namespace, operator: In, values: [7]}",
        "{scopeName: PriorityClass, operator: In, values: [a]}",
    ],
)
def test_a_scope_that_cannot_be_meant_takes_its_pod_qos_out(expression: str) -> None:
    assert loaded(of_kind("PodQOS", f"scopeSelector: {{matchExpressions: [{expression}]}}")).objects == ()


def test_what_selects_nothing_is_an_error_and_an_empty_selector_is_every_pod() -> None:
    assert loaded(of_kind("PodQOS", "allowedActions: []")).objects == ()
    assert only(PodQos, of_kind("PodQOS", "labelSelector: {}")).selector == LabelSelector()


def test_two_selectors_are_one_too_many() -> None:
    found = loaded(of_kind("PodQOS", "labelSelector: {}\nselector: {}"))
    assert (fields(errors(found)), found.objects) == (["spec.selector"], ())


def test_a_single_action_must_be_a_list_all_the_same() -> None:
    found = loaded(of_kind("PodQOS", "labelSelector: {}\nallowedActions: close"))
    assert (fields(errors(found)), found.objects) == (["spec.allowedActions"], ())


def test_the_older_kind_is_namespaced_and_spells_its_selector_otherwise() -> None:
    older = only(
        PodQos, of_kind("PodQOSEnsurancePolicy", "selector: {matchLabels: {app: a}}", name="q, namespace: batch")
    )
    assert (older.kind, older.namespace, older.allowed_actions) == ("PodQOSEnsurancePolicy", "batch", None)
