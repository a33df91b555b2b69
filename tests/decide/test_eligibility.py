"""Nothing is ever taken from a pod that is not eligible."""

import pytest
from msgspec.structs import replace
from stories import Story, allowing, annotated, batch, evicting, gone, policy, rule, said_of, service, squeezed

from slackwater.api.objects import Pod, PodQos, QosClass, Resources, Scope
from slackwater.api.selectors import LabelSelector
from slackwater.api.units import Bytes, Millicores
from slackwater.decide import eligibility
from slackwater.decide.settings import Settings

ANYONE = allowing("squeeze")
NOBODY = replace(allowing(), name="nobody")
SPEAKS_OF_NO_ACTIONS = PodQos(kind="PodQOSEnsurancePolicy", name="old", selector=LabelSelector())


def refused(pod: Pod, *qos: PodQos, evicts: bool = False) -> str:
    return eligibility.refusal(pod, "squeeze", qos, Settings(), evicts=evicts)


PROTECTED = [
    annotated(batch("online"), level="1"),
    annotated(batch("sensitive"), level="LC"),
    annotated(batch("hands-off"), protected="true"),
    batch("critical", priority=2_000_000_000),
    batch("dns", namespace="kube-system"),
    annotated(batch("mirror"), **{"kubernetes.io/config.mirror": "x"}),
    annotated(batch("static"), **{"kubernetes.io/config.source": "file"}),
    batch("agent", labels={"app.kubernetes.io/name": "slackwater"}),
]


@pytest.mark.parametrize("pod", PROTECTED, ids=lambda pod: pod.name)
def test_a_protected_pod_is_out_of_everything_whatever_a_podqos_allows(pod: Pod) -> None:
    assert refused(pod, ANYONE).startswith("protected")
    assert refused(pod, ANYONE, evicts=True).startswith("protected")


@pytest.mark.parametrize("pod", PROTECTED, ids=lambda pod: pod.name)
def test_no_rule_squeezes_or_evicts_a_protected_pod(pod: Pod) -> None:
    both = allowing("squeeze", "evict")
    rules = policy(rule(), rule(6100, "evict", name="evict"))
    plan = Story((pod,), policies=(rules,), pod_qos=(both,)).tick(8000, {pod.name: 4000})
    assert (plan.claims, plan.evictions) == ((), ())


def test_the_protected_namespaces_can_be_chosen() -> None:
    settings = Settings(protected_namespaces=frozenset({"monitoring"}))
    assert "monitoring" in eligibility.protection(batch("agent", namespace="monitoring"), settings)
    assert eligibility.protection(batch("dns", namespace="kube-system"), settings) == ""


OFFLINE = [
    (annotated(batch("level -1", priority=100), level="-1"), True),
    (annotated(batch("level BE", priority=100), level="BE"), True),
    (batch("negative priority", priority=-1), True),
    (batch("best effort", priority=0, qos_class=QosClass.BEST_EFFORT), True),
    (batch("best effort, no priority", priority=None, qos_class=QosClass.BEST_EFFORT), True),
    (batch("elastic", priority=0, elastic=1000), True),
    (batch("burstable of no priority", priority=0), False),
    (batch("best effort of a positive priority", priority=1, qos_class=QosClass.BEST_EFFORT), False),
    (batch("elastic of a positive priority", priority=1, elastic=1000), False),
    (annotated(batch("a level that is none", priority=0), level="7"), False),
    (service(), False),
]


@pytest.mark.parametrize(("pod", "offline"), OFFLINE, ids=lambda value: value.name if isinstance(value, Pod) else "")
def test_without_a_podqos_only_offline_work_is_touched(pod: Pod, offline: bool) -> None:
    assert (refused(pod) == "") is offline


@pytest.mark.parametrize(("pod", "offline"), OFFLINE, ids=lambda value: value.name if isinstance(value, Pod) else "")
def test_a_policy_that_does_not_speak_of_actions_changes_nothing(pod: Pod, offline: bool) -> None:
    assert (refused(pod, SPEAKS_OF_NO_ACTIONS) == "") is offline


def test_a_podqos_that_names_the_action_allows_it_for_online_work_too() -> None:
    assert refused(service(), ANYONE) == ""


