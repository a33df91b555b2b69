"""Which rules are in force on this node, and which are wrong and why."""

import pytest
from judging import CAPACITY, CLOSE, SQUEEZE, in_force, rule, view
from msgspec.structs import replace

from slackwater.api.objects import AvoidanceAction, Eviction, Node, Rule
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.judge.rules import rules_in_force
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.cpu import CPU_TOTAL_USAGE
from slackwater.metrics.metric import UNABLE, Ability, Catalogue

ON_BATCH_NODES = LabelSelector((Requirement("pool", Operator.IN, frozenset({"batch"})),))


def error(one: Rule) -> str:
    (found,) = in_force(one)
    return found.error


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (rule(action="none"), "there is no AvoidanceAction named 'none'"),
        (rule(metric="none"), "there is no metric named 'none'"),
        (rule(None), "metricRule.value is missing"),
        (rule(6), "waterline 6 is under 1 % of the node's 8000: cpu_total_usage counts in millicores"),
        (
            rule(1 << 20, metric="memory_total_usage", action="close"),
            "waterline 1Mi is under 1 % of the node's 16Gi: memory_total_usage counts in bytes",
        ),
        (
            rule(0.8, metric="cpu_total_utilization"),
            "waterline 0.8 is under 1 % of the node's 100: cpu_total_utilization counts in percent",
        ),
        (
            replace(rule(), selector=ON_BATCH_NODES),
            "metricRule.selector: cpu_total_usage carries no labels to select by",
        ),
        (replace(rule(metric=None), text="package x"), "policies in Rego are not served yet"),
    ],
)
def test_a_wrong_rule_has_one_reason_and_hurts_only_itself(one: Rule, said: str) -> None:
    assert error(one) == said
    assert [found.error for found in in_force(one, rule())] == [said, ""]


@pytest.mark.parametrize("value", [80, 4000, 4000.5])
def test_a_waterline_of_one_percent_of_the_node_or_more_is_plausible(value: float) -> None:
    assert error(rule(value)) == ""


def test_a_rule_on_a_metric_that_cannot_do_its_action_is_an_error() -> None:
    why = Ability(able=False, quantified=False, why="this kernel cannot")
    other = Catalogue.of([replace(CPU_TOTAL_USAGE, throttle=why, evict=UNABLE)])
    (found,) = rules_in_force(view(rule()), other, CAPACITY)
    assert found.error == "cpu_total_usage cannot be throttled: this kernel cannot"


def test_a_policy_applies_only_where_its_selector_matches_the_node() -> None:
    here = view(rule())
    elsewhere = replace(here, policies=(replace(here.policies[0], selector=ON_BATCH_NODES),))
    assert rules_in_force(elsewhere, BUILTIN, CAPACITY) == ()
    labelled = replace(elsewhere, node=Node(name="node", labels={"pool": "batch"}))
    assert len(rules_in_force(labelled, BUILTIN, CAPACITY)) == 1


def test_rules_come_in_the_same_order_whatever_the_order_of_the_policies() -> None:
    here = view(rule())
    other = replace(here.policies[0], name="another")
    one = rules_in_force(replace(here, policies=(other, *here.policies)), BUILTIN, CAPACITY)
    assert one == rules_in_force(replace(here, policies=(*here.policies, other)), BUILTIN, CAPACITY)
    assert [found.policy for found in one] == ["another", "waterline"]


@pytest.mark.parametrize(
    ("action", "does"),
    [
        (CLOSE, (False, False, True)),
        (SQUEEZE, (True, False, False)),
        (AvoidanceAction(name="a", eviction=Eviction()), (False, True, True)),
        (AvoidanceAction(name="a", eviction=Eviction(keep_schedulable=True)), (False, True, False)),
        (replace(SQUEEZE, eviction=Eviction()), (True, True, True)),
    ],
)
def test_what_an_action_does_follows_from_what_it_has(action: AvoidanceAction, does: tuple[bool, bool, bool]) -> None:
    (found,) = rules_in_force(view(rule(action=action.name), actions=(action,)), BUILTIN, CAPACITY)
    assert (found.throttles, found.evicts, found.disables_scheduling) == does
