"""A scenario that is run: what the record of it holds, and what each fault does."""

from collections.abc import Sequence

import msgspec
import pytest
from scenario_texts import ran, story, taken

from slackwater.sim.result import Result, Row, document
from slackwater.sim.running import run


def rows(result: Result, kind: str) -> list[Row]:
    return [row for row in result.actions if row.kind == kind]


def pods(result: Result, kind: str) -> list[str | None]:
    return [row.pod for row in rows(result, kind)]


def faults(*entries: str) -> str:
    return "  faults:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def begin_with(rows: Sequence[Row], seconds: float) -> bool:
    return bool(rows) and rows[0].at == seconds


def test_the_document_has_the_names_that_scripts_are_written_against() -> None:
    told = document(ran(story()))
    assert told.keys() >= {
        "ticks", "seconds_above", "released", "reversals", "workloads", "actions", "at_end", "promises_broken",
    }  # fmt: skip
    assert told["actions"][0].keys() >= {
        "at", "kind", "pod", "policy", "rule", "preview", "expected", "actual", "sentence",
    }  # fmt: skip
    assert told["at_end"].keys() == {"claims", "taints"}
    assert told["released"]["cpu_total_usage"].keys() >= {"gap", "released", "ratio"}


def test_the_same_scenario_gives_the_same_bytes() -> None:
    text = story("{value: 4, noise: 0.3}", more=faults("at: 3m, kind: agent-crash"))
    one, other = (msgspec.json.encode(document(ran(text))) for _ in range(2))
    assert one == other


def test_another_seed_gives_other_noise() -> None:
    text = story("{value: 4, noise: 0.3}")
    assert document(ran(text)) != document(ran(text + "  seed: 2\n"))


def test_a_throttled_pod_has_one_row_a_tick_with_what_was_expected_and_what_came() -> None:
    result = ran(story())
    first = rows(result, "throttle")
    assert [row.pod for row in first] == ["default/etl-0", "default/etl-1"]
    assert {row.at for row in first} == {140.0}
    assert sum(row.expected or 0 for row in first) == pytest.approx(1100)
    assert sum(row.actual or 0 for row in first) == pytest.approx(1100)
    assert "waterline 6" in first[0].sentence


def test_released_is_held_against_the_gap() -> None:
    released = ran(story()).released["cpu_total_usage"]
    assert released.gap == pytest.approx(1100)
    assert released.ratio == pytest.approx(1.0)


def test_the_time_above_each_waterline_is_counted() -> None:
    assert ran(story()).seconds_above == {"waterline/cpu": 20.0}


def test_work_is_counted_in_core_seconds_wanted_and_got() -> None:
    work = ran(story()).workloads
    assert work["web"].wanted == work["web"].got == pytest.approx(2 * 120 + 4 * 480)
    assert work["etl"].wanted == pytest.approx(3 * 600)
    assert work["etl"].got < work["etl"].wanted


def test_claims_that_stand_at_the_end_are_counted() -> None:
    assert ran(story()).at_end.claims == 2
    assert ran(story("{steps: [[0s, 2], [2m, 4], [3m, 2]]}")).at_end.claims == 0


def test_a_service_that_is_lifted_is_not_told_as_throttled() -> None:
    guaranteed = "resources: {limits: {cpu: 4, memory: 1Gi}}"
    text = story().replace("resources: {requests: {cpu: 4}}", guaranteed)
    result = ran(text.replace("{name: main}]", "{name: main, resources: {requests: {cpu: 1}}}]"))
    assert set(pods(result, "throttle")) == {"default/etl-0", "default/etl-1"}
    assert " is lifted: weight" in rows(result, "throttle")[0].sentence


def test_preview_is_told_as_such_and_changes_nothing() -> None:
    result = ran(story().replace("name: cpu, ", "name: cpu, strategy: Preview, "))
    assert all(row.preview for row in result.actions)
    assert rows(result, "throttle")
    assert result.workloads["etl"].got == result.workloads["etl"].wanted


def test_workloads_arrive_and_leave() -> None:
    result = ran(story("1").replace("replicas: 2", "replicas: 2\n    arrives: 2m\n    leaves: 5m"))
    assert result.workloads["etl"].got == pytest.approx(2 * 1.5 * 180)


def test_an_evicted_pod_stays_away_unless_it_returns() -> None:
    result = ran(story("{steps: [[0s, 2], [2m, 4], [3m, 2]]}", action="evict"))
    assert pods(result, "evict") == ["default/etl-0"]
    work = result.workloads["etl"]
    assert work.wanted == pytest.approx(3 * 600)
    assert work.got == pytest.approx(3 * 160 + 1.5 * 440)


def test_a_replacement_comes_when_its_time_has_come_and_the_node_is_open() -> None:
    text = story("{steps: [[0s, 2], [2m, 4], [3m, 2]]}", action="evict")
    result = ran(text.replace("replicas: 2", "replicas: 2\n    returns: 1m"))
    opened = rows(result, "enable-scheduling")[0].at
    assert opened > 140 + 60
    assert result.workloads["etl"].got == pytest.approx(3 * 160 + 1.5 * (opened - 160) + 3 * (600 - opened))


