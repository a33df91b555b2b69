"""What a machine has is seen by looking at its folders; here the folders are made up."""

from pathlib import Path

import pytest

from slackwater.host.cgroup1 import Cgroup1
from slackwater.host.cgroup2 import Cgroup2
from slackwater.host.discovery import NoCgroups, driver_at, layout_at
from slackwater.host.layout import Layout, Style
from slackwater.host.surveying import survey


def tree(folder: Path, *hierarchies: str, controllers: str = "") -> str:
    for hierarchy in hierarchies:
        (folder / hierarchy).mkdir(parents=True, exist_ok=True)
        (folder / hierarchy / "cgroup.procs").touch()
        if hierarchy in {"", "unified"}:
            (folder / hierarchy / "cgroup.controllers").write_text(controllers)
    return str(folder)


def test_a_unified_tree_with_the_cpu_controller_is_v2(tmp_path: Path) -> None:
    assert driver_at(tree(tmp_path, "", controllers="cpuset cpu memory\n")) == Cgroup2(str(tmp_path))


def test_separate_hierarchies_are_v1(tmp_path: Path) -> None:
    at = tree(tmp_path, "cpu", "cpuacct", "memory")
    assert driver_at(at) == Cgroup1(f"{at}/cpu", f"{at}/cpuacct", f"{at}/memory")


def test_controllers_that_share_a_hierarchy_are_found_in_it(tmp_path: Path) -> None:
    at = tree(tmp_path, "cpu,cpuacct", "memory")
    assert driver_at(at) == Cgroup1(f"{at}/cpu,cpuacct", f"{at}/cpu,cpuacct", f"{at}/memory")


def test_a_unified_tree_beside_v1_is_asked_for_pressure_only(tmp_path: Path) -> None:
    at = tree(tmp_path, "cpu", "cpuacct", "memory", "unified", controllers="hugetlb\n")
    assert driver_at(at) == Cgroup1(f"{at}/cpu", f"{at}/cpuacct", f"{at}/memory", f"{at}/unified")


def test_a_unified_tree_beside_v1_that_has_the_cpu_is_v2(tmp_path: Path) -> None:
    at = tree(tmp_path, "memory", "unified", controllers="cpu\n")
    assert driver_at(at) == Cgroup2(f"{at}/unified")


def test_a_root_of_our_own_lies_below_every_hierarchy(tmp_path: Path) -> None:
    at = tree(tmp_path, "cpu", "cpuacct", "memory", "unified")
    assert driver_at(at, "/lab-1/") == Cgroup1(
        *(f"{at}/{name}/lab-1" for name in ("cpu", "cpuacct", "memory", "unified"))
    )


def test_a_root_that_leads_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoCgroups, match="leads out"):
        driver_at(tree(tmp_path, "cpu"), "lab/../..")


def test_a_machine_without_cgroups_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NoCgroups, match="no cgroup hierarchy with the cpu controller"):
        driver_at(str(tmp_path))


@pytest.mark.parametrize(
    ("folders", "layout"),
    [
        (["system.slice"], None),
        (["kubepods"], Layout()),
        (["system.slice", "kubepods.slice"], Layout(Style.SYSTEMD)),
        (["kubelet-kubepods.slice"], Layout(Style.SYSTEMD, kubepods="kubelet-kubepods")),
        (
            ["kubepods/burstable", "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"],
            Layout(Style.SYSTEMD),
        ),
        (["kubepods/burstable/pod1", "kubepods.slice/kubepods-burstable.slice"], Layout()),
    ],
)
def test_the_layout_is_the_one_that_pods_lie_in(tmp_path: Path, folders: list[str], layout: Layout | None) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    assert layout_at(str(tmp_path)) == layout


def test_what_is_missing_is_named_by_the_survey(tmp_path: Path) -> None:
    driver = Cgroup1(*(tree(tmp_path / name, "") for name in ("cpu", "cpuacct", "memory")))
    before = survey(driver, None, "/proc", "")
    assert before.layout == "none found"
    assert before.supports("quota")
    assert not before.supports("pressure")
    (tmp_path / "cpu" / "kubepods").mkdir()
    (tmp_path / "cpu" / "kubepods" / "cpu.shares").write_text("2")
    after = survey(driver, Layout(), "/proc", "not supported here")
    assert after.supports("weight")
    why = {knob.name: knob.why for knob in after.knobs if not knob.works}
    assert "CONFIG_CFS_BANDWIDTH" in why["quota"]
    assert "memory.usage_in_bytes" in why["memory"]
    assert why["marks"] == "not supported here"
