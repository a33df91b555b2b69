"""The whole agent on this machine's own cgroups: it squeezes, it gives back to the last byte, and nothing that happens to it leaves anything behind."""

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from station import HIGH, LOW, Station, eventually

pytestmark = pytest.mark.host

UNLIMITED = ("-1", "max")


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    one = Station(tmp_path)
    one.pod("etl")
    one.pod("web", priority=0)
    one.action("throttle", throttle={"cpuThrottle": {}})
    one.policy("throttle", LOW)
    one.lab.up()
    yield one
    one.close()


def squeezed(station: Station) -> bool:
    return station.quota_of("etl") not in UNLIMITED


def test_batch_is_squeezed_and_every_file_is_as_before_when_the_agent_ends(station: Station) -> None:
    before = station.knobs()
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    assert station.quota_of("web") in UNLIMITED
    station.end(agent)
    assert agent.returncode == 0
    assert station.knobs() == before
    assert station.marked() == []


def test_what_was_done_can_be_explained_afterwards(station: Station) -> None:
    agent = station.agent()
    eventually(lambda: any(d["operations"] for d in station.decisions()), "a decision with operations")
    station.end(agent)
    first = next(d for d in station.decisions() if d["operations"])
    assert (first["policy"], first["rule"], first["action"]) == ("waterline", "cpu-usage", "throttle")
    assert {op["pod"] for op in first["operations"]} == {"default/etl"}
    assert {c["pod"]: c["taken"] for c in first["candidates"]} == {"default/etl": True, "default/web": False}


def test_killed_in_the_middle_and_started_again_it_goes_on_and_gives_back(station: Station) -> None:
    before = station.knobs()
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.end(agent, signal.SIGKILL)
    assert squeezed(station)
    station.policy("throttle", HIGH)
    again = station.agent("--ticks", "30")
    eventually(lambda: station.knobs() == before, "all given back")
    station.end(again)


def test_without_its_journal_it_gives_back_what_is_marked(station: Station) -> None:
    before = station.knobs()
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.end(agent, signal.SIGKILL)
    for file in (station.folder / ".slackwater").glob("journal.db*"):
        file.unlink()
    station.remove("policy")
    again = station.agent("--ticks", "2")
    again.communicate(timeout=30)
    assert station.knobs() == before
    assert station.marked() == []


def test_a_policy_that_is_deleted_lets_go_at_once(station: Station) -> None:
    before = station.knobs()
    station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.remove("policy")
    eventually(lambda: station.knobs() == before, "all given back")


def test_preview_writes_nothing_and_says_what_it_would_do(station: Station) -> None:
    before = station.knobs()
    station.policy("throttle", LOW, strategy="Preview")
    agent = station.agent("--ticks", "4")
    said, _ = agent.communicate(timeout=30)
    assert station.knobs() == before
    assert b"ends: nothing was held" in said
    assert [d["preview"] for d in station.decisions()] == [True]


def test_a_second_agent_is_refused_and_told_who_is_there(station: Station) -> None:
    first = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    second = station.agent()
    said = second.communicate(timeout=30)[0].decode()
    assert second.returncode == 1
    assert f"process {first.pid}" in said


def test_release_gives_back_what_a_killed_agent_left(station: Station) -> None:
    before = station.knobs()
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    refused = station.run("release")
    assert refused.returncode == 1
    assert str(agent.pid) in refused.stderr
    station.end(agent, signal.SIGKILL)
    released = station.run("release")
    assert released.returncode == 0
    assert station.knobs() == before
    assert station.marked() == []


def test_beside_another_agent_of_its_kind_it_only_previews(station: Station, tmp_path: Path) -> None:
    before = station.knobs()
    rival = tmp_path / "bin" / "koordlet"
    rival.parent.mkdir()
    shutil.copy("/bin/sleep", rival)
    with subprocess.Popen([str(rival), "100"]) as running:
        agent = station.agent("--ticks", "4")
        said = agent.communicate(timeout=30)[0].decode()
        running.kill()
    assert "koordlet" in said
    assert station.knobs() == before


def test_what_somebody_else_writes_over_it_is_put_right_at_the_next_tick(station: Station) -> None:
    station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    path = Path(next(p for p in station.knobs() if p.endswith(("cfs_quota_us", "cpu.max")) and _of(station, "etl", p)))
    path.write_text("-1" if path.name == "cpu.cfs_quota_us" else "max")
    eventually(lambda: squeezed(station), "squeezed again")


