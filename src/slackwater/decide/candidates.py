"""
From pods to ladders: what each container that may be squeezed uses now, has used, is held to, and could be brought down
to.

A container whose own usage or quota cannot be read is skipped, never guessed; one that uses less than its floor is left
alone.
"""

from collections.abc import Mapping

from msgspec import Struct

from slackwater.api.objects import Container, Pod
from slackwater.api.units import Millicores
from slackwater.claims.base import container_limit
from slackwater.claims.claim import Throttled
from slackwater.decide.ladder import Ladder, Rung
from slackwater.decide.situation import Situation
from slackwater.snapshot import usage
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Quota

LEAST_FLOOR = Millicores(10)
LEAST_QUOTA_US = 1_000

Held = Mapping[tuple[str, str], Throttled]


class Ratios(Struct, frozen=True):
    """Percent of the reference."""

    floor: int
    step: int
    samples: int  # over which the mean is taken: as many as made the rule active


def as_millicores(quota: Quota) -> Millicores | None:
    return None if quota.time is None else Millicores(quota.time * 1_000 // quota.period)


def floor_of(reference: Millicores, ratio: int, quota: Quota) -> Millicores:
    """So much of the reference, and never less than the kernel takes or a process can live with."""
    return Millicores(max(reference * ratio // 100, LEAST_FLOOR, -(-LEAST_QUOTA_US * 1_000 // quota.period)))


def ladder_of(situation: Situation, pod: Pod, held: Held, ratios: Ratios) -> Ladder | str:
    """The pod's ladder, or why it has none."""
    rungs, why = [], "no container of it runs"
    for container, group in usage.groups_of(pod):
        rung = _rung(situation, container, group, held.get((pod.uid, container.name)), ratios)
        if isinstance(rung, Rung):
            rungs.append(rung)
        else:
            why = rung
    return Ladder(pod, tuple(rungs)) if rungs else why


def _rung(
    situation: Situation, container: Container, group: GroupId, claim: Throttled | None, ratios: Ratios
) -> Rung | str:
    used = usage.container_cpu(situation.frames, group)
    mean = usage.mean_cpu(situation.frames, group, ratios.samples)
    looked = situation.looked_at.get(group)
    if used is None or mean is None:
        return "its usage is missing"
    if looked is None or looked.quota is None:
        return "its quota could not be read"
    if group in situation.stuck:
        return "its quota could not be written"
    limit = container_limit(container)
    reference = limit or (claim.reference if claim else mean)
    # What this tick has planned for it holds as if it were written; what an earlier one wanted may have been refused.
    planned = claim is not None and claim.quota != situation.claimed_before(claim.where)
    quota = claim.quota if claim and planned else as_millicores(looked.quota)
    floor = floor_of(reference, ratios.floor, looked.quota)
    start = mean if quota is None else min(quota, mean)
    usable = used if quota is None else min(quota, used)
    if usable <= floor or start <= floor:
        return "at its floor" if claim else "uses less than its floor"
    return Rung(
        container=container.name,
        usage=Millicores(usable),
        start=Millicores(start),
        floor=floor,
        step=Millicores(max(1, reference * ratios.step // 100)),
        reference=reference,
        quota=quota,
    )
