"""Reading a scenario: what each form means, and the one clear line that each mistake gets."""

import pytest
from scenario_texts import read, refused, story, taken

from slackwater.api.units import Seconds
from slackwater.sim.demand import Demand
from slackwater.sim.scenario import Scenario


def cpu_of(scenario: Scenario, workload: int = 0) -> Demand:
    curve = scenario.workloads[workload].cpu
    assert curve is not None
    return curve.of("default/web-0")


def wanted(cpu: str, *moments: float, files: dict[str, str] | None = None) -> list[float]:
    demand = cpu_of(taken(story(cpu), files))
    return [round(demand(Seconds(at)), 6) for at in moments]


def test_a_scenario_that_says_little_has_eight_cores_a_tick_of_ten_seconds_and_the_seed_one() -> None:
    found = taken(story())
    assert (found.cpu, found.memory, found.tick, found.seed, found.ticks) == (8000, 32 << 30, 10.0, 1, 60)


def test_a_workloads_pods_are_numbered_and_have_a_controller() -> None:
    etl = taken(story()).workloads[1]
    assert [pod.key for pod in etl.pods] == ["default/etl-0", "default/etl-1"]
    assert all(pod.owner is not None and pod.owner.name == "etl" for pod in etl.pods)


def test_bare_pods_have_no_controller() -> None:
    found = taken(story().replace("replicas: 2", "replicas: 2\n    bare: true"))
    assert [pod.owner for pod in found.workloads[1].pods] == [None, None]


@pytest.mark.parametrize(
    ("cpu", "moments", "expected"),
    [
        ("1.5", (0, 599), [1500, 1500]),
        ("500m", (0,), [500]),
        ("{value: 2}", (0,), [2000]),
        ("{steps: [[10s, 1], [1m, 500m]]}", (0, 10, 59, 60), [0, 1000, 1000, 500]),
        ('{day: {low: 1, high: 3, peak: "14:00"}}', (0, 6 * 3600, 18 * 3600), [2000, 3000, 1000]),
    ],
)
def test_cpu_is_a_number_steps_or_a_day(cpu: str, moments: tuple[float, ...], expected: list[float]) -> None:
    assert wanted(cpu, *moments) == expected


def test_a_trace_is_read_by_its_own_times_and_begins_again_after_its_end() -> None:
    files = {"trace.csv": "ts,load\n1000,1\n1060,3\n"}
    assert wanted("{csv: trace.csv, column: load}", 0, 59, 60, 119, 120, files=files) == [1000, 1000, 3000, 3000, 1000]


def test_a_trace_in_percent_is_of_the_nodes_capacity() -> None:
    assert wanted("{csv: t.csv, unit: percent}", 0, 10, files={"t.csv": "value\n50\n25\n"}) == [4000, 2000]


def test_a_trace_may_have_calendar_times() -> None:
    text = "timestamp,value\n2014-02-14 14:30:00,1\n2014-02-14 14:35:00,2\n"
    assert wanted("{csv: t.csv}", 299, 300, files={"t.csv": text}) == [1000, 2000]


def test_noise_differs_from_pod_to_pod_and_is_the_same_for_the_same_seed() -> None:
    curve = taken(story("{value: 2, noise: 0.1}")).workloads[0].cpu
    assert curve is not None
    one, other, again = curve.of("a"), curve.of("b"), curve.of("a")
    at = Seconds(10)
    assert one(at) != other(at)
    assert one(at) == again(at)
    assert one(at) != 2000


def test_memory_has_the_same_forms_in_bytes() -> None:
    found = taken(story().replace("cpu: 1.5", "cpu: 1.5\n    memory: {steps: [[0s, 1Gi], [1m, 2Gi]]}"))
    memory = found.workloads[1].memory
    assert memory is not None
    assert [memory.demand(Seconds(at)) for at in (0, 60)] == [1 << 30, 2 << 30]


def test_policies_stand_beside_the_scenario_or_in_it() -> None:
    files = {
        "p.yaml": "apiVersion: ensurance.crane.io/v1alpha1\nkind: AvoidanceAction\nmetadata: {name: b}\nspec: {}\n"
    }
    found = taken(story().replace("policies:", "policies:\n  - p.yaml"), files)
    assert [type(one).__name__ for one in found.policies.objects][:2] == ["AvoidanceAction", "Policy"]


def test_config_sets_the_agents_keys() -> None:
    found = taken(story(more="  config: {excess: 0, scheduling: {taintKey: x}, tickSeconds: 10}\n"))
    assert (found.configuration.excess, found.configuration.scheduling.taint_key) == (0.0, "x")


