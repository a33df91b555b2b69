"""The one writer, on the machine in memory: what is claimed is made true, and what nobody claims any more comes back, whatever happens between two writes."""

import errno
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from slackwater.agent import marks
from slackwater.agent.marks import Ours
from slackwater.agent.reconcile import Reconciled, foreseen, reconcile
from slackwater.api.objects import Container, Pod, QosClass, Resources
from slackwater.api.units import HIGHEST_SHARES, Instant, Microseconds, Millicores, Shares, Wall
from slackwater.claims.base import KubeletRules
from slackwater.claims.claim import Claim, Kind, Source
from slackwater.host.twin import Twin
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, KnobMark, Mark

UID, CONTAINER = "u1", "c1"
POD_GROUP, GROUP = GroupId(UID), GroupId(UID, CONTAINER)


class StoppedClock:
    def instant(self) -> Instant:
        return Instant(0.0)

    def wall(self) -> Wall:
        return Wall(0.0)


def pod(limit: int | None = None) -> Pod:
    limits = Resources(cpu=Millicores(limit)) if limit else Resources()
    container = Container(name="main", id=CONTAINER, limits=limits)
    return Pod(namespace="default", name="etl", uid=UID, qos_class=QosClass.BURSTABLE, containers=(container,))


def twin(*, xattrs: bool = True) -> Twin:
    made = Twin(StoppedClock(), xattrs=xattrs)
    groups = PodGroups(UID, QosClass.BURSTABLE, (CONTAINER,))
    made.add_pod(groups, Shares(1024))
    made.follow([groups])
    return made


def at_most(millicores: int) -> Claim:
    quota = Millicores(millicores)
    return Claim(
        pod=UID, container="main", knob=Knob.QUOTA, kind=Kind.CAP, source=Source.THROTTLE, quota=quota, cause="a rule"
    )


LIFTED = Claim(
    pod=UID,
    knob=Knob.WEIGHT,
    kind=Kind.REPLACE,
    source=Source.LIFT,
    shares=HIGHEST_SHARES,
    cause="others are throttled",
)


def put_right(host: Twin, claims: list[Claim], ours: Ours, one: Pod | None = None, now: float = 0.0) -> Reconciled:
    pods = {UID: one or pod()}
    return reconcile(host, claims, ours, pods=pods, now=Instant(now), kubelet=KubeletRules())


def test_a_claim_is_made_true_and_says_so_on_the_group() -> None:
    host = twin()
    done = put_right(host, [at_most(300), LIFTED], Ours())
    assert host.group(GROUP).quota == 30_000
    assert host.group(POD_GROUP).weight == 10_000
    assert set(host.marks()) == {GROUP, POD_GROUP}
    assert done.writes == 2


def test_what_nobody_claims_any_more_is_back_at_its_base_and_unmarked() -> None:
    host = twin()
    before = host.group(POD_GROUP).weight
    held = put_right(host, [at_most(300), LIFTED], Ours()).ours
    left = put_right(host, [], held).ours
    assert (host.group(GROUP).quota, host.group(POD_GROUP).weight) == (None, before)
    assert (host.marks(), left.marks) == ({}, {})


def test_a_group_without_mark_and_claim_is_never_written() -> None:
    host = twin()
    host.group(GROUP).quota = Microseconds(7_000)
    put_right(host, [], Ours())
    assert not host.writes


def test_a_quota_that_is_right_already_is_not_written_again() -> None:
    host = twin()
    held = put_right(host, [at_most(300)], Ours()).ours
    assert put_right(host, [at_most(300)], held).writes == 0


def test_a_claim_above_the_limit_changes_nothing() -> None:
    host = twin()
    host.group(GROUP).quota = Microseconds(20_000)
    done = put_right(host, [at_most(300)], Ours(), pod(limit=200))
    assert (done.writes, host.marks()) == (0, {})


def test_what_another_writes_over_it_is_put_right_and_told_of_at_the_third_time() -> None:
    host, told = twin(), []
    held = put_right(host, [at_most(300)], Ours()).ours
    for _ in range(3):
        host.group(GROUP).quota = Microseconds(90_000)
        done = put_right(host, [at_most(300)], held)
        held = done.ours
        told.append([report.reason for report in done.reports])
        assert host.group(GROUP).quota == 30_000
    assert told == [[], [], ["WrittenByAnother"]]


