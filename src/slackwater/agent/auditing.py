"""
Looking after what is not ours: a container whose quota is not what kubelet would have set, and that does not carry our
mark.

Such a group is never written. But somebody wrote it (another agent that is gone, a hand), and whoever wonders why a pod
is slow should hear of it. A few groups are looked at in each tick, so that all of a node's are seen every few minutes
and a tick costs next to nothing more.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent.marks import Ours
from slackwater.api.objects import Container, Pod, QosClass
from slackwater.claims.base import KubeletRules, base_quota
from slackwater.host.edge import Host, Vanished
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Quota
from slackwater.snapshot.usage import groups_of

ROUNDS = 32
"""Ticks in which every group has been looked at once."""


class Audit(Struct, frozen=True):
    turn: int = 0
    drifts: Mapping[GroupId, str] = {}


def audit(host: Host, pods: Iterable[Pod], ours: Ours, kubelet: KubeletRules, last: Audit) -> Audit:
    """The next few groups, beside what is known of the others that are still there."""
    running = [(pod, container, group) for pod in pods for container, group in groups_of(pod)]
    here = {group for _, _, group in running}
    drifts = {group: text for group, text in last.drifts.items() if group in here and group not in ours.marks}
    for pod, container, group in running[last.turn % ROUNDS :: ROUNDS]:
        drifts.pop(group, None)
        if group not in ours.marks:
            drifts.update(_look(host, pod, container, group, kubelet))
    return Audit(last.turn + 1, drifts)


def _look(
    host: Host, pod: Pod, container: Container, group: GroupId, kubelet: KubeletRules
) -> Iterator[tuple[GroupId, str]]:
    try:
        found = host.settings(group).quota
    except Vanished:
        return
    if found is None:
        return
    base = base_quota(container, replace(kubelet, cfs_period=found.period))
    if found.time != base and not _may_own_cpus(pod, container, found):
        where = f"{pod.key}/{container.name}"
        wanted = "unlimited" if base is None else f"{base} us"
        has = "unlimited" if found.time is None else f"{found.time} us"
        yield group, f"{where}: its quota is {has} and kubelet would have set {wanted}; not ours, not touched"


def _may_own_cpus(pod: Pod, container: Container, found: Quota) -> bool:
    """Kubelet's static CPU manager takes the quota away from whoever has whole CPUs to itself."""
    whole = container.limits.cpu is not None and container.limits.cpu % 1000 == 0
    return found.time is None and whole and pod.qos_class is QosClass.GUARANTEED
