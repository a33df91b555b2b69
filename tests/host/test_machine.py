"""What only a real kernel can show: its own files, its bandwidth control, its pressure, and that nothing outside the pods' groups is touched."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stages import KernelStage

from slackwater.api.objects import QosClass
from slackwater.host.edge import Refused, Vanished
from slackwater.host.layout import RUNTIMES, Layout
from slackwater.host.lock import Held, Lock
from slackwater.host.marks import NAMES
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, KnobMark, Mark

pytestmark = pytest.mark.host

WEB = PodGroups("11111111-1111-4111-8111-111111111111", QosClass.BURSTABLE, ("a1" * 32, "a2" * 32))
DB = PodGroups("22222222-2222-4222-8222-222222222222", QosClass.GUARANTEED, ("b1" * 32,))
POD, FIRST, SECOND = GroupId(WEB.uid), GroupId(WEB.uid, WEB.containers[0]), GroupId(WEB.uid, WEB.containers[1])

Make = Callable[..., KernelStage]


@pytest.fixture
def make() -> Iterator[Make]:
    """A stage with two pods on it, both followed."""
    stages: list[KernelStage] = []

    def made(layout: Layout | None = None, limit: int | None = None) -> KernelStage:
        stages.append(KernelStage(layout, limit))
        for pod in (WEB, DB):
            stages[-1].add(pod)
        stages[-1].host.follow([WEB, DB])
        return stages[-1]

    yield made
    for stage in stages:
        stage.close()


def open_now() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def knobs_outside_pods(stage: KernelStage) -> dict[str, str]:
    """Every weight and quota of the groups that are not a pod's, ours and the whole machine's."""
    names = ("cpu.shares", "cpu.cfs_quota_us", "cpu.weight", "cpu.max")
    own = (stage.trees[0], *stage.trees[0].parents[:1])
    folders = [*own, *(own[0] / stage.layout.level(qos_class) for qos_class in QosClass)]
    return {
        str(folder / name): (folder / name).read_text()
        for folder in folders
        for name in names
        if (folder / name).exists()
    }


@pytest.mark.parametrize(
    "layout", [Layout(style, runtime) for style, runtimes in RUNTIMES.items() for runtime in runtimes], ids=str
)
def test_every_layout_is_found_by_looking(make: Make, layout: Layout) -> None:
    stage = make(layout)
    assert len(stage.host.sample().groups) == 3
    assert stage.host.survey().layout == layout.style
    stage.host.write(FIRST, Knob.QUOTA, 30_000)
    stage.host.set_mark(FIRST, Mark())
    assert list(stage.host.marks()) == [FIRST]


def test_nothing_but_the_pods_own_groups_is_written(make: Make) -> None:
    stage = make()
    before = knobs_outside_pods(stage)
    assert before
    for group, knob, value in (
        (FIRST, Knob.QUOTA, 5000),
        (SECOND, Knob.QUOTA, None),
        (POD, Knob.WEIGHT, 2),
        (GroupId(DB.uid), Knob.WEIGHT, 9),
    ):
        stage.host.write(group, knob, value)
        stage.host.set_mark(group, Mark())
    assert knobs_outside_pods(stage) == before
    for qos_class in QosClass:
        assert not set(NAMES) & set(os.listxattr(stage.trees[0] / stage.layout.level(qos_class)))


def test_a_container_that_runs_into_its_quota_shows_throttled_periods_and_pressure(make: Make) -> None:
    stage = make()
    stage.host.write(FIRST, Knob.QUOTA, 20_000)
    stage.work(FIRST)
    seen = stage.host.sample().groups
    assert seen[FIRST].throttled
    assert seen[FIRST].periods
    assert seen[FIRST].cpu_some_total
    assert seen[SECOND].throttled == 0


def test_with_too_few_files_allowed_the_sample_is_the_same(make: Make) -> None:
    stage = make(limit=14)
    stage.work(FIRST)
    before = open_now()
    sample = stage.host.sample(closely=[FIRST, POD])
    assert set(sample.groups) == {FIRST, SECOND, GroupId(DB.uid, DB.containers[0])}
    assert all(
        None not in (seen.cpu, seen.throttled, seen.memory_working_set, seen.cpu_some_total)
        for seen in sample.groups.values()
    )
    assert set(sample.settings) == {FIRST, POD}
    assert open_now() <= before + 2


def test_no_file_stays_open_for_a_group_that_is_gone(make: Make) -> None:
    stage = make()
    before, counters = open_now(), len(stage.machine.sample().groups)
    stage.vanish(FIRST)
    stage.host.sample()
    assert open_now() < before
    left = open_now()
    stage.host.follow([DB])
    assert open_now() < left
    assert len(stage.host.sample().groups) == counters - 2


def test_settings_files_stay_open_as_long_as_somebody_looks(make: Make) -> None:
    stage = make()
    before = open_now()
    stage.host.sample(closely=[FIRST, POD])
    looked = open_now()
    assert looked > before
    stage.host.sample(closely=[FIRST, POD])
    assert open_now() == looked
    stage.host.sample()  # nobody looks any more: at the next sample they are let go of
    stage.host.sample()
    assert open_now() == before


def test_groups_may_come_and_go_at_any_moment(make: Make) -> None:
    stage = make()
    over = threading.Event()

    def churn() -> None:
        while not over.is_set():
            stage.vanish(POD)
            stage.add(WEB)

    others = threading.Thread(target=churn)
    others.start()
    answers = set()
    try:
        for _ in range(300):
            stage.host.follow([WEB, DB])
            assert GroupId(DB.uid, DB.containers[0]) in stage.host.sample(closely=[FIRST, POD]).groups
            answers |= {answer(stage, FIRST, Knob.QUOTA, 5000), answer(stage, POD, Knob.WEIGHT, 9)}
    finally:
        over.set()
        others.join()
    assert answers <= {"taken", "vanished"}
    stage.host.follow([WEB, DB])
    assert set(stage.host.sample(closely=[POD]).groups) >= {FIRST, SECOND}


def answer(stage: KernelStage, group: GroupId, knob: Knob, value: int) -> str:
    """A mark, a write and a look, whatever becomes of the group meanwhile."""
    try:
        stage.host.set_mark(group, Mark())
        stage.host.write(group, knob, value)
        stage.host.settings(group)
        stage.host.mark(group)
    except Vanished:
        return "vanished"
    return "taken"


def test_a_machine_can_be_closed_and_leaves_nothing_open() -> None:
    before = open_now()
    stage = KernelStage()
    stage.add(WEB)
    stage.host.follow([WEB])
    stage.host.sample(closely=[FIRST])
    stage.close()
    assert open_now() == before


def test_a_mark_that_is_garbage_marks_nothing_and_is_found(make: Make) -> None:
    stage = make()
    os.setxattr(stage.folder(FIRST), NAMES[0], b"{what")
    assert stage.host.mark(FIRST) == Mark()
    assert stage.host.marks() == {FIRST: Mark()}


def test_a_mark_too_long_for_the_kernel_is_refused_and_nothing_more(make: Make) -> None:
    stage = make()
    with pytest.raises(Refused):
        stage.host.set_mark(POD, Mark({Knob.WEIGHT: KnobMark(base=2, cause="x" * 100_000)}))
    assert stage.host.survey().supports("marks")


def test_a_kernel_without_attributes_is_told_by_the_survey(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = make()

    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not here")

    with monkeypatch.context() as patch:
        patch.setattr(os, "setxattr", refuse)
        with pytest.raises(Refused):
            stage.host.set_mark(POD, Mark())
    assert not stage.host.survey().supports("marks")
    stage.host.set_mark(POD, Mark())
    assert stage.host.survey().supports("marks")


def test_the_node_shows_what_procfs_has(make: Make) -> None:
    node = make().host.sample().node
    assert node.cpu is not None
    assert node.cpu.used > 0
    assert node.memory_total is not None
    assert node.memory_working_set is not None
    assert 0 < node.memory_working_set < node.memory_total
    assert node.load is not None
    assert set(node.pressure) == {"cpu", "memory", "io"}
    assert "lo" not in node.networks


def test_the_survey_names_the_kernel_and_where_the_pods_lie(make: Make) -> None:
    stage = make()
    survey = stage.host.survey()
    assert survey.backend == f"cgroup{stage.version}"
    assert survey.kernel == os.uname().release
    assert survey.root == str(stage.trees[0] / "kubepods")
    assert survey.supports("pressure")
    assert survey.cpu == 1000 * (os.cpu_count() or 0)


def test_the_roots_own_directory_can_be_locked_once(make: Make) -> None:
    directory = make().machine.directory
    with Lock(directory), pytest.raises(Held) as refused:
        Lock(directory)
    assert refused.value.pid == os.getpid()
