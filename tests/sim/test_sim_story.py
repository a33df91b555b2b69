"""The loop closed: what the agent's real tick makes of a node, told as stories."""

import pytest
from sim_stories import CLOSE, COOL_DOWN, EVICT, SQUEEZE, WATERLINE, closed, cores, node, pod, policy, wrong

from slackwater.agent.configuration import Configuration, Mode
from slackwater.api.units import Millicores, Seconds
from slackwater.decide.plan import ActionKind
from slackwater.sim.demand import steps
from slackwater.sim.world import Simulation

TICKS_OF_COOL_DOWN = int(COOL_DOWN / 10)


def rising_and_falling(before: float, between: tuple[int, int], high: float) -> Simulation:
    first, last = between
    return node(service=steps([(Seconds(0), _m(before)), (Seconds(first), _m(high)), (Seconds(last), _m(before))]))


def _m(cores: float) -> Millicores:
    return Millicores(round(cores * 1000))


def squeezed(version: int = 1) -> Simulation:
    """Two bad ticks after the counters began."""
    simulation = node(cgroup_version=version)
    simulation.run(3)
    assert simulation.throttled
    return simulation


@pytest.mark.parametrize("version", [1, 2])
def test_an_overload_is_squeezed_to_the_waterline_within_two_ticks_after_activation(version: int) -> None:
    simulation = squeezed(version)
    simulation.run(2)
    assert simulation.usage <= WATERLINE
    assert not wrong(simulation)


def test_a_service_that_starved_grows_as_it_is_given_way_and_the_squeeze_follows() -> None:
    simulation = node(batch=cores(8))
    simulation.run(6)
    assert simulation.usage <= WATERLINE
    assert simulation.node.placed(simulation.pod("default/service").uid).got > 0


def test_no_more_is_released_than_the_gap_and_a_twentieth() -> None:
    simulation = node()
    simulation.run(2)
    before = simulation.usage
    simulation.run(2)
    first = next(one for one in simulation.decisions if one.action is ActionKind.THROTTLE)
    assert first.gap is not None
    assert sum(one.expected or 0.0 for one in first.operations) <= first.gap
    assert before - simulation.usage <= 1.05 * first.gap


def test_what_was_released_is_measured_at_the_next_sample() -> None:
    simulation = squeezed()
    simulation.run(1)
    first = simulation.decisions[0]
    quotas = [one for one in first.operations if one.knob == "quota"]
    assert [one.actual for one in quotas] == pytest.approx([one.expected for one in quotas], abs=1)
    assert first.outcome.recovered


def test_everything_is_given_back_when_the_load_is_gone() -> None:
    simulation = rising_and_falling(1.0, (100, 400), 4.0)
    simulation.run(20)
    assert simulation.throttled
    simulation.run(100)
    assert not simulation.throttled
    assert simulation.node.differing() == []


def test_giving_back_stops_below_the_waterline_where_the_batch_work_is_greedy() -> None:
    simulation = node(batch=cores(8), service=steps([(Seconds(0), _m(4)), (Seconds(200), _m(2))]))
    simulation.run(300)
    late = [one for one in simulation.decisions if one.instant > simulation.clock.instant() - 1000]
    assert 0.9 * WATERLINE < simulation.usage <= WATERLINE
    assert not late


def test_a_deleted_policy_gives_everything_back_at_the_next_tick() -> None:
    simulation = squeezed()
    simulation.delete("waterline")
    simulation.run(1)
    assert simulation.node.differing() == []
    assert simulation.decisions[-1].reason == "the last rule behind it is gone"


def test_a_deleted_policy_gives_everything_back_also_to_an_agent_that_was_woken_early() -> None:
    simulation = squeezed()
    simulation.delete("waterline")
    simulation.wake()
    assert simulation.node.differing() == []


def test_an_early_wake_up_neither_counts_nor_steps() -> None:
    simulation = node()
    simulation.run(2)
    for _ in range(5):
        simulation.wake()
    assert not simulation.decisions


@pytest.mark.parametrize("how", ["rule", "agent", "neighbour"])
def test_a_preview_changes_nothing(how: str) -> None:
    simulation = node(
        policy(preview=how == "rule"),
        SQUEEZE,
        configuration=Configuration(mode=Mode.PREVIEW if how == "agent" else Mode.ACT),
    )
    simulation.rivals = ("crane-agent",) if how == "neighbour" else ()
    simulation.run(20)
    assert not simulation.host.writes
    assert simulation.node.differing() == []
    assert simulation.decisions
    assert all(one.preview for one in simulation.decisions)


@pytest.mark.parametrize("mode", [Mode.PREVIEW, Mode.OFF])
def test_an_agent_turned_away_from_acting_gives_everything_back_at_once_and_takes_it_again_when_turned_back(
    mode: Mode,
) -> None:
    simulation = squeezed()
    simulation.configuration = Configuration(mode=mode)
    simulation.run(1)
    assert simulation.node.differing() == []
    simulation.run(5)
    assert simulation.node.differing() == []
    simulation.configuration = Configuration()
    simulation.run(4)
    assert simulation.throttled
    assert not wrong(simulation)