def test_one_of_several_podqos_that_names_the_action_is_enough() -> None:
    assert refused(service(), NOBODY, ANYONE) == ""


def test_an_empty_list_allows_nothing_not_even_for_offline_work() -> None:
    assert refused(batch("etl"), NOBODY) == "not allowed: PodQOS nobody does not name squeeze"


def test_a_podqos_that_names_another_action_does_not_allow_this_one() -> None:
    assert refused(batch("etl"), allowing("evict")) == "not allowed: PodQOS batch does not name squeeze"


def test_a_podqos_that_does_not_match_the_pod_does_not_speak_for_it() -> None:
    elsewhere = allowing("evict", labels={"app": "other"})
    assert refused(batch("etl"), elsewhere) == ""
    assert refused(batch("etl"), replace(allowing(), namespace="other")) == ""


@pytest.mark.parametrize(
    ("scope", "matches"),
    [
        (Scope("QOSClass", False, frozenset({"Burstable"})), True),
        (Scope("QOSClass", True, frozenset({"Burstable"})), False),
        (Scope("Priority", False, frozenset({"-10"})), True),
        (Scope("Priority", False, frozenset({"0"})), False),
        (Scope("Namespace", False, frozenset({"default"})), True),
        (Scope("Namespace", True, frozenset({"default"})), False),
    ],
)
def test_a_scope_narrows_whom_a_podqos_speaks_of(scope: Scope, matches: bool) -> None:
    assert eligibility.matches(replace(ANYONE, scopes=(scope,)), batch("etl")) is matches


def test_a_daemonsets_pod_is_squeezed_only_where_a_podqos_its_level_or_its_priority_says_so() -> None:
    log = batch("log", priority=0, owner="DaemonSet", qos_class=QosClass.BEST_EFFORT)
    assert refused(log) == "protected: a DaemonSet's pod"
    assert refused(log, ANYONE) == ""
    assert refused(replace(log, priority=-1)) == ""
    assert refused(annotated(log, level="-1")) == ""


def test_a_daemonsets_pod_is_never_evicted() -> None:
    log = annotated(batch("log", owner="DaemonSet"), level="-1")
    assert refused(log, ANYONE, evicts=True) == "protected: a DaemonSet's pod is never evicted"


def test_a_pod_that_nothing_would_bring_back_is_evicted_only_where_a_podqos_allows_it() -> None:
    bare = batch("bare", owner=None)
    assert refused(bare, evicts=True) == "not allowed: nothing would bring it back, and no PodQOS allows it"
    assert refused(bare, SPEAKS_OF_NO_ACTIONS, evicts=True) != ""
    assert refused(bare, ANYONE, evicts=True) == ""
    assert refused(bare) == ""


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed", "Unknown"])
def test_only_running_pods_are_candidates(phase: str) -> None:
    assert refused(batch("etl", phase=phase), ANYONE) == f"not running ({phase})"


def test_each_action_asks_for_itself() -> None:
    qos = (allowing("evict"),)
    rules = policy(rule(), rule(6000, "evict", name="evict"))
    plan = Story((batch("etl"),), policies=(rules,), pod_qos=qos, actions=(*Story().actions,)).tick(7000, {"etl": 3000})
    assert squeezed(plan) == {}
    assert gone(plan) == ["etl"]


def test_the_refusal_is_told() -> None:
    plan = Story((batch("etl"), service())).tick(6800, {"etl": 2000, "service": 4000})
    assert said_of("service", plan.decisions) == "not allowed: no PodQOS, and not offline work"


def test_elastic_memory_alone_makes_offline_work_too() -> None:
    pod = batch("etl", priority=0)
    only_memory = replace(pod.containers[0], requests=Resources(cpu=Millicores(100), elastic_memory=Bytes(1)))
    assert refused(replace(pod, containers=(only_memory,))) == ""


def test_a_pod_that_was_evicted_is_not_evicted_again() -> None:
    story = Story((batch("etl"),), policies=(policy(rule(action="evict")),), actions=(evicting(),))
    assert gone(story.tick(7000, {"etl": 3000})) == ["etl"]
    story.accepted("etl")
    assert gone(story.tick()) == []
