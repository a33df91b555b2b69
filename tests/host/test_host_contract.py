"""
What every host keeps to, real or in memory: each sentence is played on the twin in both its modes, and on the kernel of the machine the tests run on.
"""

import errno
from collections.abc import Iterator

import pytest
from stages import KernelStage, Stage, TwinStage

from slackwater.api.objects import QosClass
from slackwater.api.units import HIGHEST_SHARES, LOWEST_SHARES, Microseconds, Shares
from slackwater.host.edge import Host, Refused, Vanished
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, KnobMark, Mark, Quota, Settings

WEB = PodGroups("11111111-1111-4111-8111-111111111111", QosClass.BURSTABLE, ("a1" * 32, "a2" * 32))
DB = PodGroups("22222222-2222-4222-8222-222222222222", QosClass.GUARANTEED, ("b1" * 32,))
IDLE = PodGroups("33333333-3333-4333-8333-333333333333", QosClass.BEST_EFFORT, ("c1" * 32,))
POD = GroupId(WEB.uid)
FIRST, SECOND = (GroupId(WEB.uid, container) for container in WEB.containers)
PERIOD = Microseconds(100_000)


@pytest.fixture(params=["twin-1", "twin-2", pytest.param("kernel", marks=pytest.mark.host)])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = KernelStage() if request.param == "kernel" else TwinStage(int(request.param[-1]))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def host(stage: Stage) -> Host:
    """With one pod of two containers on it, followed."""
    stage.add(WEB)
    stage.host.follow([WEB])
    return stage.host


def quota_of(host: Host, group: GroupId) -> int | None:
    quota = host.settings(group).quota
    assert quota is not None
    return quota.time


def refusal_of(host: Host, group: GroupId, knob: Knob, value: int | None) -> int:
    with pytest.raises(Refused) as refused:
        host.write(group, knob, value)
    return refused.value.errno


def mark(cause: str = "node/over cpu") -> Mark:
    return Mark({Knob.QUOTA: KnobMark(base=None, before=None, after=50_000, cause=cause)})


# Looking


def test_every_followed_container_is_in_the_sample_and_no_pod(host: Host) -> None:
    assert set(host.sample().groups) == {FIRST, SECOND}


def test_a_pod_of_every_class_is_found(stage: Stage) -> None:
    for pod in (WEB, DB, IDLE):
        stage.add(pod)
    stage.host.follow([WEB, DB, IDLE])
    assert len(stage.host.sample().groups) == 4


def test_what_is_no_longer_followed_is_no_longer_sampled(stage: Stage, host: Host) -> None:
    stage.add(DB)
    host.follow([DB])
    assert set(host.sample().groups) == {GroupId(DB.uid, DB.containers[0])}


def test_a_container_that_comes_later_is_found_at_the_next_look(stage: Stage) -> None:
    stage.host.follow([WEB])
    assert stage.host.sample().groups == {}
    stage.add(WEB)
    stage.host.follow([WEB])
    assert set(stage.host.sample().groups) == {FIRST, SECOND}


def test_a_container_that_vanishes_is_silently_absent(stage: Stage, host: Host) -> None:
    host.sample()
    stage.vanish(FIRST)
    assert set(host.sample().groups) == {SECOND}
    assert set(host.sample().groups) == {SECOND}


def test_a_container_made_anew_under_its_old_name_is_read_again(stage: Stage, host: Host) -> None:
    host.sample()
    stage.vanish(POD)
    assert host.sample().groups == {}
    stage.add(WEB)
    host.follow([WEB])
    assert set(host.sample().groups) == {FIRST, SECOND}


def test_a_pod_whose_name_leads_out_of_the_tree_is_not_there(host: Host) -> None:
    host.follow(
        [WEB, PodGroups("../../init", QosClass.BURSTABLE, ("x",)), PodGroups("ok", QosClass.BURSTABLE, ("../..",))]
    )
    assert set(host.sample().groups) == {FIRST, SECOND}
    with pytest.raises(Vanished):
        host.write(GroupId("../../init"), Knob.WEIGHT, 2)