BAD = {
    "cpu: 1.5x": "spec.workloads[1].cpu: is not a quantity (found 1.5x)",
    "cpu: -1": "spec.workloads[1].cpu: is below zero (found -1)",
    "cpu: {}": "spec.workloads[1].cpu: says nothing of how much",
    "cpu: {value: 1, steps: [[0s, 1]]}": "spec.workloads[1].cpu: has value and steps",
    "cpu: {value: 1, nois: 2}": "spec.workloads[1].cpu.nois: is no field here (found 2)",
    "cpu: {steps: []}": "spec.workloads[1].cpu.steps: is empty",
    "cpu: {steps: [[0s]]}": "spec.workloads[1].cpu.steps[0]: is no step",
    "cpu: {steps: [[0, 1]]}": "spec.workloads[1].cpu.steps[0][0]: is not a duration",
    "cpu: {steps: [[1m, 1], [1m, 2]]}": "spec.workloads[1].cpu.steps[1]: comes no later than the step before it",
    'cpu: {day: {low: 1, high: 3, peak: "25:00"}}': "spec.workloads[1].cpu.day.peak: is not a time of day",
    "cpu: {day: {low: 1, high: 3}}": "spec.workloads[1].cpu.day: does not say peak",
    'cpu: {day: {low: 4, high: 3, peak: "1:00"}}': "spec.workloads[1].cpu.day.low: is above high",
    "cpu: {csv: none.csv}": "spec.workloads[1].cpu.csv: the file is not there (found none.csv)",
    "cpu: {csv: t.csv, column: load}": "spec.workloads[1].cpu.column: the file has no column 'load'",
    "cpu: {csv: bad.csv}": "spec.workloads[1].cpu.csv: line 3 of the file is no sample",
    "cpu: {csv: t.csv, unit: furlongs}": "spec.workloads[1].cpu.unit: is none of its values (found furlongs)",
    "arrives: 10": "spec.workloads[1].arrives: is not a duration (found 10)",
    "leaves: 0s": "spec.workloads[1].leaves: is no later than it arrives",
    "bare: maybe": "spec.workloads[1].bare: must be true or false",
}


@pytest.mark.parametrize(("line", "said"), BAD.items())
def test_a_mistake_in_a_workload_gets_one_line_that_says_where(line: str, said: str) -> None:
    old = "cpu: 1.5" if line.startswith("cpu") else "replicas: 2"
    text = story().replace(old, line)
    files = {"t.csv": "value\n1\n", "bad.csv": "ts,value\n0,1\n60,high\n"}
    number = text.splitlines().index(f"    {line}") + 1
    complaints = refused(text, files)
    assert len(complaints) == 1
    assert complaints[0].startswith(f"story.yaml:{number}: {said}")


MORE = {
    "  config: {tickSeconds: 5}\n": "spec.config.tickSeconds: is not the scenario's, 10 (found 5)",
    "  config: {excss: 5}\n": "spec.config.excss: is no key (found 5); did you mean excess?",
    "  config: {excess: 500}\n": "spec.config.excess: cannot be used (found 500)",
    "  seed: x\n": "spec.seed: must be a whole number (found x)",
    "  start: noon\n": "spec.start: is not a time (found noon)",
    "  tickSeconds: 0\n": "spec.tickSeconds: is no tick (found 0)",
    "  node: {cpu: 0}\n": "spec.node.cpu: is not above zero (found 0)",
    "  faults: [{at: 1m}]\n": "spec.faults[0]: does not say its kind",
    "  faults: [{kind: agent-crash}]\n": "spec.faults[0]: does not say at",
    "  faults: [{at: 1m, kind: agent-crush}]\n": "spec.faults[0].kind: is none of its values (found agent-crush)",
    "  faults: [{at: 1m, kind: agent-crash, pod: etl-0}]\n": "spec.faults[0].pod: is no field of agent-crash",
    "  faults: [{at: 1m, kind: missing-usage}]\n": "spec.faults[0]: missing-usage does not say pod",
    "  faults: [{at: 1m, kind: missing-usage, pod: etl-7}]\n": "spec.faults[0].pod: there is no such pod (found etl-7)",
    "  faults: [{at: 1m, kind: missing-metric, metric: cpu}]\n": "spec.faults[0].metric: there is no such metric",
    "  faults: [{at: 1m, kind: policy-deleted, policy: x}]\n": "spec.faults[0].policy: there is no such policy",
    "  faults: [{at: 1m, kind: clock-jump, by: soon}]\n": "spec.faults[0].by: is not a duration (found soon)",
    "  faults: [{at: 1m, kind: policy-changed, policy: waterline, to: no.yaml}]\n": "spec.faults[0].to: the file is not",
}


@pytest.mark.parametrize(("more", "said"), MORE.items())
def test_a_mistake_in_the_rest_gets_one_line_too(more: str, said: str) -> None:
    complaints = refused(story(more=more))
    assert [line.partition(": ")[2][: len(said)] for line in complaints] == [said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "story.yaml: holds no document"),
        ("- 1\n", "story.yaml:1: is no scenario"),
        ("kind: Pod\n", "story.yaml:1: apiVersion: is not that of a Scenario"),
        ("apiVersion: slackwater.dev/v1alpha1\nkind: Scenario\n", "story.yaml:1: spec: is missing"),
        ("a: [\n", "story.yaml:2: is not YAML"),
    ],
)
def test_what_is_no_scenario_is_told_so(text: str, said: str) -> None:
    assert refused(text)[0].startswith(said)


def test_two_workloads_of_one_name_are_refused() -> None:
    assert "another workload has the same name" in refused(story().replace("name: etl", "name: web"))[0]


def test_an_unknown_field_is_a_warning() -> None:
    found = read(story(more="  sed: 3\n"))
    assert found.scenario is not None
    assert next(str(one) for one in found.problems).partition(": ")[2].startswith("spec.sed: there is no such field")


def test_a_policy_that_is_wrong_is_an_error_of_the_scenario() -> None:
    assert "metricRule.value: is not a quantity" in refused(story().replace("value: 6000", "value: six"))[0]


def test_a_jump_of_the_clock_goes_both_ways() -> None:
    more = "  faults: [{at: 1m, kind: clock-jump, by: -3600s}, {at: 2m, kind: clock-jump, by: 1h}]\n"
    assert [float(fault.by) for fault in taken(story(more=more)).faults] == [-3600.0, 3600.0]