def test_a_pods_demand_is_spread_by_limits() -> None:
    containers = "[{name: a, resources: {limits: {cpu: 500m}}}, {name: b, resources: {limits: {cpu: 3500m}}}]"
    text = story("1").replace("priority: -10, containers: [{name: main}]", f"priority: -10, containers: {containers}")
    etl = ran(text.replace("cpu: 1.5", "cpu: 2")).workloads["etl"]
    assert etl.got == pytest.approx(etl.wanted)  # evenly spread, one container would run into its limit


# Each fault.


def test_a_pod_whose_usage_is_missing_is_left_alone() -> None:
    result = ran(story(more=faults("at: 0s, kind: missing-usage, pod: etl-0")))
    assert set(pods(result, "throttle")) == {"default/etl-1"}


def test_usage_that_was_missing_for_a_while_is_read_again() -> None:
    result = ran(story(more=faults("at: 1m, for: 80s, kind: missing-usage, pod: etl-0")))
    assert begin_with(rows(result, "throttle"), 140)
    assert {"default/etl-0", "default/etl-1"} == set(pods(result, "throttle")) | {"default/etl-0"}


def test_a_missing_metric_is_not_acted_on() -> None:
    assert not ran(story(more=faults("at: 0s, kind: missing-metric, metric: cpu_total_usage"))).actions


def test_time_above_is_counted_though_the_agent_is_blind() -> None:
    result = ran(story(more=faults("at: 0s, kind: missing-metric, metric: cpu_total_usage")))
    assert result.seconds_above["waterline/cpu"] == pytest.approx(480)


def test_a_deleted_policy_gives_back_at_once() -> None:
    result = ran(story(more=faults("at: 5m, kind: policy-deleted, policy: waterline")))
    assert begin_with(rows(result, "restore"), 300)
    assert result.at_end.claims == 0


def test_a_changed_policy_counts_from_its_moment() -> None:
    changed = story().partition("policies:\n  - ")[2].partition("\n  - ")[0].replace("6000", "5000")
    files = {"lower.yaml": "\n".join(line.removeprefix("    ") for line in changed.splitlines())}
    result = ran(story(more=faults("at: 5m, kind: policy-changed, policy: waterline, to: lower.yaml")), files)
    assert {row.at for row in rows(result, "throttle")} == {140.0, 310.0}


@pytest.mark.parametrize("by", ["-3600s", "1h"])
def test_a_jump_of_the_calendar_changes_nothing(by: str) -> None:
    calm = document(ran(story()))
    assert document(ran(story(more=faults(f"at: 3m, kind: clock-jump, by: {by}"))))["actions"] == calm["actions"]


@pytest.mark.parametrize("seed", range(12))
def test_wherever_the_agent_dies_in_the_tick_that_squeezes_all_is_right_two_ticks_later(seed: int) -> None:
    result = ran(story(more=faults("at: 140s, kind: agent-crash") + f"  seed: {seed}\n"))
    assert result.at_end.claims == 2
    assert result.seconds_above["waterline/cpu"] <= 40


def test_the_seed_chooses_where_the_agent_dies() -> None:
    texts = [story(more=faults("at: 140s, kind: agent-crash") + f"  seed: {seed}\n") for seed in range(12)]
    assert len({ran(text).seconds_above["waterline/cpu"] for text in texts}) > 1


def test_while_the_agent_is_away_nothing_is_done() -> None:
    result = ran(story(more=faults("at: 1m, for: 3m, kind: agent-away")))
    assert min(row.at for row in result.actions) >= 240


def test_a_journal_that_is_lost_with_the_agent_loses_nothing_that_must_come_back() -> None:
    text = story("{steps: [[0s, 2], [2m, 4], [5m, 2]]}")
    lost = faults("at: 6m, kind: journal-lost", "at: 6m, kind: agent-crash")
    result = ran(text + lost)
    assert result.at_end.claims == 0


def test_a_write_that_is_refused_is_told_and_the_others_go_on() -> None:
    result = ran(story(more=faults("at: 0s, kind: write-refused, pod: etl-0")))
    refused = [row for row in rows(result, "throttle") if row.refused]
    assert {row.pod for row in refused} == {"default/etl-0"}
    assert "default/etl-1" in pods(result, "throttle")


def test_a_refused_eviction_releases_nothing_and_the_next_goes() -> None:
    result = ran(story(action="evict", more=faults("at: 0s, kind: eviction-refused, pod: etl-0")))
    assert [(row.pod, bool(row.refused)) for row in rows(result, "evict")] == [
        ("default/etl-0", True),
        ("default/etl-1", False),
    ]


def test_policies_may_be_taken_from_elsewhere() -> None:
    found = taken(story())
    evicting = taken(story(action="evict")).policies
    assert {row.kind for row in run(found, evicting).actions} >= {"evict"}
