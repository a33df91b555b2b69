"""Which pods may be touched, and by which actions: PodQOS, and the older PodQOSEnsurancePolicy, which may speak of objectives as well."""

from slackwater.api.manifests import policies, rules, selectors
from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import Origin, PodQos, Policy
from slackwater.api.selectors import LabelSelector

_RESOURCES = ("cpuQOS", "memoryQOS", "netIOQOS", "diskIOQOS")


def current(top: Fields, spec: Fields, metadata: Metadata, origin: Origin) -> tuple[PodQos, ...]:
    spec.known(("labelSelector", "selector", "scopeSelector", "resourceQOS", "allowedActions"))
    return (_pod_qos(top, spec, metadata, origin, namespace=None),)


def older(top: Fields, spec: Fields, metadata: Metadata, origin: Origin) -> tuple[PodQos | Policy, ...]:
    spec.known(
        ("labelSelector", "selector", "scopeSelector", "resourceQOS", "allowedActions", "qualityProbe", *rules.LISTS)
    )
    found = _pod_qos(top, spec, metadata, origin, namespace=metadata.namespace or "default")
    if not any(spec.has(key) for key in (*rules.LISTS, "qualityProbe")):
        return (found,)
    return (found, *policies.objectives_of_pods(top, spec, metadata, origin))


def _pod_qos(top: Fields, spec: Fields, metadata: Metadata, origin: Origin, namespace: str | None) -> PodQos:
    _resource_qos(spec)
    return PodQos(
        kind=top.text("kind"),
        name=metadata.name,
        namespace=namespace,
        selector=_selector(spec),
        scopes=selectors.scopes(spec, "scopeSelector"),
        allowed_actions=_allowed_actions(spec),
        origin=origin,
    )


def _selector(spec: Fields) -> LabelSelector | None:
    if spec.has("labelSelector") and spec.has("selector"):
        spec.error("selector", "stands beside labelSelector", "keep one of the two")
    if not any(spec.has(key) for key in ("labelSelector", "selector", "scopeSelector")):
        spec.error(None, "selects nothing", "write labelSelector: or scopeSelector:; labelSelector: {} is every pod")
    return selectors.labels(spec, "labelSelector" if spec.has("labelSelector") else "selector")


def _allowed_actions(spec: Fields) -> frozenset[str] | None:
    """Absent, it does not speak of actions; empty, it allows none. The two must never be mixed up."""
    if "allowedActions" in spec.values and not spec.has("allowedActions"):
        spec.warn(
            "allowedActions",
            "says nothing, which is as if it were absent",
            "write [] to allow no action, or take the line out",
        )
    return frozenset(spec.texts("allowedActions")) if spec.has("allowedActions") else None


def _resource_qos(spec: Fields) -> None:
    fields = spec.inside("resourceQOS")
    if fields is None:
        return
    fields.known(_RESOURCES)
    for key in _RESOURCES:
        fields.inside(key)
    spec.not_served("resourceQOS", "the QoS of a pod's resources")
