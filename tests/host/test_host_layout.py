"""Kubelet's names for groups, both layouts, there and back."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api.objects import QosClass
from slackwater.host.layout import RUNTIMES, Layout, Place, Style
from slackwater.snapshot.groups import GroupId

UID = "6c1d0a52-0d5f-4b6c-9d0e-3f1b2a4c5d6e"
ID = "ab" * 32

uids = st.uuids().map(str) | st.text("0123456789abcdef", min_size=32, max_size=32)
ids = st.text(string.hexdigits.lower()[:16], min_size=1, max_size=64)
layouts = st.sampled_from([Layout(style, runtime) for style, runtimes in RUNTIMES.items() for runtime in runtimes])


@given(layouts, uids, ids | st.just(""), st.sampled_from(QosClass), st.sampled_from(["kubepods", "kubelet-kubepods"]))
def test_a_path_says_whose_group_it_is(layout: Layout, uid: str, container: str, qos: QosClass, top: str) -> None:
    layout = Layout(layout.style, layout.runtime, top)
    place = Place(GroupId(uid, container), qos)
    assert layout.place(layout.path(place)) == place


@pytest.mark.parametrize(
    ("layout", "qos", "path"),
    [
        (Layout(), QosClass.GUARANTEED, f"kubepods/pod{UID}/{ID}"),
        (Layout(), QosClass.BURSTABLE, f"kubepods/burstable/pod{UID}/{ID}"),
        (Layout(runtime="crio-"), QosClass.BEST_EFFORT, f"kubepods/besteffort/pod{UID}/crio-{ID}"),
        (
            Layout(Style.SYSTEMD, "cri-containerd-"),
            QosClass.BURSTABLE,
            f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID}.scope",
        ),
        (
            Layout(Style.SYSTEMD, "docker-"),
            QosClass.GUARANTEED,
            f"kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/docker-{ID}.scope",
        ),
        (
            Layout(Style.SYSTEMD, "crio-", "kubelet-kubepods"),
            QosClass.BEST_EFFORT,
            f"kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod{UID.replace('-', '_')}.slice/crio-{ID}.scope",
        ),
    ],
)
def test_groups_lie_where_kubelet_puts_them(layout: Layout, qos: QosClass, path: str) -> None:
    assert layout.container(UID, qos, ID) == path


@pytest.mark.parametrize(
    "path",
    [
        "kubepods",
        "kubepods/burstable",
        "kubepods/system",
        f"kubepods/pod{UID}/{ID}/nested",
        f"kubepods/pod{UID}/crio-conmon-{ID}",
        f"elsewhere/pod{UID}",
        "kubepods/pod",
        "",
    ],
)
def test_what_is_no_pods_group_is_nobodys(path: str) -> None:
    assert Layout().place(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "kubepods.slice/kubepods-burstable.slice",
        f"kubepods.slice/kubepods-pod{UID}.slice/{ID}",
        f"kubepods.slice/kubepods-pod{UID}.slice/crio-conmon-{ID}.scope",
        f"kubepods.slice/kubepods-burstable.slice/kubepods-pod{UID}.slice",
        f"kubepods.slice/kubepods-pod{UID}",
        f"kubepods.slice/burstable/kubepods-burstable-pod{UID}.slice",
    ],
)
def test_a_slice_out_of_its_place_is_nobodys(path: str) -> None:
    assert Layout(Style.SYSTEMD, "crio-").place(path) is None


@pytest.mark.parametrize("uid", ["", "..", "../../init", "a/b", ".hidden", "a" * 300])
@pytest.mark.parametrize("style", Style)
def test_a_uid_that_leads_out_of_the_tree_is_refused(style: Style, uid: str) -> None:
    with pytest.raises(ValueError, match="cannot name a cgroup"):
        Layout(style).pod(uid, QosClass.BURSTABLE)


@pytest.mark.parametrize("container", ["", "..", "a/b", "a-b", "/etc"])
def test_a_container_id_that_leads_out_of_the_tree_is_refused(container: str) -> None:
    with pytest.raises(ValueError, match="cannot name a cgroup"):
        Layout().container(UID, QosClass.BURSTABLE, container)