def test_a_rule_turned_to_preview_gives_everything_back_at_the_next_tick() -> None:
    simulation = squeezed()
    simulation.put(policy(preview=True))
    simulation.run(1)
    assert simulation.node.differing() == []


def test_eviction_closes_the_node_takes_who_is_needed_and_opens_it_after_the_cool_down() -> None:
    simulation = node(policy(action="evict"), EVICT)
    simulation.run(3)
    assert [one.pod.key for one in simulation.cluster.evictions] == [f"default/batch-{n}" for n in (0, 1, 2)]
    assert closed(simulation)
    simulation.run(3)
    assert len(simulation.cluster.evictions) == 3
    assert simulation.usage <= WATERLINE
    simulation.run(TICKS_OF_COOL_DOWN + 3)
    assert not closed(simulation)
    assert len(simulation.node.pods) == 2


def test_an_action_with_neither_throttle_nor_eviction_closes_the_node_and_touches_nobody() -> None:
    simulation = node(policy(action="close"), CLOSE)
    simulation.run(3)
    assert closed(simulation)
    assert not simulation.host.writes
    simulation.delete("waterline")
    simulation.run(1)
    assert not closed(simulation)


def test_a_node_that_was_closed_opens_when_the_cool_down_after_the_last_harm_is_over() -> None:
    simulation = node(policy(action="close"), CLOSE, service=steps([(Seconds(0), _m(4)), (Seconds(50), _m(1))]))
    simulation.run(5 + TICKS_OF_COOL_DOWN - 1)
    assert closed(simulation)
    simulation.run(1)
    assert not closed(simulation)


def test_a_pod_that_the_cluster_no_longer_names_gets_everything_back_and_is_held_again_when_it_is_named() -> None:
    simulation = squeezed()
    simulation.lose_sight("default/batch-0")
    simulation.run(2)
    assert not [told for told in simulation.node.differing() if "batch-0" in told]
    simulation.lose_sight("default/batch-0", unseen=False)
    simulation.run(4)
    assert not wrong(simulation)


def test_a_pod_without_usage_is_passed_over_and_the_others_give() -> None:
    simulation = node()
    simulation.hide_usage("default/batch-0")
    simulation.run(6)
    assert simulation.usage <= WATERLINE
    assert simulation.pod("default/batch-0").uid not in {one.pod for one in simulation.throttled}


def test_a_container_that_restarts_is_held_again_at_the_next_tick() -> None:
    simulation = squeezed()
    simulation.restart("default/batch-3")
    simulation.run(1)
    assert not wrong(simulation)


def test_a_missing_metric_holds_what_is_held_and_ends_it_after_an_hour() -> None:
    simulation = squeezed()
    simulation.run(2)
    held = simulation.throttled
    simulation.node.hides_cpu = True
    simulation.run(100)
    assert {one.where for one in simulation.throttled} == {one.where for one in held}
    simulation.run(400)
    assert simulation.node.differing() == []


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_calendar_that_jumps_an_hour_changes_nothing(hours: int) -> None:
    def run(jump: float) -> list[tuple[float, str, int]]:
        simulation = rising_and_falling(1.0, (100, 400), 4.0)
        simulation.run(30)
        simulation.clock.jump(Seconds(jump))
        simulation.run(60)
        begin = simulation.decisions[0].instant
        return [(one.instant - begin, one.action.value, len(one.operations)) for one in simulation.decisions]

    assert run(hours * 3600.0) == run(0.0)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_calendar_that_jumps_while_the_agent_is_away_leaves_nothing_behind(hours: int) -> None:
    simulation = rising_and_falling(1.0, (100, 400), 4.0)
    simulation.run(20)
    simulation.kill()
    simulation.clock.jump(Seconds(hours * 3600.0))
    simulation.run(1)
    assert not wrong(simulation)
    simulation.run(120)
    assert simulation.node.differing() == []


def test_what_is_marked_comes_back_when_the_journal_was_deleted_between_two_lives() -> None:
    simulation = squeezed()
    simulation.kill()
    simulation.journal.lose()
    simulation.run(1)
    assert not simulation.throttled
    assert simulation.node.differing() == []


def test_an_agent_without_a_journal_goes_on() -> None:
    simulation = node()
    simulation.journal.refuses = True
    simulation.run(5)
    assert simulation.usage <= WATERLINE
    assert not wrong(simulation)
    assert simulation.stop()
    assert simulation.node.differing() == []


def test_where_groups_carry_no_mark_nothing_is_written_before_the_journal_has_it() -> None:
    simulation = Simulation(marks_work=False)
    simulation.put(policy(), SQUEEZE)
    simulation.add(pod("service", priority=100), cores(4))
    simulation.add(pod("batch"), cores(4))
    simulation.journal.refuses = True
    simulation.run(6)
    assert not simulation.host.writes
    simulation.journal.refuses = False
    simulation.run(3)
    assert simulation.host.writes
    simulation.kill()
    simulation.delete("waterline")
    simulation.run(2)
    assert simulation.node.differing() == []


def test_an_agent_that_ends_gives_everything_back_and_opens_the_node() -> None:
    simulation = node(policy(), SQUEEZE, policy("closing", action="close"), CLOSE)
    simulation.run(4)
    assert closed(simulation)
    assert simulation.stop()
    assert simulation.node.differing() == []
    assert not closed(simulation)
