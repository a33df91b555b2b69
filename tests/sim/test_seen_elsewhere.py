"""
Defects that agents of this kind have shown in the field, each a scenario in examples/scenarios that would show it here, and the stories that users brought.

What each scenario is about stands in docs/simulate.md.
"""

from itertools import pairwise

import pytest
from scenario_texts import example

from slackwater.sim.result import Result, Row


def rows(result: Result, kind: str) -> list[Row]:
    return [row for row in result.actions if row.kind == kind]


def pods(result: Result, kind: str) -> list[str | None]:
    return [row.pod for row in rows(result, kind)]


def at(result: Result, kind: str) -> list[float]:
    return [row.at for row in rows(result, kind)]


def quotas(result: Result, kind: str, name: str) -> list[float]:
    """What a pod's quota was set to, in cores, as the sentences tell it."""
    told = [row.sentence.partition(f"{name} ")[2] for row in rows(result, kind) if row.pod == f"default/{name}"]
    return [float(one.partition("-> ")[2].split()[0].rstrip(",;")) for one in told]


# The stories.


def test_of_ten_pods_only_as_many_are_touched_as_the_waterline_needs() -> None:
    result = example("stop-at-the-waterline")
    assert pods(result, "evict") == ["default/heavy-0"]


def test_another_metric_is_closed_as_precisely() -> None:
    result = example("another-metric")
    gap = result.released["memory_total_usage"]
    assert len(pods(result, "evict")) == 2
    assert gap.released - (3 << 30) < gap.gap <= gap.released


def test_above_sixty_percent_best_effort_work_gives_way_and_only_it() -> None:
    result = example("sixty-percent")
    assert result.seconds_above["sixty-percent/cpu-utilization"] <= 40
    assert result.workloads["shop"].got == result.workloads["shop"].wanted
    assert result.reversals == 0
    assert result.at_end.claims == 0


# The defects.


def test_precise_throttle_down_never_runs() -> None:
    released = example("precise-throttle").released["cpu_total_usage"]
    assert released.gap == pytest.approx(1100)
    assert released.ratio == pytest.approx(1.0, abs=0.01)
    assert released.actual == pytest.approx(released.released, rel=0.01)


def test_an_unrelated_metric_that_is_missing_counts_as_usage_missed() -> None:
    result = example("unrelated-metric-missing")
    assert len(pods(result, "evict")) == 3
    assert {row.rule for row in rows(result, "evict")} == {"cpu-usage"}
    assert min(at(result, "evict")) > 300


def test_trigger_counts_are_not_reset_by_a_sample_below_the_threshold() -> None:
    result = example("lone-spikes")
    assert result.seconds_above["waterline/cpu-usage"] == pytest.approx(30)
    assert not result.actions


def test_restored_within_the_cool_down_is_lost() -> None:
    result = example("taint-comes-off")
    assert at(result, "disable-scheduling") == [620, 2420, 4820]
    assert at(result, "enable-scheduling") == [
        1140,
        3180,
        6000,
    ]  # cooled down, after a restart, with the policy deleted
    assert result.at_end.taints == 0


def test_the_min_ratio_formula_forgets_a_hundred() -> None:
    result = example("floor-of-a-limit")
    assert min(quotas(result, "throttle", "etl-0")) == pytest.approx(0.4)
    assert all(after <= before for before, after in pairwise(quotas(result, "throttle", "etl-0")))


def test_there_is_no_floor_at_all_for_best_effort() -> None:
    result = example("floor-of-best-effort")
    assert min(quotas(result, "throttle", "etl-0")) == pytest.approx(0.05)  # of the half core that it used
    assert result.workloads["etl"].got >= 2 * 0.05 * 3300


def test_multi_container_pods_count_only_the_last_containers_release() -> None:
    (row,) = rows(example("three-containers"), "throttle")
    assert row.expected == pytest.approx(1540)
    assert row.actual == pytest.approx(1540, rel=0.01)


def test_restore_acts_on_the_wrong_list_one_step_per_episode_lowest_priority_first() -> None:
    result = example("all-comes-back")
    assert pods(result, "restore")[0] == "default/dear-0"
    assert len(set(at(result, "throttle"))) == 1
    assert result.at_end.claims == 0


def test_the_grace_is_ignored_failed_evictions_count_as_released_and_terminating_pods_are_not_excluded() -> None:
    result = example("eviction-refused")
    evictions = rows(result, "evict")
    assert [(row.pod, bool(row.refused)) for row in evictions] == [
        ("default/first-0", True),
        ("default/next-0", False),
        ("default/next-1", False),
    ]
    # 20 s, which the action grants, and not the 120 s of the pods: after 5:30 they have two more ticks.
    assert result.workloads["next"].got == pytest.approx(3 * 0.6 * 1200 - 2 * 0.6 * (1200 - 350))


def test_throttle_on_cpu_total_utilization_is_a_no_op() -> None:
    released = example("utilization").released["cpu_total_utilization"]
    assert released.ratio == pytest.approx(1.0, abs=0.01)


def test_half_as_a_threshold_is_rounded_up_to_one() -> None:
    result = example("half-a-percent")
    assert pods(result, "throttle") == ["default/etl-0"]
