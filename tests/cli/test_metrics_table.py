"""`slackwater metrics`: the table of what a rule may name, and why this machine cannot read some of it."""

import msgspec
import pytest
from click.testing import CliRunner

from slackwater.api.units import Bytes, Instant, Microseconds, Millicores, Nanoseconds, Wall
from slackwater.cli import here
from slackwater.cli.here import why_not
from slackwater.cli.metrics import metrics
from slackwater.host.discovery import NoCgroups
from slackwater.host.edge import KnobSupport, Survey
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.scene import Scene
from slackwater.snapshot.counters import CpuTimes, DeviceIo, HostSample, NodeCounters, Pressure
from slackwater.snapshot.usage import Capacity, Frames


def run(*arguments: str) -> str:
    result = CliRunner().invoke(metrics, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_metric_has_a_line_the_highest_rank_first_and_then_by_name() -> None:
    ranks = {metric.name: metric.priority for metric in BUILTIN.metrics.values()}
    listed = [line.split()[0] for line in run().splitlines()[1 : len(ranks) + 1]]
    assert listed == sorted(ranks, key=lambda name: (-ranks[name], name))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    head, *rows = run().splitlines()[: len(BUILTIN.metrics) + 1]
    for title in ("UNIT", "PRIORITY", "THROTTLE", "EVICT", "HERE", "DESCRIPTION"):
        assert all(row[head.index(title) - 1] == " " != row[head.index(title)] for row in rows)


def test_what_cannot_be_done_is_told_with_its_reason() -> None:
    told = run()
    assert "memory_total_usage cannot be throttled: memory in use cannot be taken back by a limit" in told
    assert "ext_cpu_total_distribute cannot be throttled: a quota does not change what is requested" in told


def test_a_program_gets_units_abilities_and_reasons() -> None:
    listed = {one["name"]: one for one in msgspec.json.decode(run("-o", "json"))["metrics"]}
    assert listed.keys() == BUILTIN.metrics.keys()
    memory = listed["memory_total_usage"]
    assert (memory["unit"], memory["actionPriority"], memory["sortable"]) == ("bytes", 10, True)
    assert (memory["throttle"]["able"], memory["evict"]["quantified"]) == (False, True)
    assert listed["cpu_load_1m"]["throttle"] == {
        "able": True,
        "quantified": False,
        "why": "through CPU, a step at a time",
    }
    assert all(one["here"].keys() == {"readable", "why"} for one in listed.values())


def survey(*, pressure: str = "") -> Survey:
    """Of a machine whose pods' groups tell their pressure, or do not because of that."""
    knob = KnobSupport("pressure", works=not pressure, why=pressure or "by cpu.pressure")
    return Survey(
        backend="cgroup1",
        kernel="6.1",
        cpu=Millicores(2000),
        memory=Bytes(1 << 30),
        root="/",
        layout="cgroupfs",
        knobs=(knob,),
    )


def looked(*, psi: bool = True, disks: bool = True) -> Scene:
    quiet = Pressure(Microseconds(0), Microseconds(0), 0.0, 0.0)
    device = {"sda": DeviceIo(Bytes(0), Bytes(0))}
    node = NodeCounters(
        cpu=CpuTimes(*[Nanoseconds(0)] * 8),
        memory_working_set=Bytes(1),
        load=(0.0, 0.0, 0.0),
        pressure=dict.fromkeys(("cpu", "memory", "io"), quiet) if psi else {},
        disks=device if disks else {},
        networks=device,
    )
    samples = tuple(HostSample(at=Instant(at), wall=Wall(at), node=node) for at in (0.0, 1.0))
    capacity = Capacity(Millicores(2000), Bytes(1 << 30))
    return Scene(frames=Frames(samples), capacity=capacity, elastic_cpu=1000.0)


def missing(scene: Scene, seen: Survey) -> dict[str, str]:
    return {name: why for name, metric in BUILTIN.metrics.items() if (why := why_not(metric, scene, seen))}


def test_a_machine_that_tells_everything_lacks_nothing() -> None:
    assert missing(looked(), survey()) == {}


def test_without_pressure_in_the_kernel_every_pressure_metric_says_what_it_takes() -> None:
    found = missing(looked(psi=False), survey())
    assert found.keys() == {name for name in BUILTIN.metrics if "pressure" in name}
    assert all("CONFIG_PSI" in why for why in found.values())


def test_where_only_pods_groups_tell_no_pressure_the_surveys_reason_stands() -> None:
    reason = "only a unified tree tells it, and none is mounted"
    assert missing(looked(), survey(pressure=reason)) == {"cpu_pressure_some_10s": reason}


def test_a_machine_without_disks_has_no_disk_metrics() -> None:
    assert missing(looked(disks=False), survey()).keys() == {"disk_read_rate", "disk_write_rate", "disk_busy"}


def test_a_machine_that_cannot_be_looked_at_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise NoCgroups("no controllers")

    monkeypatch.setattr(here, "Machine", nothing)
    assert "cpu_total_usage cannot be read here: this machine cannot be looked at: no controllers" in run()
