"""Whole files: what is no manifest, what is not read, what is not served, and what only shows across files."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.manifests import load
from slackwater.api.manifests.crosscheck import cross_check
from slackwater.api.objects import AvoidanceAction, Node, Pod, PodQos, Policy
from slackwater.api.problems import Problem, Severity

from .manifest import errors, fields, loaded, of_kind, pod, warnings

ACTION = of_kind("AvoidanceAction", "eviction: {}", name="close")
OTHER = of_kind("AvoidanceAction", "throttle: {cpuThrottle: {minCPURatio: 10}}", name="squeeze")


METRICS = ("cpu_total_usage", "cpu_total_utilization", "memory_total_usage", "memory_total_utilization")


def policy(
    action: str = "close", metric: str = "cpu_total_usage", value: object = 4000, name: str = "w", selector: str = "{}"
) -> str:
    rule = f"{{name: r, actionName: {action}, metricRule: {{name: {metric}, value: {value}}}}}"
    return of_kind("NodeQOS", f"selector: {selector}\nrules:\n- {rule}", name=name)


def node(cpu: str, pool: str) -> str:
    return f"apiVersion: v1\nkind: Node\nmetadata: {{name: {pool}, labels: {{pool: {pool}}}}}\nstatus: {{capacity: {{cpu: {cpu}}}}}\n"


def crossed(*documents: str, whole: bool = True) -> tuple[Problem, ...]:
    return cross_check(loaded("---\n".join(documents)).items, whole=whole, metrics=METRICS)


def test_a_file_gives_its_objects_and_where_each_came_from() -> None:
    found = loaded(
        "---\n".join([ACTION, policy(), pod("containers: [{name: c}]", metadata="name: p, namespace: batch")])
    )
    assert found.documents == 3
    assert [(item.index, item.line, item.kind, item.namespace, item.name) for item in found.items] == [
        (0, 1, "AvoidanceAction", "", "close"),
        (1, 7, "NodeQOS", "", "w"),
        (2, 15, "Pod", "batch", "p"),
    ]
    assert [type(each) for each in found.objects] == [AvoidanceAction, Policy, Pod]


def test_a_document_that_does_not_parse_hurts_only_itself() -> None:
    found = loaded(f"{ACTION}---\na: b: c\n---\n{policy()}")
    assert [len(item.objects) for item in found.items] == [1, 0, 1]
    assert len(errors(found)) == 1


def test_a_document_that_is_wrong_is_still_known_by_its_name() -> None:
    (item,) = loaded(of_kind("AvoidanceAction", "coolDownSeconds: -1", name="close")).items
    assert (item.kind, item.name, item.objects) == ("AvoidanceAction", "close", ())


@pytest.mark.parametrize(
    "fragment",
    [
        "spec:\n  containers:\n  - image: x\n",
        "- a\n- b\n",
        "just words\n",
        "apiVersion: v1\nmetadata: {name: x}\n",
        "kind: ''\n",
    ],
)
def test_a_fragment_gets_one_clear_error(fragment: str) -> None:
    (problem,) = loaded(fragment).problems
    assert problem.severity is Severity.ERROR
    assert "fragment" in problem.message


def test_a_kind_that_is_not_ours_is_a_warning() -> None:
    (problem,) = loaded(of_kind("Deployment", "replicas: 1", version="apps/v1")).problems
    assert (problem.severity, problem.field, problem.value) == (Severity.WARNING, "kind", "Deployment")


def test_a_misspelt_kind_of_ours_is_an_error_that_suggests() -> None:
    (problem,) = loaded(of_kind("NodeQoS", "rules: []")).problems
    assert (problem.severity, problem.remedy) == (Severity.ERROR, "did you mean NodeQOS?")


@pytest.mark.parametrize("version", ["v1", "ensurance.crane.io", "apps/v1"])
def test_a_kind_of_another_group_is_not_taken_for_ours(version: str) -> None:
    found = loaded(policy().replace("ensurance.crane.io/v1alpha1", version))
    assert (fields(errors(found)), found.objects) == (["apiVersion"], ())


def test_a_later_version_of_our_group_is_read() -> None:
    assert loaded(policy().replace("v1alpha1", "v1beta1")).objects != ()


def test_a_list_is_the_objects_in_it() -> None:
    entries = [pod("containers: [{name: c}]", metadata="name: a"), "kind: Nothing\n"]
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        "- " + entry.strip().replace("\n", "\n  ") + "\n" for entry in entries
    )
    found = loaded(text)
    assert [item.kind for item in found.items] == ["Pod", "Nothing"]
    assert (found.items[1].problems[0].field, found.items[1].problems[0].line) == ("items[1].kind", 9)


TEMPLATE = """
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: t}
    data:
      spec: |
        predictionMetrics:
        - resourceIdentifier: cpu
          type: ExpressionQuery
          expressionQuery: {expression: 'rate(x{node="{{.metadata.name}}"}[5m])'}
          algorithm:
            algorithmType: dsp
            dsp:
              sampleInterval: 60s
              historyLength: 3d
              estimators: {fft: [{highFrequencyThreshold: "0.005"}]}
        predictionWindowSeconds: 3600
    """

TIMED = """
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: t}
    data:
      config.yaml: |
        globalConfig:
          timeBasedQoSPolicies:
          - name: nights
            enable: true
            startTime: "22:00"
            endTime: 08:00
            timeZone: Europe/Berlin
            selector: {matchLabels: {kind: online}}
            targetQoSLevel: -1
            checkInterval: 30s
    """


@pytest.mark.parametrize(("text", "field"), [(TEMPLATE, "data.spec"), (TIMED, "data[config.yaml]")])
def test_what_comes_later_is_checked_and_reported_as_not_served(text: str, field: str) -> None:
    found = loaded(text)
    assert errors(found) == []
    assert fields(warnings(found)) == [field]
    assert "not served yet" in warnings(found)[0].message


@pytest.mark.parametrize(
    ("text", "right", "wrong", "field", "line"),
    [
        (TIMED, '"22:00"', "25:00", "data[config.yaml].globalConfig.timeBasedQoSPolicies[0].startTime", 11),
        (TIMED, "-1", "7", "data[config.yaml].globalConfig.timeBasedQoSPolicies[0].targetQoSLevel", 15),
        (TIMED, "Europe/Berlin", "half past", "data[config.yaml].globalConfig.timeBasedQoSPolicies[0].timeZone", 13),
        (TIMED, "globalConfig:", "globalConfig: [", "data[config.yaml]", 6),
        (
            TEMPLATE,
            "algorithmType: dsp",
            "algorithmType: guess",
            "data.spec.predictionMetrics[0].algorithm.algorithmType",
            12,
        ),
        (TEMPLATE, "60s", "often", "data.spec.predictionMetrics[0].algorithm.dsp.sampleInterval", 14),
    ],
)
def test_a_mistake_in_a_document_inside_a_document_has_the_files_line(
    text: str, right: str, wrong: str, field: str, line: int
) -> None:
    problem = errors(loaded(text.replace(right, wrong)))[0]
    assert (problem.field, problem.line) == (field, line)


def test_a_filter_that_filters_nothing_is_warned_of() -> None:
    found = loaded(TEMPLATE.replace("0.005", "0.05"))
    assert [problem.field.rpartition(".")[2] for problem in warnings(found)] == ["spec", "highFrequencyThreshold"]


def test_a_prediction_is_not_served_yet() -> None:
    spec = "targetRef: {kind: Node, name: n}\npredictionMetrics: [{resourceIdentifier: cpu, type: ResourceQuery, algorithm: {algorithmType: percentile}}]"
    found = loaded(of_kind("TimeSeriesPrediction", spec, version="prediction.crane.io/v1alpha1"))
    assert (errors(found), fields(warnings(found)), found.objects) == ([], ["kind"], ())


@pytest.mark.parametrize(
    ("metric", "field"),
    [
        ("{resourceIdentifier: cpu, type: MetricQuery, algorithm: {}}", "metricQuery"),
        ("{resourceIdentifier: cpu, type: ResourceQuery}", "algorithm"),
        ("{type: ResourceQuery, algorithm: {}}", "resourceIdentifier"),
    ],
)
def test_a_prediction_that_is_wrong_is_an_error_before_it_is_served(metric: str, field: str) -> None:
    spec = f"targetRef: {{kind: Node, name: n}}\npredictionMetrics: [{metric}]"
    found = loaded(of_kind("TimeSeriesPrediction", spec, version="prediction.crane.io/v1alpha1"))
    assert fields(errors(found)) == [f"spec.predictionMetrics[0].{field}"]


def test_a_configmap_of_somebody_else_is_left_alone() -> None:
    assert fields(warnings(loaded("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"))) == ["kind"]


def test_an_action_that_nobody_defines_is_found_across_files() -> None:
    (problem,) = crossed(policy("squeze"), OTHER)
    assert (problem.severity, problem.line, problem.field) == (Severity.ERROR, 7, "spec.rules[0].actionName")
    assert problem.remedy == "did you mean squeeze?"


def test_an_action_that_is_defined_wrongly_is_not_missing_as_well() -> None:
    assert crossed(policy(), of_kind("AvoidanceAction", "coolDownSeconds: -1", name="close")) == ()


def test_a_policy_checked_alone_may_name_an_action_of_another_file() -> None:
    assert [problem.severity for problem in crossed(policy(), whole=False)] == [Severity.WARNING]
    assert [problem.severity for problem in crossed(policy(), whole=True)] == [Severity.ERROR]


def test_an_allowed_action_that_nobody_defines_is_warned_of() -> None:
    (problem,) = crossed(ACTION, of_kind("PodQOS", "labelSelector: {}\nallowedActions: [close, squeeze]"))
    assert (problem.severity, problem.value) == (Severity.WARNING, "squeeze")


def test_an_object_that_stands_twice_is_an_error() -> None:
    (problem,) = crossed(ACTION, ACTION)
    assert (problem.severity, problem.field, problem.line) == (Severity.ERROR, "metadata.name", 9)
    assert crossed(ACTION, OTHER) == ()


@pytest.mark.parametrize(
    ("metric", "value", "warned"),
    [
        ("cpu_total_usage", 6000, False),
        ("cpu_total_utilization", 0.8, False),
        ("cpu_total_utilization", 100, False),
        ("cpu_total_utilization", 101, True),
        ("memory_total_utilization", "80Gi", True),
        ("memory_total_usage", 1, False),
    ],
)
def test_a_waterline_that_cannot_be_meant_is_warned_of(metric: str, value: object, warned: bool) -> None:
    problems = crossed(ACTION, policy(metric=metric, value=value))
    assert fields(list(problems)) == (["spec.rules[0].metricRule.value"] if warned else [])
    assert all(problem.severity is Severity.WARNING for problem in problems)


def test_what_is_loaded_can_be_kept_and_read_again() -> None:
    text = "---\n".join(
        [
            ACTION,
            OTHER,
            policy(),
            node("4", "n"),
            pod("containers: [{name: c}]"),
            of_kind("PodQOS", "labelSelector: {}\nallowedActions: []"),
        ]
    )
    for found in loaded(text).objects:
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=type(found))
        assert again == found
        assert isinstance(found, Pod | Node | Policy | AvoidanceAction | PodQos)


words = st.sampled_from(["spec", "rules", "metadata", "name", "value", "selector", "containers", "x"])
tree = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
kinds = st.sampled_from(
    [
        "Pod",
        "Node",
        "NodeQOS",
        "PodQOS",
        "PodQOSEnsurancePolicy",
        "AvoidanceAction",
        "ConfigMap",
        "TimeSeriesPrediction",
    ]
)
versions = st.sampled_from(["v1", "ensurance.crane.io/v1alpha1", "prediction.crane.io/v1alpha1"])


@given(kinds, versions, tree, tree, tree)
def test_nothing_that_a_document_may_hold_ever_raises(
    kind: str, version: str, metadata: object, spec: object, status: object
) -> None:
    document = {"kind": kind, "apiVersion": version, "metadata": metadata, "spec": spec, "status": status, "data": spec}
    found = load(msgspec.json.encode(document).decode(), "a.json")
    assert all(problem.message and problem.remedy for problem in found.problems)


def test_a_metric_that_nobody_knows_is_an_error_with_the_nearest_name() -> None:
    (problem,) = crossed(ACTION, policy(metric="cpu_total_utilisation"))
    assert (problem.field, problem.value) == ("spec.rules[0].metricRule.name", "cpu_total_utilisation")
    assert problem.remedy == "did you mean cpu_total_utilization?"
