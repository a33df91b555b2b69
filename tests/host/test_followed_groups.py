"""Groups that come, go and come in pieces, on folders that look like a v2 tree."""

import errno
import shutil
from pathlib import Path

import pytest
from stages import HandClock

from slackwater.api.objects import QosClass
from slackwater.host.cgroup2 import Cgroup2
from slackwater.host.edge import Refused, Vanished
from slackwater.host.files import OpenFiles
from slackwater.host.groups import FollowedGroups, walk
from slackwater.host.layout import Layout, Style
from slackwater.host.machine import Machine
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob

POD = PodGroups("pod-1", QosClass.BURSTABLE, ("a",))
GROUP = GroupId("pod-1", "a")
STAT = "usage_usec 5\nnr_periods 4\nnr_throttled 1\n"
MEMORY = {"memory.current": "10\n", "memory.stat": "anon 1\ninactive_file 4\n"}
PRESSURE = {"cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"}
WHOLE = GroupCounters(5000, 4, 1, 6, 9)  # type: ignore[arg-type] # bare numbers read better here


@pytest.fixture
def followed(tmp_path: Path) -> FollowedGroups:
    return FollowedGroups(Cgroup2(str(tmp_path)), OpenFiles())


def group(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / Layout().container("pod-1", POD.qos_class, "a")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def look(followed: FollowedGroups) -> dict[GroupId, GroupCounters]:
    followed.follow([POD], Layout())
    return followed.counters()


def test_a_whole_group_is_read_whole(tmp_path: Path, followed: FollowedGroups) -> None:
    group(tmp_path, **{"cpu.stat": STAT}, **MEMORY, **PRESSURE)
    assert look(followed) == {GROUP: WHOLE}


def test_a_folder_without_a_single_file_is_no_group(tmp_path: Path, followed: FollowedGroups) -> None:
    group(tmp_path)
    assert look(followed) == {}
    group(tmp_path, **{"cpu.stat": STAT}, **MEMORY, **PRESSURE)
    assert look(followed) == {GROUP: WHOLE}


def test_what_comes_a_moment_later_is_taken_up(tmp_path: Path, followed: FollowedGroups) -> None:
    group(tmp_path, **{"cpu.stat": STAT})
    assert look(followed)[GROUP] == GroupCounters(5000, 4, 1)  # type: ignore[arg-type] # as above
    group(tmp_path, **MEMORY, **PRESSURE)
    assert look(followed) == {GROUP: WHOLE}


def test_what_has_not_come_after_some_looks_is_not_looked_for_any_more(
    tmp_path: Path, followed: FollowedGroups
) -> None:
    group(tmp_path, **{"cpu.stat": STAT}, **MEMORY)
    for _ in range(10):
        look(followed)
    group(tmp_path, **PRESSURE)
    assert look(followed)[GROUP].cpu_some_total is None


def test_a_group_in_pieces_that_goes_is_gone(tmp_path: Path, followed: FollowedGroups) -> None:
    folder = group(tmp_path, **{"cpu.stat": STAT})
    look(followed)
    shutil.rmtree(folder)
    assert look(followed) == {}
    assert followed.path(GROUP) is None


def test_before_there_is_a_layout_nothing_is_found_and_everything_after(
    tmp_path: Path, followed: FollowedGroups
) -> None:
    group(tmp_path, **{"cpu.stat": STAT}, **MEMORY, **PRESSURE)
    followed.follow([POD], None)
    assert followed.counters() == {}
    assert look(followed) == {GROUP: WHOLE}


def test_a_walk_finds_pods_and_containers_of_every_runtime_and_nothing_else(tmp_path: Path) -> None:
    layout, found = Layout(Style.SYSTEMD), {}
    for runtime, qos_class in (
        ("cri-containerd-", QosClass.BURSTABLE),
        ("crio-", QosClass.GUARANTEED),
        ("docker-", QosClass.BEST_EFFORT),
    ):
        path = Layout(Style.SYSTEMD, runtime).container(f"pod-{qos_class.title}", qos_class, "a")
        (tmp_path / path / "init.scope").mkdir(parents=True)
        found[GroupId(f"pod-{qos_class.title}", "a")] = path
        found[GroupId(f"pod-{qos_class.title}")] = path.rpartition("/")[0]
    (tmp_path / layout.top / "kubepods-besteffort.slice" / "notes").mkdir()
    (tmp_path / layout.top / "crio-conmon-1.scope").mkdir()
    assert walk(Cgroup2(str(tmp_path)), layout) == found


def test_a_knob_that_this_kernel_lacks_is_refused_and_one_of_a_group_that_is_gone_vanished(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    folder = group(tmp_path, **{"cpu.stat": STAT})
    machine = Machine(HandClock(), cgroups=str(tmp_path))
    machine.follow([POD])
    with pytest.raises(Refused) as refused:
        machine.write(GROUP, Knob.QUOTA, 5000)
    assert refused.value.errno == errno.ENOENT
    shutil.rmtree(folder)
    with pytest.raises(Vanished):
        machine.write(GROUP, Knob.QUOTA, 5000)
    machine.close()
