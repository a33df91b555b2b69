"""
Who may be touched, said a second time: the promise as it is given to users, written without a look at how the agent keeps it.

Only the simulator's checks ask here. If this and the agent ever differ, one of them is wrong, and a run says so; so nothing of the agent's own reading may be used.
"""

from collections.abc import Iterable

from slackwater.api.objects import Pod, PodQos, QosClass

LEVELS = {"-1": -1, "0": 0, "1": 1, "2": 2, "BE": -1, "LS": 1, "HLS": 2, "LC": 2, "": 0}
SYSTEM = 2_000_000_000


def may_touch(pod: Pod, action: str, pod_qos: Iterable[PodQos], namespaces: Iterable[str], *, evict: bool) -> bool:
    daemon = pod.owner is not None and pod.owner.kind == "DaemonSet"
    if protected(pod, namespaces) or (evict and daemon):
        return False
    speaking = [one for one in pod_qos if one.allowed_actions is not None and _is_meant(one, pod)]
    if speaking:
        return any(action in (one.allowed_actions or ()) for one in speaking)
    if evict and pod.owner is None:
        return False
    wanted_less = _level(pod) == -1 or (pod.priority or 0) < 0
    return _is_offline(pod) and (not daemon or wanted_less)


def protected(pod: Pod, namespaces: Iterable[str]) -> bool:
    """For good, whatever anybody allows."""
    said = pod.annotations.get("slackwater.dev/protected", "false").strip().lower()
    level = _level(pod)
    static = "kubernetes.io/config.mirror" in pod.annotations or pod.annotations.get("kubernetes.io/config.source") in (
        "file",
        "http",
    )
    return (
        said != "false"
        or level is None
        or level > 0
        or (pod.priority or 0) >= SYSTEM
        or pod.namespace in set(namespaces)
        or static
        or pod.labels.get("app.kubernetes.io/name") == "slackwater"
    )


def _is_offline(pod: Pod) -> bool:
    level, priority = _level(pod), pod.priority or 0
    if level != 0:
        return level == -1
    if priority > 0:
        return False
    elastic = any(
        amount
        for container in pod.containers
        for side in (container.requests, container.limits)
        for amount in (side.elastic_cpu, side.elastic_memory)
    )
    return elastic or priority < 0 or pod.qos_class is QosClass.BEST_EFFORT


def _level(pod: Pod) -> int | None:
    """None: what stands there is no level, and nobody knows what was meant."""
    return LEVELS.get(pod.annotations.get("volcano.sh/qos-level", "").strip())


def _is_meant(one: PodQos, pod: Pod) -> bool:
    if one.namespace not in (None, pod.namespace):
        return False
    if one.selector is not None and not one.selector.matches(pod.labels):
        return False
    for scope in one.scopes:
        if scope.name == "Priority":
            inside = any(_spans(text, pod.priority or 0) for text in scope.values)
        else:
            inside = {"QOSClass": pod.qos_class.title, "Namespace": pod.namespace}[scope.name] in scope.values
        if inside == scope.negated:
            return False
    return True


def _spans(text: str, priority: int) -> bool:
    """-20, 0-100, -20--10."""
    text = text.strip()
    cut = text.find("-", 1)
    try:
        if cut < 0:
            return int(text) == priority
        return int(text[:cut]) <= priority <= int(text[cut + 1 :])
    except ValueError:
        return False