def test_an_eviction_ends_the_pod_and_closes_the_node_until_its_cool_down_is_over(station: Station) -> None:
    station.pod(
        "job", ownerReferences=[{"kind": "Job", "name": "job", "controller": True, "uid": "u", "apiVersion": "v1"}]
    )
    station.action("evict", eviction={"terminationGracePeriodSeconds": 1})
    station.policy("evict", LOW)
    station.lab.up()
    station.agent()
    eventually(lambda: station.node().taints, "the node closed")
    eventually(lambda: _phase(station, "job") in {"Failed", "gone"}, "job evicted")
    assert _phase(station, "etl") == "Running"
    station.policy("evict", HIGH)
    eventually(lambda: not station.node().taints, "the node open")


@pytest.mark.native
def test_ten_thousand_bad_files_do_not_stop_it(station: Station) -> None:
    for number in range(10_000):
        (station.folder / f"bad-{number:05d}.yaml").write_text("kind: [")
    station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")


def test_without_a_journal_to_write_it_goes_on_and_says_so(station: Station) -> None:
    before = station.knobs()
    agent = station.agent("--journal-path", "/proc/no/such/journal.db")
    eventually(lambda: squeezed(station), "etl squeezed")
    said = station.end(agent)
    assert "journal" in said
    assert station.knobs() == before


def _of(station: Station, pod: str, path: str) -> bool:
    found = next(one for one in station.lab.pods() if one.name == pod)
    return any(path.startswith(container.cgroups["cpu"]) for container in found.containers)


def _phase(station: Station, pod: str) -> str:
    return next((one.phase for one in station.lab.pods() if one.name == pod), "gone")


def test_a_quota_that_nobody_claims_is_reported_and_left_alone(station: Station) -> None:
    station.policy("throttle", HIGH)
    path = Path(next(p for p in station.knobs() if p.endswith(("cfs_quota_us", "cpu.max")) and _of(station, "etl", p)))
    path.write_text("70000")
    agent = station.agent("--tick-seconds", "0.1", "--ticks", "40")
    said = agent.communicate(timeout=60)[0].decode()
    assert "default/etl/main: its quota is 70000 us and kubelet would have set unlimited" in said
    assert path.read_text().split()[0] == "70000"


def test_killed_at_any_moment_again_and_again_it_ends_with_nothing_left(station: Station) -> None:
    before = station.knobs()
    random = Random(1)
    for _ in range(8):
        agent = station.agent("--tick-seconds", "0.1")
        with contextlib.suppress(subprocess.TimeoutExpired):
            agent.wait(0.4 + random.random())
        station.end(agent, signal.SIGKILL)
    eventually_ends = station.agent("--ticks", "2")
    eventually_ends.communicate(timeout=30)
    assert station.knobs() == before
    assert station.marked() == []


def test_when_the_terminal_closes_everything_is_given_back(station: Station) -> None:
    before = station.knobs()
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.end(agent, signal.SIGHUP)
    assert agent.returncode == 0
    assert station.knobs() == before


def test_a_lab_that_goes_down_and_comes_up_is_followed_and_still_guarded(station: Station) -> None:
    station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.lab.down(at_once=True)
    station.lab.up()
    eventually(lambda: squeezed(station), "etl squeezed on the new tree")
    assert station.run("release").returncode == 1
    second = station.agent()
    second.communicate(timeout=30)
    assert second.returncode == 1


def test_an_agent_that_was_there_before_its_lab_finds_it(station: Station) -> None:
    station.lab.down(at_once=True)
    agent = station.agent()
    time.sleep(1)
    assert agent.poll() is None
    station.lab.up()
    eventually(lambda: squeezed(station), "etl squeezed")


def test_what_is_given_back_at_the_end_can_be_explained(station: Station) -> None:
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    station.end(agent)
    last = station.decisions()[-1]
    assert (last["action"], "the agent ended" in last["sentence"]) == ("restore", True)


def test_the_status_says_whether_an_agent_still_stands_behind_it(station: Station) -> None:
    agent = station.agent()
    eventually(lambda: squeezed(station), "etl squeezed")
    assert f"agent: process {agent.pid}" in station.run("status").stdout
    station.end(agent, signal.SIGKILL)
    assert "no agent runs here" in station.run("status").stdout
