"""
Metrics that say that something is wrong, not by whom: load, disks, network.

Nothing that is done to a pod can be counted in them, so a rule on one acts through CPU (or memory, for memory's
pressure), a step at a time, and comes back when it has been well for a while.
"""

from collections.abc import Callable

from slackwater.api.units import Amount
from slackwater.metrics.cpu import CPU_TOTAL_USAGE
from slackwater.metrics.metric import Ability, Metric, NodeUsage, Unit
from slackwater.metrics.scene import Scene
from slackwater.snapshot.counters import DeviceIo, NodeCounters

STEPWISE = Ability(able=True, quantified=False, why="through CPU, a step at a time")


def indirect(
    name: str,
    unit: Unit,
    description: str,
    of_node: NodeUsage,
    *,
    through: str = CPU_TOTAL_USAGE.name,
    needs: str = "it takes a device that /proc tells of",
) -> Metric:
    return Metric(
        name=name,
        unit=unit,
        description=description,
        priority=0,
        of_node=of_node,
        throttle=STEPWISE,
        evict=STEPWISE,
        acts_through=through,
        part_of_node=False,
        needs=needs,
    )


def _load(which: int) -> NodeUsage:
    def of_node(scene: Scene) -> Amount | None:
        load = scene.frames.newest.node.load if scene.frames.newest else None
        return None if load is None else Amount(load[which])

    return of_node


Devices = Callable[[NodeCounters], dict[str, DeviceIo]]


def _disks(node: NodeCounters) -> dict[str, DeviceIo]:
    return node.disks


def _networks(node: NodeCounters) -> dict[str, DeviceIo]:
    return node.networks


def _rate(devices: Devices, count: Callable[[DeviceIo], int]) -> NodeUsage:
    """Over all devices that were there at both samples; one whose counter ran backwards gives no reading."""

    def of_node(scene: Scene) -> Amount | None:
        new, old = scene.frames.newest, scene.frames.before
        if new is None or old is None or not scene.interval:
            return None
        before, after = devices(old.node), devices(new.node)
        deltas = [count(after[name]) - count(before[name]) for name in after.keys() & before.keys()]
        if not deltas or min(deltas) < 0:
            return None
        return Amount(sum(deltas) / scene.interval)

    return of_node


def _busiest(scene: Scene) -> Amount | None:
    """Of the disk that was busy for most of the time."""
    new, old = scene.frames.newest, scene.frames.before
    if new is None or old is None or not scene.interval:
        return None
    both = new.node.disks.keys() & old.node.disks.keys()
    busy = [new.node.disks[name].busy - old.node.disks[name].busy for name in both]
    if not busy or min(busy) < 0:
        return None
    return Amount(min(100.0, max(busy) / (scene.interval * 10_000)))


METRICS = (
    indirect("cpu_load_1m", Unit.TASKS, "load average over 1 minute", _load(0)),
    indirect("cpu_load_5m", Unit.TASKS, "load average over 5 minutes", _load(1)),
    indirect("cpu_load_15m", Unit.TASKS, "load average over 15 minutes", _load(2)),
    indirect("disk_read_rate", Unit.BYTES_PER_SECOND, "read from all disks", _rate(_disks, lambda device: device.read)),
    indirect(
        "disk_write_rate", Unit.BYTES_PER_SECOND, "written to all disks", _rate(_disks, lambda device: device.written)
    ),
    indirect("disk_busy", Unit.PERCENT, "time in which the busiest disk had work", _busiest),
    indirect(
        "network_receive_rate",
        Unit.BYTES_PER_SECOND,
        "received on all interfaces but pods' links",
        _rate(_networks, lambda device: device.read),
    ),
    indirect(
        "network_transmit_rate",
        Unit.BYTES_PER_SECOND,
        "sent on all interfaces but pods' links",
        _rate(_networks, lambda device: device.written),
    ),
)
