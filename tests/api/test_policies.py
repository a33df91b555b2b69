"""Policies in both generations, and rules that are wrong one by one."""

import pytest

from slackwater.api.objects import Policy, Rule, Strategy
from slackwater.api.selectors import LabelSelector, Operator, Requirement
from slackwater.api.units import Seconds

from .manifest import errors, fields, loaded, of_kind, only, warnings

RULE = "{name: r, actionName: squeeze, metricRule: {name: cpu_total_usage, value: 4000}}"


def rule(extra: str) -> Rule:
    text = (
        f"rules:\n- name: r\n  actionName: squeeze\n  metricRule: {{name: cpu_total_usage, value: 4000}}\n  {extra}\n"
    )
    return only(Policy, of_kind("NodeQOS", text)).rules[0]


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("NodeQOS", "rules"),
        ("NodeQOS", "objectiveEnsurances"),
        ("NodeQOSEnsurancePolicy", "objectiveEnsurances"),
        ("NodeQOSEnsurancePolicy", "objectiveEnsurance"),
    ],
)
def test_both_generations_say_the_same(kind: str, key: str) -> None:
    policy = only(Policy, of_kind(kind, f"{key}: [{RULE}]"))
    expected = Rule(name="r", action="squeeze", metric="cpu_total_usage", value=4000.0, line=5, field=f"spec.{key}[0]")
    assert (policy.kind, policy.name, policy.namespace, policy.rules) == (kind, "w", None, (expected,))


def test_a_whole_policy_with_probe_and_call_outs_loads_as_printed() -> None:
    text = """
        apiVersion: ensurance.crane.io/v1alpha1
        kind: NodeQOSEnsurancePolicy
        metadata:
          name: "busy"
          labels:
            app: "ours"
        spec:
          nodeQualityProbe:
            timeoutSeconds: 10
            nodeLocalGet:
              localCacheTTLSeconds: 60
          objectiveEnsurances:
          - name: "cpu"
            avoidanceThreshold: 2 #(1)
            restoredThreshold: 3 #(2)
            actionName: "close" #(3)
            strategy: "Preview" #(4)
            metricRule:
              name: "cpu_total_usage" #(5)
              value: 6000 #(6)
        """
    policy = only(Policy, text)
    (found,) = policy.rules
    assert policy.cache_ttl == Seconds(60)
    assert loaded(text).problems == ()
    assert (found.avoidance_threshold, found.restore_threshold, found.strategy, found.value) == (
        2,
        3,
        Strategy.PREVIEW,
        6000.0,
    )


@pytest.mark.parametrize(
    ("extra", "thresholds"),
    [
        ("strategy: None", (1, 1)),
        ("avoidanceThreshold: 0", (1, 1)),
        ("avoidanceThreshold:", (1, 1)),
        ("avoidanceThreshold: 4", (4, 1)),
        ("restoreThreshold: 5", (1, 5)),
        ("restoredThreshold: 6", (1, 6)),
    ],
)
def test_a_threshold_of_nothing_is_one(extra: str, thresholds: tuple[int, int]) -> None:
    found = rule(extra)
    assert (found.avoidance_threshold, found.restore_threshold) == thresholds


@pytest.mark.parametrize(
    ("written", "value"),
    [("4k", 4000.0), ('"0.5"', 0.5), ("0.5", 0.5), ("500m", 0.5), ("1Gi", 2.0**30), ("1e3", 1000.0)],
)
def test_a_waterline_is_a_quantity_and_is_not_rounded(written: str, value: float) -> None:
    policy = only(Policy, of_kind("NodeQOS", f"rules: [{{actionName: a, metricRule: {{name: m, value: {written}}}}}]"))
    assert policy.rules[0].value == value


