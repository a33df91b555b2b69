"""The node's own counters, out of texts as kernels write them."""

from pathlib import Path

import pytest

from slackwater.host.files import OpenFiles
from slackwater.host.node import (
    NodeFiles,
    parse_cpu,
    parse_disks,
    parse_load,
    parse_memory,
    parse_networks,
    parse_pressure,
)
from slackwater.snapshot.counters import DeviceIo, NodeCounters, Pressure

TICK = 10_000_000  # ns


def disk(name: str, sectors_read: int = 8, sectors_written: int = 16, busy_ms: int = 5) -> str:
    return f" 254 0 {name} 100 6 {sectors_read} 14 63 14 {sectors_written} 24 0 {busy_ms} 16 33 5 14 1 30 10\n"


def interface(name: str, received: int = 100, sent: int = 50) -> str:
    return f"{name:>6}: {received} 4 0 0 0 0 0 0 {sent} 3 0 0 0 0 0 0\n"


def test_cpu_time_is_of_all_cpus_together_and_idle_time_is_not_used() -> None:
    cpu = parse_cpu(b"cpu  10 20 30 400 50 6 7 80 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    assert cpu.used == (10 + 20 + 30 + 6 + 7) * TICK
    assert (cpu.idle, cpu.iowait, cpu.steal) == (400 * TICK, 50 * TICK, 80 * TICK)


def test_the_machines_working_set_leaves_out_what_can_be_dropped() -> None:
    meminfo = b"MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  400 kB\n"
    assert parse_memory(meminfo) == (1000 * 1024, 600 * 1024)


def test_load_is_three_averages() -> None:
    assert parse_load(b"0.60 0.54 0.14 2/290 4711\n") == (0.60, 0.54, 0.14)


@pytest.mark.parametrize(
    ("text", "pressure"),
    [
        (
            b"some avg10=1.50 avg60=0.54 avg300=0.14 total=2945233\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=77\n",
            (2945233, 77, 1.5, 0.25),
        ),
        (b"some avg10=1.50 avg60=0.54 avg300=0.14 total=9\n", (9, 0, 1.5, 0.0)),  # the CPU's, before 5.13
    ],
)
def test_pressure_is_stall_time_and_its_mean(text: bytes, pressure: tuple[int, int, float, float]) -> None:
    found = parse_pressure(text)
    assert (found.some_total, found.full_total, found.some_avg10, found.full_avg10) == pressure
    assert isinstance(found, Pressure)


@pytest.mark.parametrize("name", ["vda", "sda", "nvme0n1", "mmcblk0", "dm-0", "md127", "xvdb"])
def test_disks_are_counted(name: str) -> None:
    assert parse_disks(disk(name).encode()) == {name: DeviceIo(8 * 512, 16 * 512, 5000)}  # type: ignore[arg-type] # bare numbers read better here


@pytest.mark.parametrize(
    "name", ["vda1", "sda15", "nvme0n1p2", "mmcblk0p1", "mmcblk0boot0", "loop7", "ram0", "zram0", "sr0"]
)
def test_partitions_and_loops_are_not(name: str) -> None:
    assert parse_disks(disk(name).encode()) == {}


def test_the_nodes_own_networks_are_counted_and_the_pods_links_are_not() -> None:
    head = "Inter-|   Receive  |  Transmit\n face |bytes packets errs|bytes packets\n"
    text = head + "".join(map(interface, ("lo", "eth0", "veth12ab", "cali9f", "lxc0", "bond0")))
    assert parse_networks(text.encode()) == {name: DeviceIo(100, 50) for name in ("eth0", "bond0")}  # type: ignore[arg-type] # as above


def proc(folder: Path, **files: str) -> str:
    for name, text in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(folder)


def read(where: str) -> NodeCounters:
    files = OpenFiles()
    node = NodeFiles(where, files)
    try:
        return node.read(lambda: 5.0)[1]  # type: ignore[arg-type,return-value] # an instant
    finally:
        files.close_all([node.open])


def test_a_file_that_is_missing_or_torn_costs_its_own_part_only(tmp_path: Path) -> None:
    node = read(proc(tmp_path, stat="cpu  1 2 3 4 5 6 7 8 0 0\n", meminfo="MemTotal: what\n", pressure__cpu="some\n"))
    assert node.cpu is not None
    assert (node.memory_total, node.load, node.pressure, node.disks) == (None, None, {}, {})


def test_more_disks_than_fit_one_page_are_all_seen(tmp_path: Path) -> None:
    names = [f"dm-{number}" for number in range(2000)]
    assert set(read(proc(tmp_path, diskstats="".join(map(disk, names)))).disks) == set(names)