def test_a_fight_is_not_fought_at_every_tick() -> None:
    host = twin()
    held = put_right(host, [at_most(300)], Ours()).ours
    for _ in range(3):
        host.group(GROUP).quota = Microseconds(90_000)
        held = put_right(host, [at_most(300)], held).ours
    host.group(GROUP).quota = Microseconds(90_000)
    held = put_right(host, [at_most(300)], held, now=1.0).ours
    assert host.group(GROUP).quota == 90_000
    put_right(host, [at_most(300)], held, now=1000.0)
    assert host.group(GROUP).quota == 30_000


@pytest.mark.parametrize("knob", [Knob.QUOTA, None])
def test_a_refused_write_is_told_and_leaves_no_mark_once_the_claim_is_gone(knob: Knob | None) -> None:
    host = twin()
    host.refuse(GROUP, knob, errno.EINVAL)
    done = put_right(host, [at_most(300)], Ours())
    assert host.group(GROUP).quota is None
    host.refuse(GROUP, knob, None)
    left = put_right(host, [], done.ours).ours
    assert (host.marks(), left.marks) == ({}, {})


def test_a_group_that_cannot_carry_a_mark_is_written_only_when_the_journal_has_its_base() -> None:
    host = twin(xattrs=False)
    first = put_right(host, [at_most(300)], Ours()).ours
    assert host.group(GROUP).quota is None
    assert marks.journalled(first) == {"u1/c1": Mark({Knob.QUOTA: KnobMark(base=None, after=30_000, cause="a rule")})}
    second = put_right(host, [at_most(300)], marks.committed(first)).ours
    assert host.group(GROUP).quota == 30_000
    put_right(host, [], second)
    assert host.group(GROUP).quota is None


def test_a_container_that_vanished_is_forgotten() -> None:
    host = twin()
    held = put_right(host, [at_most(300)], Ours()).ours
    host.vanish(GROUP)
    assert put_right(host, [at_most(300)], held).ours.marks == {}


def test_a_resize_moves_the_base_to_which_it_goes_back() -> None:
    host = twin()
    host.group(GROUP).quota = Microseconds(100_000)
    held = put_right(host, [at_most(300)], Ours(), pod(limit=1000)).ours
    held = put_right(host, [at_most(300)], held, pod(limit=500)).ours
    put_right(host, [], held, pod(limit=500))
    assert host.group(GROUP).quota == 50_000


class Crash(Exception):
    """The agent was killed here."""


def crashing_after(host: Twin, steps: int) -> None:
    """From the so-many-th change on, every change of a mark or a knob kills the agent before it is made."""
    left = [steps]

    def guarded(change: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            if left[0] == 0:
                raise Crash
            left[0] -= 1
            change(*arguments)

        return call

    for name in ("write", "set_mark"):
        setattr(host, name, guarded(getattr(host, name)))


@pytest.mark.parametrize("steps", range(9))
@pytest.mark.parametrize("with_journal", [True, False])
def test_killed_between_any_two_writes_the_next_agent_puts_everything_right(steps: int, with_journal: bool) -> None:
    host = twin()
    claims = [at_most(300), LIFTED]
    crashing_after(host, steps)
    ours = Ours()
    try:
        ours = put_right(host, claims, ours).ours
        put_right(host, [], ours)
    except Crash:
        pass
    del host.write, host.set_mark  # the next agent's calls are its own
    found = marks.recalled(dict(host.marks()), {})
    if with_journal:
        found = put_right(host, claims, found).ours
        assert (host.group(GROUP).quota, host.group(POD_GROUP).weight) == (30_000, 10_000)
    found = put_right(host, [], found).ours
    assert host.group(GROUP).quota is None
    assert host.group(POD_GROUP).weight == 39
    assert (host.marks(), found.marks) == ({}, {})


def test_without_marks_a_weight_that_moves_in_two_steps_goes_back_to_where_it_was() -> None:
    host = twin(xattrs=False)
    before = host.group(POD_GROUP).weight
    pods, ours = {UID: pod()}, Ours()
    for shares in (600, 600, 300, 300):
        claims = [replace(LIFTED, kind=Kind.CAP, source=Source.YIELD, shares=Shares(shares))]
        ours = marks.committed(foreseen(host, claims, ours, pods=pods, kubelet=KubeletRules()))
        ours = put_right(host, claims, ours).ours
    assert host.group(POD_GROUP).weight < before
    put_right(host, [], ours)
    assert host.group(POD_GROUP).weight == before
