"""The example package, installed as a user would and used through the commands, on a simulated node and on this machine."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from station import Station, eventually

from slackwater.agent import packages
from slackwater.agent.guarding import Guard
from slackwater.api.units import Millicores
from slackwater.sim.demand import constant
from slackwater.sim.world import Simulation, pods_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "queue-metric"
UNLIMITED = ("-1", "max")
HANGING = """
import time
from slackwater.metrics.metric import Metric, Unit

def hangs(scene):
    time.sleep(3600)

def metrics():
    return Metric(name="hanging", unit=Unit.TASKS, description="never", priority=1, of_node=hangs, part_of_node=False)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without a network, from a copy: building must leave nothing in the checkout."""
    source, target = tmp_path_factory.mktemp("source") / "queue-metric", tmp_path_factory.mktemp("target")
    shutil.copytree(EXAMPLE, source)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", target, source], check=True)
    return target


@pytest.fixture
def queue(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the package counts; the package is there for every command from now on."""
    folder = tmp_path / "queue"
    folder.mkdir()
    monkeypatch.setenv("QUEUE_FOLDER", str(folder))
    found_before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(installed), found_before))))
    return folder


def fill(queue: Path, pod: str, files: int) -> None:
    for number in range(files):
        (queue / f"default_{pod}_{number}").touch()


def drain(queue: Path) -> None:
    for file in queue.iterdir():
        file.unlink()


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "slackwater", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.usefixtures("queue")
def test_its_metric_is_listed_with_its_package() -> None:
    told = command("metrics", "-o", "json")
    assert told.returncode == 0, told.stderr
    metric = next(one for one in json.loads(told.stdout)["metrics"] if one["name"] == "queue_length")
    assert (metric["package"], metric["unit"], metric["actionPriority"]) == ("queue-metric 1.0", "files", 5)
    assert (metric["throttle"]["able"], metric["throttle"]["quantified"], metric["evict"]["able"]) == (
        True,
        True,
        False,
    )
    assert "queue-metric 1.0" in command("metrics").stdout


@pytest.mark.usefixtures("queue")
def test_a_policy_that_names_it_is_found_right() -> None:
    checked = command("check", str(EXAMPLE / "policy.yaml"))
    assert (checked.returncode, checked.stdout) == (0, "2 documents, 0 errors, 0 warnings\n")


def test_without_the_package_the_policy_is_found_wrong() -> None:
    checked = command("check", str(EXAMPLE / "policy.yaml"))
    assert checked.returncode == 1
    assert "there is no metric of this name (found queue_length)" in checked.stdout


PODS = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default}}
spec: {{priority: -10, containers: [{{name: main, image: none, resources: {{requests: {{cpu: 100m}}}}}}]}}
"""


@pytest.fixture
def node(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    """A simulated node whose agent has what is installed; the collector looks once a tick."""
    monkeypatch.syspath_prepend(installed)
    guard = Guard(lambda _: None, time.monotonic)
    entries = [entry for entry in packages.entries() if entry.package == "queue-metric"]
    loaded = packages.load(entries, guard, {}, lambda _: None)
    simulation = Simulation(catalogue=loaded.catalogue)
    simulation.packages = packages.Packages(loaded, guard, simulation.clock.instant)
    simulation.apply((EXAMPLE / "policy.yaml").read_text())
    for name in ("etl", "job"):
        simulation.add(pods_in(PODS.format(name=name))[0], constant(Millicores(1000)))
    yield simulation
    sys.modules.pop("queue_metric", None)


def tick(node: Simulation, count: int) -> None:
    assert isinstance(node.packages, packages.Packages)
    for _ in range(count):
        for collecting in node.packages._collecting.values():
            collecting.once()
        node.tick()


def quotas(node: Simulation) -> dict[str, int]:
    names = {pod.uid: pod.name for pod in node.node.pods}
    return {names[one.pod]: one.quota for one in node.throttled}


def test_who_has_most_files_waiting_is_squeezed_first_and_it_comes_back(node: Simulation, queue: Path) -> None:
    fill(queue, "etl", 40)
    fill(queue, "job", 80)
    tick(node, 3)
    # 20 files too many and a tenth: of one group both give, the one with more of them first, and 22 in all.
    held = quotas(node)
    assert held["job"] < 1000
    decision = next(one for one in node.decisions if one.operations)
    assert next(one.pod for one in decision.candidates if one.taken) == "default/job"
    assert sum(one.expected or 0 for one in decision.operations) == pytest.approx(22, abs=0.2)
    drain(queue)
    tick(node, 30)
    assert quotas(node) == {}
    assert node.node.differing() == []


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    one = Station(tmp_path / "cluster")
    one.folder.mkdir()
    one.pod("etl")
    one.pod("web", priority=0)
    one.action("squeeze", throttle={"cpuThrottle": {}})
    yield one
    one.close()


def policy(station: Station, metric: str, value: int) -> None:
    rule = {"name": "rule", "avoidanceThreshold": 1, "actionName": "squeeze"}
    station._write(
        "policy",
        {
            "apiVersion": "ensurance.crane.io/v1alpha1",
            "kind": "NodeQOSEnsurancePolicy",
            "metadata": {"name": "own"},
            "spec": {"objectiveEnsurances": [{**rule, "metricRule": {"name": metric, "value": value}}]},
        },
    )


def said(station: Station) -> dict[str, Any]:
    told = station.run("status", "-o", "json")
    found: dict[str, Any] = json.loads(told.stdout)["status"] if told.returncode == 0 else {}
    return found


@pytest.mark.host
def test_on_this_machine_batch_is_squeezed_while_files_wait_and_not_longer(station: Station, queue: Path) -> None:
    policy(station, "queue_length", 10)
    station.lab.up()
    before = station.knobs()
    fill(queue, "etl", 100)
    agent = station.agent()
    eventually(lambda: station.quota_of("etl") not in UNLIMITED, "etl squeezed")
    assert station.quota_of("web") in UNLIMITED
    assert said(station)["packages"] == [
        {"name": "queue-metric", "version": "1.0", "metrics": ["queue_length"], "refused": [], "error": ""}
    ]
    first = next(one for one in station.decisions() if one["operations"])
    assert (first["metric"], first["unit"]) == ("queue_length", "files")
    drain(queue)
    eventually(lambda: station.knobs() == before, "all given back")
    station.end(agent)
    assert station.marked() == []


@pytest.mark.host
def test_a_package_that_hangs_ends_the_agent_and_is_left_out_by_the_next(
    station: Station, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    info = target / "hanging-2.0.dist-info"
    info.mkdir(parents=True)
    (target / "hanging.py").write_text(HANGING)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hanging\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[slackwater.metrics]\nhanging = hanging:metrics\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(target), os.environ.get("PYTHONPATH", "")))))
    policy(station, "hanging", 10)
    station.action("squeeze")
    station.lab.up()
    hung = station.agent()
    told = hung.communicate(timeout=100)[0].decode()
    assert hung.returncode == 3
    assert "this tick has taken more than 30 s" in told
    again = station.agent("--ticks", "3")
    told = again.communicate(timeout=60)[0].decode()
    assert again.returncode == 0
    assert "the last agent hung in a function of package hanging 2.0; it is left out" in told
    assert "hanging.py" in told
    status = said(station)
    assert "is left out" in status["packages"][0]["error"]
    assert "package hanging 2.0 is left out" in status["rules"][0]["error"]
    assert "is left out" in command("metrics", "--cluster", f"folder:{station.folder}").stdout