WRONG = [
    ("actionName: a\nmetricRule: {name: m}", "metricRule.value"),
    ("actionName: a\nmetricRule: {name: m, value: six}", "metricRule.value"),
    ("actionName: a\nmetricRule: {value: 6}", "metricRule.name"),
    ("metricRule: {name: m, value: 6}", "actionName"),
    ("actionName: a", ""),
    ("actionName: a\npolicy: abnormal\nmetricRule: {name: m, value: 6}", "policy"),
    ("actionName: a\nmetricRule: 6", "metricRule"),
    ("actionName: a\nstrategy: preview\nmetricRule: {name: m, value: 6}", "strategy"),
    ("actionName: a\navoidanceThreshold: -1\nmetricRule: {name: m, value: 6}", "avoidanceThreshold"),
    ('actionName: a\nrestoreThreshold: "2"\nmetricRule: {name: m, value: 6}', "restoreThreshold"),
    ("actionName: a\navoidanceThreshold: true\nmetricRule: {name: m, value: 6}", "avoidanceThreshold"),
    ("actionName: 7\nmetricRule: {name: m, value: 6}", "actionName"),
    (
        "actionName: a\nmetricRule: {name: m, value: 6, selector: {matchExpressions: [{key: k, operator: Near}]}}",
        "metricRule.selector.matchExpressions[0].operator",
    ),
]


@pytest.mark.parametrize(("wrong", "field"), WRONG)
def test_a_wrong_rule_is_left_out_and_the_others_stay(wrong: str, field: str) -> None:
    lines = wrong.replace("\n", "\n  ")
    found = loaded(of_kind("NodeQOS", f"rules:\n- name: wrong\n  {lines}\n- {RULE}\n"))
    (policy,) = (each for each in found.objects if isinstance(each, Policy))
    assert [one.name for one in policy.rules] == ["r"]
    assert fields(errors(found)) == ["spec.rules[0]" + (f".{field}" if field else "")]


def test_an_error_names_file_line_field_value_and_remedy() -> None:
    (problem,) = errors(
        loaded(
            of_kind("NodeQOS", "rules:\n- name: r\n  actionName: a\n  metricRule:\n    name: m\n    value: 6 cores\n")
        )
    )
    assert (problem.file, problem.line, problem.field, problem.value) == (
        "a.yaml",
        10,
        "spec.rules[0].metricRule.value",
        "6 cores",
    )
    assert "without spaces" in problem.remedy


def test_two_rules_of_one_name_are_one_too_many() -> None:
    found = loaded(of_kind("NodeQOS", f"rules: [{RULE}, {RULE}]"))
    assert fields(errors(found)) == ["spec.rules[1].name"]
    assert len(only_policy(found.objects).rules) == 1


def only_policy(objects: tuple[object, ...]) -> Policy:
    (policy,) = (each for each in objects if isinstance(each, Policy))
    return policy


def test_a_rule_without_a_name_is_named_by_what_it_does() -> None:
    policy = only(Policy, of_kind("NodeQOS", "rules: [{actionName: a, metricRule: {name: m, value: 6}}]"))
    assert policy.rules[0].name == "m-a"


def test_an_unknown_field_is_a_warning_that_suggests() -> None:
    found = loaded(
        of_kind("NodeQOS", f"selectors: {{}}\nrules: [{RULE.replace('name: r,', 'name: r, avoidanceTreshold: 2,')}]")
    )
    assert fields(warnings(found)) == ["spec.selectors", "spec.rules[0].avoidanceTreshold"]
    assert "did you mean selector?" in warnings(found)[0].remedy
    assert "did you mean avoidanceThreshold?" in warnings(found)[1].remedy
    assert len(only_policy(found.objects).rules) == 1


def test_a_wrong_selector_takes_the_whole_policy_out_rather_than_widen_it() -> None:
    found = loaded(of_kind("NodeQOS", f"selector: {{matchLabels: {{pool: 1}}}}\nrules: [{RULE}]"))
    assert found.objects == ()
    assert fields(errors(found)) == ["spec.selector.matchLabels.pool"]