def test_work_done_shows_in_the_counters_of_its_container_only(stage: Stage, host: Host) -> None:
    stage.work(FIRST)
    groups = host.sample().groups
    first, second = groups[FIRST].cpu, groups[SECOND].cpu
    assert first is not None
    assert first >= 90_000_000
    assert second == 0
    assert groups[FIRST].memory_working_set is not None
    assert groups[FIRST].throttled == 0


def test_a_sample_carries_the_clocks_time(stage: Stage, host: Host) -> None:
    stage.clock.seconds += 7.5
    sample = host.sample()
    assert (sample.at, sample.wall) == (stage.clock.instant(), stage.clock.wall())


def test_settings_are_sampled_of_the_groups_looked_at_closely_and_no_others(stage: Stage, host: Host) -> None:
    host.write(FIRST, Knob.QUOTA, 50_000)
    settings = host.sample(closely=[FIRST, POD]).settings
    assert set(settings) == {FIRST, POD}
    assert settings[FIRST].quota == Quota(Microseconds(50_000), PERIOD)
    stage.vanish(FIRST)
    assert set(host.sample(closely=[FIRST, POD]).settings) == {POD}
    assert host.sample().settings == {}


# Writing


def test_a_quota_is_what_was_written_in_the_period_that_stands_there(host: Host) -> None:
    host.write(FIRST, Knob.QUOTA, 25_000)
    assert host.settings(FIRST) == Settings(quota=Quota(Microseconds(25_000), PERIOD))
    host.write(FIRST, Knob.QUOTA, None)
    assert host.settings(FIRST) == Settings(quota=Quota(None, PERIOD))


def test_a_weight_is_what_was_written(host: Host) -> None:
    host.write(POD, Knob.WEIGHT, 77)
    assert host.settings(POD) == Settings(weight=77)


def test_a_quota_below_the_kernels_minimum_is_refused(host: Host) -> None:
    assert refusal_of(host, FIRST, Knob.QUOTA, 999) == errno.EINVAL
    host.write(FIRST, Knob.QUOTA, 1000)
    assert quota_of(host, FIRST) == 1000


def test_v1_alone_refuses_a_quota_above_the_pods(stage: Stage, host: Host) -> None:
    stage.limit_pod(POD, 50_000)
    if stage.version == 1:
        assert refusal_of(host, FIRST, Knob.QUOTA, 60_000) == errno.EINVAL
    else:
        host.write(FIRST, Knob.QUOTA, 60_000)
    host.write(FIRST, Knob.QUOTA, 40_000)
    host.write(FIRST, Knob.QUOTA, None)
    assert quota_of(host, FIRST) is None


def test_a_quota_below_the_burst_that_was_granted_is_refused(stage: Stage, host: Host) -> None:
    host.write(FIRST, Knob.QUOTA, 50_000)
    stage.grant_burst(FIRST, 20_000)
    assert refusal_of(host, FIRST, Knob.QUOTA, 10_000) == errno.EINVAL
    assert quota_of(host, FIRST) == 50_000


def test_the_weight_of_an_idle_group_is_refused(stage: Stage, host: Host) -> None:
    stage.make_idle(POD)
    assert refusal_of(host, POD, Knob.WEIGHT, 50) == errno.EINVAL
    assert host.settings(POD).weight == (3 if stage.version == 1 else 0)


def test_v1_clamps_a_weight_out_of_range_and_v2_refuses_it(stage: Stage, host: Host) -> None:
    if stage.version == 1:
        host.write(POD, Knob.WEIGHT, 1)
        assert host.settings(POD).weight == 2
        host.write(POD, Knob.WEIGHT, 300_000)
        assert host.settings(POD).weight == 262_144
    else:
        assert refusal_of(host, POD, Knob.WEIGHT, 0) == errno.ERANGE
        assert refusal_of(host, POD, Knob.WEIGHT, 10_001) == errno.ERANGE


