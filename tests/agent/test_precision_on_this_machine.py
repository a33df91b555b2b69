"""
Four batch pods of different class, priority, age and use, two of them with several containers, on this machine's own
cgroups: who is squeezed, by how much against the gap, and whether every file is as it was.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from station import HIGH, LOOP, Station, eventually

from slackwater.cluster.ledger import replace

pytestmark = [pytest.mark.host, pytest.mark.native]

HALF_BUSY = ["sh", "-c", "while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05; done"]


def pod(folder: Path, name: str, priority: int, containers: dict[str, tuple[list[str], dict[str, Any]]]) -> None:
    made = [
        {"name": one, "image": "none", "command": command, "resources": resources}
        for one, (command, resources) in containers.items()
    ]
    spec = {"priority": priority, "terminationGracePeriodSeconds": 1, "containers": made}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    replace(folder / f"pod-{name}.json", json.dumps(manifest).encode())


def asks(request: str, limit: str = "") -> dict[str, Any]:
    return {"requests": {"cpu": request}, **({"limits": {"cpu": limit}} if limit else {})}


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    one = Station(tmp_path)
    pod(tmp_path, "best-effort", 0, {"main": (LOOP, {})})
    pod(tmp_path, "lowest", -20, {"main": (LOOP, asks("100m")), "side": (HALF_BUSY, asks("50m", "400m"))})
    pod(tmp_path, "low", -10, {"main": (LOOP, asks("200m", "900m")), "idle": (["sleep", "1000"], asks("50m"))})
    one.lab.up()
    pod(tmp_path, "young", -10, {"main": (LOOP, asks("200m"))})
    one.action("throttle", throttle={"cpuThrottle": {"minCPURatio": 10, "stepCPURatio": 10}}, coolDownSeconds=60)
    one.lab.up()
    yield one
    one.close()


def first_squeeze(station: Station) -> dict[str, Any]:
    return next(decision for decision in station.decisions() if decision["operations"])


def test_the_gap_is_closed_in_order_and_every_file_comes_back_to_the_last_byte(station: Station) -> None:
    before = station.knobs()
    station.policy("throttle", 1700)
    agent = station.agent("--tick-seconds", "1")
    eventually(
        lambda: any(
            decision["operations"] and decision["operations"][0]["actual"] is not None
            for decision in station.decisions()
        ),
        "a squeeze that was measured",
    )
    squeeze = first_squeeze(station)
    quotas = [operation for operation in squeeze["operations"] if operation["knob"] == "quota"]
    planned = sum(operation["expected"] for operation in quotas)
    assert planned <= squeeze["gap"] * 1.05
    order = [candidate["pod"] for candidate in squeeze["candidates"]]
    assert order[:2] == ["default/best-effort", "default/lowest"]
    assert set(order[2:]) == {"default/low", "default/young"}
    # A BestEffort pod on a busy node gets next to nothing: it may well use less than its floor, and is left alone.
    able = [candidate for candidate in squeeze["candidates"] if "floor" not in candidate["why"]]
    taken = [candidate["taken"] for candidate in able]
    assert taken == sorted(taken, reverse=True), "nobody is passed over for a later one"
    assert all(operation["container"] != "idle" for operation in quotas)
    station.policy("throttle", HIGH)
    station.end(agent)
    assert station.knobs() == before
    assert station.marked() == []
