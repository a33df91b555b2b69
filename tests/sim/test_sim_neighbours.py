"""Others write to the node too, and some writes are never taken: what the agent makes of it."""

import errno

from sim_stories import EVICT, WATERLINE, closed, cores, node, pod, policy, wrong

from slackwater.api.units import HIGHEST_SHARES, Microseconds
from slackwater.sim.world import Simulation
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob
from slackwater.snapshot.usage import groups_of


def squeezed() -> Simulation:
    simulation = node()
    simulation.run(5)
    assert simulation.throttled
    return simulation


def first_group(simulation: Simulation, key: str) -> GroupId:
    return groups_of(simulation.pod(key))[0][1]


def test_what_systemd_puts_back_is_set_again_at_the_next_tick() -> None:
    simulation = squeezed()
    for one in simulation.node.pods:
        placed = simulation.node.placed(one.uid)
        placed.group.weight = placed.weight
        for container in placed.containers:
            container.group.quota = container.quota
    simulation.run(1)
    assert not wrong(simulation)


def test_who_writes_the_same_knob_again_and_again_is_reported() -> None:
    simulation = squeezed()
    group = first_group(simulation, "default/batch-0")
    for _ in range(4):
        simulation.host.group(group).quota = Microseconds(77_000)
        simulation.run(1)
    assert "WrittenByAnother" in {one.reason for one in simulation.cluster.events}


def test_a_knob_that_is_never_taken_is_reported_and_the_others_give_what_is_needed() -> None:
    simulation = node()
    group = first_group(simulation, "default/batch-0")
    simulation.host.refuse(group, Knob.QUOTA, errno.EINVAL)
    simulation.run(12)
    assert simulation.usage <= WATERLINE
    assert "WriteRefused" in {one.reason for one in simulation.cluster.events}
    simulation.host.refuse(group, Knob.QUOTA, None)
    simulation.delete("waterline")
    simulation.run(40)
    assert simulation.node.differing() == []


def test_a_guaranteed_service_is_lifted_while_others_are_throttled_and_no_longer() -> None:
    simulation = node()
    service = simulation.add(pod("guaranteed", priority=100, request=1000, limit=1000), cores(1))
    own = simulation.host.group(GroupId(service.uid)).weight
    simulation.run(4)
    assert simulation.host.group(GroupId(service.uid)).weight == HIGHEST_SHARES
    simulation.delete("waterline")
    simulation.run(1)
    assert simulation.host.group(GroupId(service.uid)).weight == own
    assert simulation.node.differing() == []


def test_a_pod_whose_eviction_is_refused_is_passed_over_and_the_next_one_goes() -> None:
    simulation = node(policy(action="evict", value=7500), EVICT)
    kept = simulation.pod("default/batch-0")
    simulation.cluster.refuse_evictions(kept.uid)
    simulation.run(4)
    assert [one.pod.key for one in simulation.cluster.evictions] == ["default/batch-1"]
    assert closed(simulation)
    assert any(operation.refused for one in simulation.decisions for operation in one.operations)