def test_selectors_take_labels_and_expressions() -> None:
    text = f"selector:\n  matchLabels: {{a: b}}\n  matchExpressions: [{{key: c, operator: NotIn, values: [d]}}, {{key: e, operator: Exists}}]\nrules: [{RULE}]"
    assert only(Policy, of_kind("NodeQOS", text)).selector == LabelSelector(
        (
            Requirement("a", Operator.IN, frozenset({"b"})),
            Requirement("c", Operator.NOT_IN, frozenset({"d"})),
            Requirement("e", Operator.EXISTS),
        )
    )


@pytest.mark.parametrize(
    "expression",
    ["{key: c, operator: In}", "{key: c, operator: Exists, values: [d]}", "{operator: Exists}", "{key: c}", "3"],
)
def test_an_expression_that_cannot_be_meant_is_refused(expression: str) -> None:
    assert loaded(of_kind("NodeQOS", f"selector: {{matchExpressions: [{expression}]}}\nrules: [{RULE}]")).objects == ()


def test_an_expression_needs_its_operator() -> None:
    found = loaded(of_kind("NodeQOS", f"selector: {{matchExpressions: [{{key: c, values: [d]}}]}}\nrules: [{RULE}]"))
    assert fields(errors(found)) == ["spec.selector.matchExpressions[0].operator"]


def test_an_http_probe_needs_its_port() -> None:
    probe = "nodeQualityProbe: {{httpGet: {{{0}path: /}}}}\nrules: [{1}]"
    assert fields(errors(loaded(of_kind("NodeQOS", probe.format("", RULE))))) == ["spec.nodeQualityProbe.httpGet.port"]
    assert fields(warnings(loaded(of_kind("NodeQOS", probe.format("port: 80, ", RULE))))) == [
        "spec.nodeQualityProbe.httpGet"
    ]


def test_a_policy_without_rules_is_warned_of() -> None:
    assert "no rules" in warnings(loaded(of_kind("NodeQOS", "selector: {}")))[0].message


PROBED = """
    nodeQualityProbe:
      prometheus:
        targets: ['localhost:9090']
        queryInterval: 60s
        metrics:
        - {name: node_busy, query: 'avg(busy{node="$node"})'}
        variables:
        - name: node
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
    rules:
    - name: by-day
      actionName: close
      policy: |
        abnormal { input.node_busy > 0.6 }
    """


def test_rego_and_prometheus_are_checked_and_reported_as_not_served() -> None:
    found = loaded(of_kind("NodeQOS", PROBED))
    policy = only_policy(found.objects)
    assert errors(found) == []
    assert fields(warnings(found)) == ["spec.nodeQualityProbe.prometheus", "spec.rules[0].policy"]
    assert all("not served yet" in warning.message for warning in warnings(found))
    assert policy.not_served == ("spec.nodeQualityProbe.prometheus",)
    assert policy.rules[0].text == "abnormal { input.node_busy > 0.6 }\n"


@pytest.mark.parametrize(
    ("right", "wrong", "field"),
    [
        ("60s", "60", "queryInterval"),
        ("60s", "soon", "queryInterval"),
        ("['localhost:9090']", "[]", "targets"),
        ("name: node_busy", "name: 1-busy", "metrics[0].name"),
        ("{fieldRef: {fieldPath: spec.nodeName}}", "{}", "variables[0].valueFrom"),
    ],
)
def test_a_probe_that_is_wrong_is_an_error_before_it_is_served(right: str, wrong: str, field: str) -> None:
    found = loaded(of_kind("NodeQOS", PROBED.replace(right, wrong)))
    assert fields(errors(found)) == [f"spec.nodeQualityProbe.prometheus.{field}"]


def test_objectives_of_pods_are_checked_and_never_judged_against_the_node() -> None:
    text = f"selector: {{matchLabels: {{app: a}}}}\nobjectiveEnsurances: [{RULE}]"
    found = loaded(of_kind("PodQOSEnsurancePolicy", text))
    policy = only_policy(found.objects)
    assert (policy.namespace, policy.rules, policy.not_served) == ("default", (), ("spec.objectiveEnsurances",))
    assert fields(warnings(found)) == ["spec.objectiveEnsurances"]
