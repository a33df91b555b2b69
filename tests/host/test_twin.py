"""What only the twin can do: let things go wrong on demand."""

import errno

import pytest
from stages import HandClock

from slackwater.api.objects import QosClass
from slackwater.api.units import Bytes, Microseconds, Nanoseconds, Shares
from slackwater.host.edge import Refused
from slackwater.host.twin import Twin, Write
from slackwater.snapshot.counters import GroupCounters
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Knob, Mark

POD = PodGroups("pod-1", QosClass.BURSTABLE, ("a",))
GROUP, CONTAINER = GroupId("pod-1"), GroupId("pod-1", "a")


def twin(version: int = 2, *, xattrs: bool = True) -> Twin:
    made = Twin(HandClock(), version=version, xattrs=xattrs)
    made.add_pod(POD, Shares(1024))
    made.follow([POD])
    return made


def test_counters_are_what_they_were_set_to() -> None:
    host = twin()
    host.set_usage(CONTAINER, cpu=Nanoseconds(7), memory=Bytes(8), throttling=(9, 1), stalled=Microseconds(2))
    assert host.sample().groups == {CONTAINER: GroupCounters(Nanoseconds(7), 9, 1, Bytes(8), Microseconds(2))}


def test_a_knob_refuses_as_long_as_it_is_told_to() -> None:
    host = twin()
    host.refuse(CONTAINER, Knob.QUOTA, errno.EINVAL)
    with pytest.raises(Refused) as refused:
        host.write(CONTAINER, Knob.QUOTA, 5000)
    assert refused.value.errno == errno.EINVAL
    host.write(GROUP, Knob.WEIGHT, 5)
    host.refuse(CONTAINER, Knob.QUOTA, None)
    host.write(CONTAINER, Knob.QUOTA, 5000)


def test_a_mark_can_be_refused_and_then_nothing_is_kept() -> None:
    host = twin()
    host.refuse(GROUP, None, errno.ENOSPC)
    with pytest.raises(Refused):
        host.set_mark(GROUP, Mark())
    assert host.mark(GROUP) is None


def test_without_extended_attributes_there_are_no_marks_and_the_survey_says_so() -> None:
    host = twin(xattrs=False)
    assert not host.survey().supports("marks")
    with pytest.raises(Refused):
        host.set_mark(GROUP, Mark())
    assert host.marks() == {}


def test_what_was_written_is_remembered_in_order() -> None:
    host = twin()
    host.write(GROUP, Knob.WEIGHT, 1)
    host.write(CONTAINER, Knob.QUOTA, 5000)
    assert list(host.writes) == [Write(GROUP, Knob.WEIGHT, 39, 1), Write(CONTAINER, Knob.QUOTA, None, 5000)]


@pytest.mark.parametrize(("version", "idle", "after"), [(1, 3, 1024), (2, 0, 100)])
def test_leaving_idle_puts_back_the_kernels_weight_and_not_what_was_there(version: int, idle: int, after: int) -> None:
    host = twin(version)
    host.write(GROUP, Knob.WEIGHT, 500)
    host.set_idle(GROUP, idle=True)
    assert host.settings(GROUP).weight == idle
    host.set_idle(GROUP, idle=False)
    assert host.settings(GROUP).weight == after
