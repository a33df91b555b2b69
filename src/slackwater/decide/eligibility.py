"""
Who may be touched, and why not.

This is the promise that matters most: nothing is taken from a pod that is not eligible, whatever a rule says. Each
refusal is a short sentence, because `explain` shows it.
"""

import re
from collections.abc import Iterable

from slackwater.api.objects import Pod, PodQos, QosClass, Scope
from slackwater.decide.settings import Settings

PRIORITY_RANGE = re.compile(r"(-?\d+)(?:-(-?\d+))?")
SYSTEM_PRIORITY = 2_000_000_000
PROTECTED_ANNOTATION = "slackwater.dev/protected"
LEVEL_ANNOTATION = "volcano.sh/qos-level"
LEVEL_WORDS = {"LC": 2, "HLS": 2, "LS": 1, "BE": -1}
LEVELS = range(-1, 3)
OUR_LABEL, OUR_NAME = "app.kubernetes.io/name", "slackwater"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
SOURCE_ANNOTATION = "kubernetes.io/config.source"


def level(pod: Pod) -> int:
    """The pod's QoS level; unset, and what is no level, is 0."""
    text = pod.annotations.get(LEVEL_ANNOTATION, "").strip()
    if not text:
        return 0
    if text in LEVEL_WORDS:
        return LEVEL_WORDS[text]
    try:
        number = int(text)
    except ValueError:
        return 0
    return number if number in LEVELS else 0


def has_sound_level(pod: Pod) -> bool:
    """Unset is sound too. What was meant by another text nobody knows, so nothing is taken on the strength of it."""
    text = pod.annotations.get(LEVEL_ANNOTATION, "").strip()
    return not text or text in LEVEL_WORDS or text in {str(number) for number in LEVELS}


def is_kept_out(pod: Pod) -> bool:
    """Whoever writes anything but "false" there meant to protect the pod."""
    return pod.annotations.get(PROTECTED_ANNOTATION, "false").strip().lower() != "false"


def is_offline(pod: Pod) -> bool:
    """Whether it is offline work by itself: nobody had to say so in a PodQOS."""
    own = level(pod)
    if own != 0:
        return own < 0
    priority = pod.priority or 0
    if priority > 0:
        return False
    return priority < 0 or pod.qos_class is QosClass.BEST_EFFORT or uses_elastic(pod)


def uses_elastic(pod: Pod) -> bool:
    return any(
        resources.elastic_cpu or resources.elastic_memory
        for container in pod.containers
        for resources in (container.requests, container.limits)
    )


def is_daemon(pod: Pod) -> bool:
    return pod.owner is not None and pod.owner.kind == "DaemonSet"


def is_terminating(pod: Pod) -> bool:
    return pod.deleted_at is not None


def protection(pod: Pod, settings: Settings) -> str:
    """Why this pod is out of everything; empty: it is not."""
    if is_kept_out(pod):
        return f"protected by its annotation {PROTECTED_ANNOTATION}"
    if not has_sound_level(pod):
        return f"protected: its {LEVEL_ANNOTATION} {pod.annotations[LEVEL_ANNOTATION]!r} is no level"
    if level(pod) > 0:
        return f"protected: QoS level {level(pod)}"
    if (pod.priority or 0) >= SYSTEM_PRIORITY:
        return "protected: system priority"
    if pod.namespace in settings.protected_namespaces:
        return f"protected: namespace {pod.namespace}"
    return _protected_by_nature(pod)


def _protected_by_nature(pod: Pod) -> str:
    if MIRROR_ANNOTATION in pod.annotations or pod.annotations.get(SOURCE_ANNOTATION) in {"file", "http"}:
        return "protected: static pod"
    return "protected: the agent itself" if pod.labels.get(OUR_LABEL) == OUR_NAME else ""


def refusal(pod: Pod, action: str, pod_qos: Iterable[PodQos], settings: Settings, *, evicts: bool) -> str:
    """Why this action may not be taken on this pod; empty: it may."""
    if why := protection(pod, settings):
        return why
    if pod.phase != "Running":
        return f"not running ({pod.phase})"
    if is_terminating(pod):
        return "terminating"
    return _disallowed(pod, action, pod_qos, evicts=evicts)


def barred(pod: Pod, action: str, pod_qos: Iterable[PodQos], settings: Settings) -> str:
    """
    Why a throttle that stands must end at once; empty: it may stand. A pod that is on its way out keeps what it has.
    """
    return protection(pod, settings) or _disallowed(pod, action, pod_qos, evicts=False)


def _disallowed(pod: Pod, action: str, pod_qos: Iterable[PodQos], *, evicts: bool) -> str:
    if evicts and is_daemon(pod):
        return "protected: a DaemonSet's pod is never evicted"
    speaking = [one for one in pod_qos if one.allowed_actions is not None and matches(one, pod)]
    if speaking:
        named = any(action in (one.allowed_actions or ()) for one in speaking)
        return "" if named else f"not allowed: {speaking[0].kind} {speaking[0].name} does not name {action}"
    return _not_by_itself(pod, evicts=evicts)


def _not_by_itself(pod: Pod, *, evicts: bool) -> str:
    """Where no PodQOS speaks of the pod: whether it is offline work that may be touched all the same."""
    if not is_offline(pod):
        return "not allowed: no PodQOS, and not offline work"
    if is_daemon(pod) and level(pod) >= 0 and (pod.priority or 0) >= 0:
        return "protected: a DaemonSet's pod"
    if evicts and pod.owner is None:
        return "not allowed: nothing would bring it back, and no PodQOS allows it"
    return ""


def matches(one: PodQos, pod: Pod) -> bool:
    if one.namespace is not None and one.namespace != pod.namespace:
        return False
    if one.selector is not None and not one.selector.matches(pod.labels):
        return False
    return all(_in_scope(scope, pod) for scope in one.scopes)


def _in_scope(scope: Scope, pod: Pod) -> bool:
    if scope.name == "Priority":
        inside = any(_in_range(pod.priority or 0, text) for text in scope.values)
    else:
        inside = (pod.qos_class.title if scope.name == "QOSClass" else pod.namespace) in scope.values
    return inside is not scope.negated


def _in_range(priority: int, text: str) -> bool:
    """One priority, or two with a dash between: -20--10."""
    found = PRIORITY_RANGE.fullmatch(text.strip())
    return found is not None and int(found[1]) <= priority <= int(found[2] or found[1])
