"""What is done in a tick is interrupted, refused or pulled away at every single point where the agent touches the world, and comes right all the same."""

from collections.abc import Callable

import pytest
from sim_stories import CLOSE, EVICT, SQUEEZE, WATERLINE, closed, node, policy, wrong

from slackwater.api.units import Millicores, Seconds
from slackwater.sim.demand import steps
from slackwater.sim.faults import Before, Effect, death_before, refusal_of
from slackwater.sim.world import Simulation

CALM_TICKS = 150


def rising() -> Simulation:
    """Overload from the third tick to the twentieth; squeezed, closed, and one pod evicted."""
    load = steps([(Seconds(0), Millicores(4000)), (Seconds(200), Millicores(500))])
    simulation = node(
        policy(),
        SQUEEZE,
        policy("closing", action="close", value=5800),
        CLOSE,
        policy("evicting", action="evict", value=7000, bad=3),
        EVICT,
        service=load,
    )
    simulation.run(2)
    return simulation


def falling() -> Simulation:
    """The tick before the first is given back."""
    simulation = rising()
    while not any(one.action.value == "restore" for one in simulation.decisions):
        simulation.tick()
    ticks = round(simulation.clock.elapsed / 10) - 1
    again = rising()
    again.run(ticks - 2)
    return again


def deleted() -> Simulation:
    """All is to be given back at once."""
    simulation = rising()
    simulation.run(3)
    for name in ("waterline", "closing", "evicting"):
        simulation.delete(name)
    return simulation


MOMENTS = [rising, falling, deleted]


def effects(begin: Callable[[], Simulation]) -> list[Effect]:
    found: list[Effect] = []
    simulation = begin()
    simulation.faults.begin(found.append)
    simulation.tick()
    return found


def each(begin: Callable[[], Simulation]) -> list[int]:
    return [effect.number for effect in effects(begin)]


def struck(begin: Callable[[], Simulation], before: Before) -> Simulation:
    simulation = begin()
    simulation.faults.begin(before)
    simulation.tick()
    simulation.faults.begin()
    return simulation


def is_at_base_once_calm(simulation: Simulation) -> bool:
    simulation.run(CALM_TICKS)
    return simulation.node.differing() == [] and not simulation.throttled and not closed(simulation)


@pytest.mark.parametrize("begin", MOMENTS)
def test_a_tick_touches_the_world_often_enough_for_these_tests_to_mean_something(
    begin: Callable[[], Simulation],
) -> None:
    assert len(each(begin)) > 10


@pytest.mark.parametrize("begin", MOMENTS)
def test_an_agent_that_dies_between_any_two_writes_is_right_again_within_two_ticks(
    begin: Callable[[], Simulation],
) -> None:
    for number in each(begin):
        simulation = struck(begin, death_before(number))
        assert simulation.held is None
        simulation.run(2)
        assert not wrong(simulation), number
        assert simulation.usage <= WATERLINE or begin is not falling
        assert is_at_base_once_calm(simulation), number


@pytest.mark.parametrize("begin", MOMENTS)
def test_an_agent_that_dies_and_loses_its_journal_leaves_nothing_behind(begin: Callable[[], Simulation]) -> None:
    for number in each(begin):
        simulation = struck(begin, death_before(number))
        simulation.journal.lose()
        simulation.run(2)
        assert not wrong(simulation), number
        assert is_at_base_once_calm(simulation), number


@pytest.mark.parametrize("begin", MOMENTS)
def test_a_write_that_the_kernel_refuses_is_tried_again_and_stops_nothing_else(
    begin: Callable[[], Simulation],
) -> None:
    for number in each(begin):
        simulation = struck(begin, refusal_of(number))
        assert simulation.held is not None
        simulation.run(3)
        assert not wrong(simulation), number
        assert is_at_base_once_calm(simulation), number


@pytest.mark.parametrize("begin", MOMENTS)
def test_a_container_that_is_made_anew_while_it_is_written_to_is_held_in_its_new_group(
    begin: Callable[[], Simulation],
) -> None:
    for effect in effects(begin):
        if effect.group is None:
            continue
        simulation = begin()
        simulation.faults.begin(_restarting(simulation, effect.number))
        simulation.tick()
        simulation.faults.begin()
        simulation.run(3)
        assert not wrong(simulation), effect
        assert is_at_base_once_calm(simulation), effect


def _restarting(simulation: Simulation, number: int) -> Before:
    def restart(effect: Effect) -> None:
        if effect.number == number and effect.group is not None:
            uid = effect.group.pod
            simulation.restart(next(pod.key for pod in simulation.node.pods if pod.uid == uid))

    return restart


@pytest.mark.parametrize("begin", MOMENTS)
def test_a_pod_that_is_gone_while_it_is_written_to_is_nobodys_error(begin: Callable[[], Simulation]) -> None:
    for effect in effects(begin):
        if effect.group is None:
            continue
        simulation = begin()
        simulation.faults.begin(_removing(simulation, effect.number))
        simulation.tick()
        simulation.faults.begin()
        simulation.run(3)
        assert not wrong(simulation), effect
        assert is_at_base_once_calm(simulation), effect


def _removing(simulation: Simulation, number: int) -> Before:
    def remove(effect: Effect) -> None:
        if effect.number == number and effect.group is not None:
            uid = effect.group.pod
            simulation.remove(next(pod.key for pod in simulation.node.pods if pod.uid == uid))

    return remove


@pytest.mark.parametrize("begin", MOMENTS)
def test_an_api_server_that_is_away_for_a_tick_is_made_up_for_at_the_next(begin: Callable[[], Simulation]) -> None:
    simulation = begin()
    simulation.cluster.unreachable = True
    simulation.tick()
    simulation.cluster.unreachable = False
    simulation.run(3)
    assert not wrong(simulation)
    assert is_at_base_once_calm(simulation)
