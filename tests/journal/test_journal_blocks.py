"""How values lie in the journal: whole or not at all."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_ticks import sample, selector

from slackwater.api.objects import (
    AvoidanceAction,
    Container,
    CpuThrottle,
    Eviction,
    MemoryThrottle,
    Node,
    Origin,
    Owner,
    Pod,
    PodQos,
    Policy,
    QosClass,
    Resources,
    Rule,
    Scope,
    Strategy,
    Taint,
    Weight,
)
from slackwater.api.problems import Problem, Severity
from slackwater.api.units import Bytes, Millicores, Seconds, Wall
from slackwater.journal import blocks
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.view import View

VIEWS = msgspec.msgpack.Decoder(View)
SAMPLES = msgspec.msgpack.Decoder(HostSample)
SOME = Resources(cpu=Millicores(1), memory=Bytes(1 << 62), elastic_cpu=Millicores(2), elastic_memory=Bytes(3))
FULL = View(
    complete=True,
    generation=7,
    node=Node(
        name="n", labels={"a": "ü"}, taints=(Taint(key="k", effect="NoSchedule", value="v"),), cpu=Millicores(8000)
    ),
    pods=(
        Pod(
            namespace="a",
            name="b",
            uid="c",
            annotations={"x": "y"},
            priority=-10,
            qos_class=QosClass.GUARANTEED,
            requests=SOME,
            limits=SOME,
            containers=(
                Container(
                    name="m",
                    requests=SOME,
                    id="f" * 64,
                    started_at=Wall(1.5),
                    sidecar=True,
                    args=("-x",),
                    env={"A": ""},
                ),
            ),
            owner=Owner("ReplicaSet", "r"),
            deleted_at=Wall(2),
            grace=Seconds(30),
        ),
    ),
    policies=(
        Policy(
            kind="PodQOSEnsurancePolicy",
            name="p",
            namespace="a",
            selector=selector(),
            rules=(
                Rule(name="r", action="x", metric="m", value=0.5, selector=selector(), strategy=Strategy.PREVIEW),
                Rule(name="t", action="x", text="package x"),
            ),
            cache_ttl=Seconds(60),
            not_served=("spec.rules[1].policy",),
            origin=Origin("f.yaml", 3),
        ),
    ),
    actions={
        "x": AvoidanceAction(
            name="x",
            cpu_throttle=CpuThrottle(weight=Weight.KEEP),
            memory_throttle=MemoryThrottle(force_gc=True),
            eviction=Eviction(grace=Seconds(5), keep_schedulable=True),
        )
    },
    pod_qos=(
        PodQos(
            kind="PodQOS",
            name="q",
            scopes=(Scope("Priority", True, frozenset({"1", "2"})),),
            allowed_actions=frozenset(),
        ),
        PodQos(kind="PodQOS", name="q", allowed_actions=frozenset({"x"})),
    ),
    problems=(Problem(severity=Severity.WARNING, file="f", line=1, field="a.b", value="v", message="no", remedy="do"),),
)


def test_a_view_with_everything_in_it_comes_back_equal() -> None:
    assert blocks.unpack(blocks.pack(FULL), VIEWS) == FULL


@given(at=st.floats(0, 1e9), groups=st.integers(0, 5))
def test_a_sample_comes_back_equal(at: float, groups: int) -> None:
    taken = sample(at, groups)
    assert blocks.unpack(blocks.pack(taken), SAMPLES) == taken


@given(st.binary())
def test_bytes_come_back_as_they_were(content: bytes) -> None:
    assert blocks.unwrap(blocks.wrap(content)) == content


@given(st.binary())
def test_anything_else_is_damaged_and_nothing_worse(content: bytes) -> None:
    with pytest.raises(blocks.Damaged):
        blocks.unwrap(content)


@given(st.data())
def test_a_block_with_a_changed_byte_or_a_missing_end_is_damaged(data: st.DataObject) -> None:
    block = blocks.pack(FULL)
    place = data.draw(st.integers(0, len(block) - 1))
    changed = bytes([block[place] ^ data.draw(st.integers(1, 255))])
    for other in (block[:place], block[:place] + changed + block[place + 1 :]):
        try:
            found = blocks.unpack(other, VIEWS)
        except blocks.Damaged:
            continue
        assert found == FULL  # a bit of zlib's header that says nothing about the content


def test_a_block_of_another_version_says_so() -> None:
    with pytest.raises(blocks.Damaged, match="version 02"):
        blocks.unwrap(b"SWB\x02" + blocks.wrap(b"x")[4:])


def test_a_block_of_another_kind_is_damaged() -> None:
    with pytest.raises(blocks.Damaged, match="not what was expected"):
        blocks.unpack(blocks.pack([1, 2]), VIEWS)


def test_what_no_block_can_hold_is_said() -> None:
    for value in ("\ud800", 1 << 70):
        with pytest.raises(blocks.Unkeepable):
            blocks.pack(value)
