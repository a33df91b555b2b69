"""The loop closed on metrics in which no release can be counted: pressure, and memory, which only eviction frees."""

from itertools import pairwise

import pytest
from msgspec.structs import replace
from sim_stories import COOL_DOWN, EVICT, SQUEEZE, closed, cores, pod, wrong

from slackwater.api.objects import Policy, Rule
from slackwater.api.units import Bytes
from slackwater.decide.plan import ActionKind, Decision
from slackwater.sim.demand import Demand
from slackwater.sim.world import Simulation

GIB = 1 << 30
HOUR = 360  # ticks
TICKS_OF_COOL_DOWN = int(COOL_DOWN / 10)


def rule(metric: str, value: float, action: str = "squeeze") -> Policy:
    made = Rule(name="rule", action=action, metric=metric, value=value, avoidance_threshold=2, restore_threshold=2)
    return Policy(kind="NodeQOS", name=metric, rules=(made,))


def pressed(*policies: Policy, service: Demand | None = None, hogs: int = 2) -> Simulation:
    """Eight cores, a service that wants four of them, and below it hogs that want all, in two groups."""
    simulation = Simulation()
    simulation.put(*(policies or (rule("cpu_pressure_some_10s", 10),)), SQUEEZE, EVICT)
    simulation.add(pod("service", priority=100, request=2000), service or cores(4))
    for index in range(hogs):
        simulation.add(pod(f"low-{index}", priority=-20, request=2000), cores(8))
        simulation.add(pod(f"high-{index}", priority=-10, request=2000), cores(8))
    return simulation


def quotas(simulation: Simulation) -> dict[str, int]:
    names = {one.uid: one.name for one in simulation.node.pods}
    return {names[one.pod]: one.quota for one in simulation.throttled}


def acts(simulation: Simulation, kind: ActionKind) -> list[Decision]:
    return [one for one in simulation.decisions if one.action is kind and one.operations]


def service_gets(simulation: Simulation) -> float:
    """Cores, over one tick more."""
    uid = simulation.pod("default/service").uid
    before = simulation.node.placed(uid).got
    simulation.tick()
    return (simulation.node.placed(uid).got - before) / simulation.configuration.tick_seconds


def value(simulation: Simulation) -> float:
    """What the first rule read last."""
    assert simulation.held is not None
    return float(simulation.held.verdicts[0].value or 0.0)


# Pressure.


def test_a_service_that_waits_is_given_way_a_step_at_a_time_and_then_nobody_is_squeezed_further() -> None:
    simulation = pressed()
    assert service_gets(simulation) < 2
    simulation.run(8)
    assert service_gets(simulation) == pytest.approx(4, rel=0.1)
    assert not wrong(simulation)


def test_the_lowest_group_is_at_its_floor_before_the_next_gives_anything() -> None:
    simulation = pressed()
    for _ in range(8):
        simulation.tick()
        held = quotas(simulation)
        if "high-0" in held:
            floors = {one.container: one.floor for one in simulation.throttled}
            assert held["low-0"] == held["low-1"] == floors["main"] or held["low-0"] <= 200


def test_our_own_quotas_press_nobody_further_down() -> None:
    simulation = pressed()
    simulation.run(8)
    held = quotas(simulation)
    assert held
    assert value(simulation) <= 10
    for _ in range(TICKS_OF_COOL_DOWN - 3):
        simulation.tick()
        assert quotas(simulation) == held
        # The kernel's own figure is as high as ever: by it they would be squeezed to their floors.
        assert simulation.node.pressed > 50


def test_what_the_kernel_says_of_the_whole_node_stands_in_the_record() -> None:
    simulation = pressed()
    simulation.run(4)
    first = acts(simulation, ActionKind.THROTTLE)[0]
    assert first.metric == "cpu_pressure_some_10s"
    assert "default/service" in first.reason or "default/low-0" in first.reason
    assert "the whole node" in first.reason


def test_pressure_that_giving_back_brings_again_comes_less_and_less_often() -> None:
    simulation = pressed()
    simulation.run(6 * HOUR)
    returned = [one.instant for one in acts(simulation, ActionKind.RESTORE)]
    between = [later - earlier for earlier, later in pairwise(returned)]
    assert max(between) >= 3600
    assert len([at for at in returned if at > simulation.clock.instant() - 3 * 3600]) <= 4


def test_everything_comes_back_when_the_service_is_gone() -> None:
    simulation = pressed(hogs=1)
    simulation.run(10)
    assert simulation.throttled
    simulation.remove("default/service")
    simulation.remove("default/high-0")
    simulation.run(TICKS_OF_COOL_DOWN + 60)
    assert not simulation.throttled
    assert simulation.node.differing() == []


def test_everything_comes_back_when_the_policy_is_gone() -> None:
    simulation = pressed()
    simulation.run(10)
    simulation.delete("cpu_pressure_some_10s")
    simulation.run(1)
    assert simulation.node.differing() == []


def test_a_crash_neither_forgets_nor_repeats_a_step() -> None:
    steady, killed = pressed(), pressed()
    steady.run(5)
    killed.run(5)
    killed.kill()
    steady.run(3)
    killed.run(3)
    assert set(quotas(killed)) == set(quotas(steady))
    assert not wrong(killed)


def test_a_waterline_and_pressure_hold_one_node_together() -> None:
    simulation = pressed(rule("cpu_pressure_some_10s", 10), rule("cpu_total_usage", 6000))
    simulation.run(10)
    assert simulation.usage <= 6000
    simulation.delete("cpu_total_usage")
    simulation.delete("cpu_pressure_some_10s")
    simulation.run(1)
    assert simulation.node.differing() == []


# Memory.


def on_memory(*gib: float, waterline: float = 21) -> Simulation:
    simulation = Simulation()
    simulation.put(rule("memory_total_usage", waterline * GIB, "evict"), replace(EVICT, cool_down=COOL_DOWN))
    for index, amount in enumerate(gib):
        simulation.add(pod(f"batch-{index}"), cores(0.5), Bytes(round(amount * GIB)))
    simulation.add(pod("service", priority=100), cores(1), Bytes(16 * GIB))
    return simulation


def names(simulation: Simulation) -> list[str]:
    return [one.name for one in simulation.node.pods]


def test_memory_is_freed_by_evicting_who_holds_most_until_the_gap_is_closed() -> None:
    simulation = on_memory(1, 6, 3)
    simulation.run(30)
    assert names(simulation) == ["batch-0", "batch-2", "service"]


def test_nobody_else_goes_while_an_evicted_pod_takes_its_time() -> None:
    simulation = on_memory(1, 6, 3)
    simulation.run(3)
    assert names(simulation) == ["batch-0", "batch-1", "batch-2", "service"]
    assert len(acts(simulation, ActionKind.EVICT)) == 1
    simulation.run(1)
    assert len(acts(simulation, ActionKind.EVICT)) == 1


def test_what_came_free_is_measured() -> None:
    simulation = on_memory(1, 6, 3)
    simulation.run(30)
    (first,) = acts(simulation, ActionKind.EVICT)
    assert [(one.expected, one.actual) for one in first.operations] == [(6 * GIB, 6 * GIB)]
    assert first.outcome.recovered


def test_the_node_is_open_again_when_memory_has_been_free_for_a_cool_down() -> None:
    simulation = on_memory(1, 6, 3)
    simulation.run(5)
    assert closed(simulation)
    simulation.run(TICKS_OF_COOL_DOWN + 5)
    assert not closed(simulation)
