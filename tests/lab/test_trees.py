"""Finding the hierarchies by looking at what is mounted."""

from pathlib import Path

import pytest

from slackwater.lab.trees import NotPermitted, look

V1 = """\
tmpfs /cg tmpfs rw 0 0
cgroup /cg/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /cg/memory cgroup rw,relatime,memory 0 0
"""


def test_controllers_that_share_a_mount_share_a_tree() -> None:
    found = look(V1)
    assert found.version == 1
    assert found.mounts["cpu"] == found.mounts["cpuacct"] == Path("/cg/cpu,cpuacct")
    assert len(found.roots()) == 2


def test_a_unified_tree_without_controllers_is_a_twin_beside_v1(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("\n")
    found = look(f"{V1}cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    assert found.version == 1
    assert found.mounts["unified"] == tmp_path


def test_a_unified_tree_with_controllers_is_v2(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    found = look(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n")
    assert found.version == 2
    assert found.roots() == (tmp_path,)
    assert set(found.mounts) == {"cpu", "cpuacct", "memory", "cpuset", "pids", "unified"}


def test_a_machine_without_cgroups_is_told_what_is_missing() -> None:
    with pytest.raises(NotPermitted, match="cpu, cpuacct, memory"):
        look("tmpfs / tmpfs rw 0 0\n")