def test_writing_to_a_group_that_vanished_says_so(stage: Stage, host: Host) -> None:
    stage.vanish(POD)
    for group, knob in ((FIRST, Knob.QUOTA), (POD, Knob.WEIGHT)):
        with pytest.raises(Vanished):
            host.write(group, knob, 5000)
        with pytest.raises(Vanished):
            host.settings(group)
        with pytest.raises(Vanished):
            host.mark(group)
        with pytest.raises(Vanished):
            host.set_mark(group, mark())


def test_writing_to_a_group_that_nobody_follows_says_it_is_not_there(stage: Stage, host: Host) -> None:
    stage.add(DB)
    with pytest.raises(Vanished):
        host.write(GroupId(DB.uid, DB.containers[0]), Knob.QUOTA, 5000)


@pytest.mark.parametrize(("group", "knob"), [(POD, Knob.QUOTA), (FIRST, Knob.WEIGHT)])
def test_quotas_go_to_containers_and_weights_to_pods(host: Host, group: GroupId, knob: Knob) -> None:
    with pytest.raises(ValueError, match="quotas go to containers"):
        host.write(group, knob, 5000)


@pytest.mark.parametrize(
    ("group", "knob", "value"), [(FIRST, Knob.QUOTA, -1), (POD, Knob.WEIGHT, None), (POD, Knob.WEIGHT, -1)]
)
def test_unlimited_is_none_and_a_weight_never_is(host: Host, group: GroupId, knob: Knob, value: int | None) -> None:
    with pytest.raises(ValueError, match="unlimited"):
        host.write(group, knob, value)


def test_shares_become_the_weight_that_kubelet_would_write(stage: Stage) -> None:
    seen = [stage.host.weight_of(Shares(shares)) for shares in (LOWEST_SHARES, 102, 512, 1024, HIGHEST_SHARES)]
    assert seen == ([2, 102, 512, 1024, 262_144] if stage.version == 1 else [1, 4, 20, 39, 10_000])


# Marks


def test_a_mark_is_kept_and_taken_away(host: Host) -> None:
    assert host.mark(FIRST) is None
    host.set_mark(FIRST, mark())
    assert host.mark(FIRST) == mark()
    assert host.mark(SECOND) is None
    host.set_mark(FIRST, None)
    assert host.mark(FIRST) is None
    host.set_mark(FIRST, None)


def test_marks_are_found_on_groups_that_nobody_follows(host: Host) -> None:
    host.set_mark(FIRST, mark("one"))
    host.set_mark(POD, mark("two"))
    host.follow([])
    assert host.marks() == {FIRST: mark("one"), POD: mark("two")}
    host.set_mark(FIRST, None)
    assert host.marks() == {POD: mark("two")}


def test_a_marked_group_is_reached_also_when_nobody_follows_it_any_more(host: Host) -> None:
    host.set_mark(FIRST, mark("one"))
    host.follow([])
    host.write(FIRST, Knob.QUOTA, 20_000)
    assert quota_of(host, FIRST) == 20_000
    assert set(host.sample(closely=[FIRST]).settings) == {FIRST}
    with pytest.raises(Vanished):
        host.write(POD, Knob.WEIGHT, 100)


def test_a_mark_dies_with_its_group_and_the_pods_stays(stage: Stage, host: Host) -> None:
    host.set_mark(FIRST, mark())
    host.set_mark(POD, mark())
    stage.vanish(FIRST)
    assert set(host.marks()) == {POD}


def test_a_long_mark_is_kept_whole(host: Host) -> None:
    long = mark("because " * 200)
    host.set_mark(POD, long)
    assert host.mark(POD) == long


# What works here


@pytest.mark.parametrize("name", ["quota", "weight", "marks", "memory", "throttling"])
def test_a_machine_says_what_works_on_it(host: Host, name: str) -> None:
    assert host.survey().supports(name)


def test_a_machine_says_how_large_it_is(host: Host) -> None:
    survey = host.survey()
    assert survey.cpu >= 1000
    assert survey.memory > 1 << 28
    assert survey.layout == "cgroupfs"
