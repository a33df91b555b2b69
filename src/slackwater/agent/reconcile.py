"""
The one writer: makes every knob of every group hold what the claims on it desire, and puts back what nobody claims any
more.

It is level-triggered. Each tick it compares what should be with what is, for every group that is claimed or marked, and
for no other; so a crash between any two of its writes, a value that somebody else put back, and a lost journal are all
put right by the same few lines. What to do with one knob is decided in `claims.writing`; this does it, in the order
that makes it safe.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent.marks import TOLD_AFTER, Ours, Place, Trouble, again
from slackwater.api.objects import Pod
from slackwater.api.units import Instant, Microseconds
from slackwater.claims.base import KubeletRules, base_quota, quota_time
from slackwater.claims.claim import Claim
from slackwater.claims.desired import Wanted, cause_of, desired
from slackwater.claims.writing import NOTHING_TO_DO, Act, Computed, act_on
from slackwater.host.edge import Host, Refused, Vanished
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Knob, KnobMark, Mark, Quota, Settings, Value


class Report(Struct, frozen=True, kw_only=True):
    """Something about one knob that a person should know."""

    pod: str  # uid
    container: str  # name, or id where the pod is unknown; empty: the pod's own group
    knob: Knob
    reason: str  # WriteRefused | WrittenByAnother | BaseDiffers
    message: str


class Reconciled(Struct, frozen=True):
    ours: Ours
    reports: tuple[Report, ...] = ()
    refused: dict[tuple[str, str, Knob], str] = {}  # by pod uid, container name and knob
    writes: int = 0


class _Target(Struct, frozen=True):
    """One knob of one group: what is claimed of it, and what kubelet would have set."""

    group: GroupId
    knob: Knob
    container: str
    claims: tuple[Claim, ...]
    pod: Pod | None


def reconcile(
    host: Host,
    claims: Iterable[Claim],
    ours: Ours,
    *,
    pods: Mapping[str, Pod],
    now: Instant,
    kubelet: KubeletRules,
) -> Reconciled:
    """Quotas are written on containers and weights on pods alone, so no write depends on the order of another."""
    done = Reconciled(ours)
    for target in sorted(_targets(claims, pods, ours), key=lambda target: (target.group, target.knob)):
        done = _put_right(host, target, done, now, kubelet)
    return done


def foreseen(
    host: Host, claims: Iterable[Claim], ours: Ours, *, pods: Mapping[str, Pod], kubelet: KubeletRules
) -> Ours:
    """
    For groups that cannot carry a mark: what their marks will say once these claims are written, so that the journal has
    it before they are.
    """
    if not ours.unmarkable:
        return ours
    unwritten: set[Place] = set()
    marks = dict(ours.marks)
    for target in _targets(claims, pods, ours):
        mark = ours.marks.get(target.group, Mark()).knobs.get(target.knob)
        if target.group not in ours.unmarkable or mark is None or not target.claims:
            continue
        weighs = target.knob is Knob.WEIGHT
        wanted = tuple(_weights(host, target) if weighs else _quotas(target, kubelet.cfs_period))
        value = desired(mark.base, wanted)
        if value != mark.after:
            fresh = replace(mark, before=mark.after, after=value, cause=cause_of(wanted))
            marks[target.group] = marks[target.group].with_knob(target.knob, fresh)
            unwritten.add((target.group, target.knob))
    return replace(ours, marks=marks, settled=ours.settled - unwritten)


def _targets(claims: Iterable[Claim], pods: Mapping[str, Pod], ours: Ours) -> Iterator[_Target]:
    """Everything that is claimed and exists, and everything that is marked."""
    claimed: dict[Place, list[Claim]] = {}
    for claim in claims:
        group = _group_of(claim, pods.get(claim.pod))
        if group is not None:
            claimed.setdefault((group, claim.knob), []).append(claim)
    marked = {(group, knob) for group, mark in ours.marks.items() for knob in mark.knobs}
    for group, knob in claimed.keys() | marked:
        pod = pods.get(group.pod)
        yield _Target(group, knob, _container_name(pod, group), tuple(claimed.get((group, knob), ())), pod)


def _group_of(claim: Claim, pod: Pod | None) -> GroupId | None:
    if pod is None:
        return None
    if not claim.container:
        return GroupId(pod.uid)
    ids = (c.id for c in pod.containers if c.name == claim.container and c.running and c.id)
    return next((GroupId(pod.uid, one) for one in ids), None)


def _container_name(pod: Pod | None, group: GroupId) -> str:
    names = (container.name for container in (pod.containers if pod else ()) if container.id == group.container)
    return "" if group.of_pod else next(names, group.container)


def _put_right(host: Host, target: _Target, done: Reconciled, now: Instant, kubelet: KubeletRules) -> Reconciled:
    place = (target.group, target.knob)
    trouble = done.ours.troubles.get(place, Trouble())
    if target.claims and trouble.next_try > now:
        return done
    try:
        ours = _with_its_mark(host, target, done.ours)
        settings = host.settings(target.group)
        if not _shows(settings, target.knob):
            return replace(done, ours=ours)
        act, found = _act(host, target, settings, ours, kubelet)
        if act == NOTHING_TO_DO and ours is done.ours and place not in ours.troubles:
            return done
        ours, refusal = _carry_out(host, target, act, ours)
    except Vanished:
        return replace(done, ours=_forgotten(done.ours, target.group))
    done = replace(done, ours=ours)
    if refusal is not None:
        return _refused(done, target, refusal, trouble, now)
    troubles = {key: value for key, value in ours.troubles.items() if key != place}
    if act.foreign:
        troubles[place] = again(trouble, now)
    reports = tuple(_reports(target, act, found, trouble))
    return replace(
        done,
        ours=replace(ours, troubles=troubles),
        reports=(*done.reports, *reports),
        writes=done.writes + act.writes,
    )


def _with_its_mark(host: Host, target: _Target, ours: Ours) -> Ours:
    """
    Before a group is first written, what it says itself: a mark that we do not know of (a tick was lost, the pod was out
    of sight) must never be taken for the base.
    """
    group = target.group
    if group in ours.marks or group in ours.unmarkable:
        return ours
    mark = host.mark(group)
    return replace(ours, marks={**ours.marks, group: mark}) if mark and mark.knobs else ours


def _shows(settings: Settings, knob: Knob) -> bool:
    """Whether the knob could be read. What cannot be read is neither judged nor written: the next tick looks again."""
    return (settings.weight if knob is Knob.WEIGHT else settings.quota) is not None


def _act(host: Host, target: _Target, settings: Settings, ours: Ours, kubelet: KubeletRules) -> tuple[Act, Value]:
    mark = ours.knob(target.group, target.knob)
    if target.knob is Knob.WEIGHT:
        # Runtimes disagree on how a weight follows from a request, so what was found is the base.
        return act_on(settings.weight, tuple(_weights(host, target)), mark, None), settings.weight
    quota = settings.quota or Quota(None)
    wanted = tuple(_quotas(target, quota.period))
    rules = replace(kubelet, cfs_period=quota.period)
    return act_on(quota.time, wanted, mark, _computed(target, rules)), quota.time


def _quotas(target: _Target, period: Microseconds) -> Iterator[Wanted]:
    for claim in target.claims:
        if (time := quota_time(claim.quota, period)) is not None:
            yield Wanted(claim.kind, claim.source, time, claim.cause)


def _weights(host: Host, target: _Target) -> Iterator[Wanted]:
    for claim in target.claims:
        if claim.shares is not None:
            yield Wanted(claim.kind, claim.source, host.weight_of(claim.shares), claim.cause)


def _computed(target: _Target, rules: KubeletRules) -> Computed | None:
    containers = target.pod.containers if target.pod else ()
    known = (container for container in containers if container.id == target.group.container)
    return next((Computed(base_quota(container, rules)) for container in known), None)


def _carry_out(host: Host, target: _Target, act: Act, ours: Ours) -> tuple[Ours, Refused | None]:
    """
    What is ours afterwards holds also where the kernel refused: a mark that was set is remembered, so that it can be
    taken away.
    """
    group, knob = target.group, target.knob
    try:
        if act.mark is not None:
            ours = _marked(host, group, knob, act.mark, ours)
        if act.writes and _may_write(group, knob, ours, act):
            host.write(group, knob, act.value)
            ours = replace(ours, settled=ours.settled | {(group, knob)})
        return (_unmarked(host, group, knob, ours) if act.unmark else ours), None
    except Refused as refusal:
        return ours, refusal


def _may_write(group: GroupId, knob: Knob, ours: Ours, act: Act) -> bool:
    """A group that cannot carry a mark is written only when the journal has exactly the mark that goes with it."""
    mark = ours.marks.get(group, Mark()).knobs.get(knob)
    return group not in ours.unmarkable or act.unmark or ours.kept.get((group, knob)) == mark


def _marked(host: Host, group: GroupId, knob: Knob, mark: KnobMark, ours: Ours) -> Ours:
    ours = replace(ours, settled=ours.settled - {(group, knob)})
    whole = ours.marks.get(group, Mark()).with_knob(knob, mark)
    marks = {**ours.marks, group: whole}
    try:
        host.set_mark(group, whole)
    except Refused:
        if group in ours.marks and group not in ours.unmarkable:
            # What stands on it must stay true: a group with a stale mark is worse than one that is not written.
            raise
        return replace(ours, marks=marks, unmarkable=ours.unmarkable | {group})
    return replace(ours, marks=marks, unmarkable=ours.unmarkable - {group})


def _unmarked(host: Host, group: GroupId, knob: Knob, ours: Ours) -> Ours:
    left = ours.marks.get(group, Mark()).without(knob)
    if group not in ours.unmarkable:
        host.set_mark(group, left if left.knobs else None)
    if left.knobs:
        return replace(ours, marks={**ours.marks, group: left})
    return _forgotten(ours, group)


def _forgotten(ours: Ours, group: GroupId) -> Ours:
    marks = {one: mark for one, mark in ours.marks.items() if one != group}
    troubles = {place: trouble for place, trouble in ours.troubles.items() if place[0] != group}
    settled = frozenset(place for place in ours.settled if place[0] != group)
    return replace(ours, marks=marks, unmarkable=ours.unmarkable - {group}, settled=settled, troubles=troubles)


def _refused(done: Reconciled, target: _Target, refusal: Refused, trouble: Trouble, now: Instant) -> Reconciled:
    uid, place = target.group.pod, (target.group, target.knob)
    told = (_report(target, "WriteRefused", f"the kernel refused it: {refusal}"),) if trouble.count == 0 else ()
    ours = replace(done.ours, troubles={**done.ours.troubles, place: again(trouble, now)})
    refused = {**done.refused, (uid, target.container, target.knob): str(refusal)}
    return replace(done, ours=ours, reports=(*done.reports, *told), refused=refused)


def _reports(target: _Target, act: Act, found: Value, trouble: Trouble) -> Iterator[Report]:
    if act.differs and act.writes:
        yield _report(
            target, "BaseDiffers", f"it held {found}, which is not what kubelet would have set; kept as its base"
        )
    if act.foreign and trouble.count + 1 == TOLD_AFTER:
        yield _report(target, "WrittenByAnother", f"somebody else set it to {found} at {TOLD_AFTER} consecutive ticks")


def _report(target: _Target, reason: str, message: str) -> Report:
    return Report(pod=target.group.pod, container=target.container, knob=target.knob, reason=reason, message=message)
