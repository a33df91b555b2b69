"""Policies: NodeQOS, the older NodeQOSEnsurancePolicy, and what a PodQOSEnsurancePolicy says of objectives."""

from slackwater.api.manifests import probes, rules, selectors
from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import Origin, Policy


def node_policy(top: Fields, spec: Fields, metadata: Metadata, origin: Origin) -> tuple[Policy, ...]:
    spec.known(("selector", "nodeQualityProbe", *rules.LISTS))
    cache_ttl, not_served = probes.read(spec, "nodeQualityProbe")
    policy = Policy(
        kind=top.text("kind"),
        name=metadata.name,
        selector=selectors.labels(spec, "selector"),
        rules=rules.read(spec),
        cache_ttl=cache_ttl,
        not_served=not_served,
        origin=origin,
    )
    return (policy,)


def objectives_of_pods(top: Fields, spec: Fields, metadata: Metadata, origin: Origin) -> tuple[Policy, ...]:
    """
    The objectives of a PodQOSEnsurancePolicy are about pods, and nothing judges pods yet. They are checked, and the policy is handed on without its rules: a rule that was
    meant for some pods' metric must never be judged against the node.
    """
    _, not_served = probes.read(spec, "qualityProbe")
    for key in (key for key in rules.LISTS if spec.has(key)):
        spec.not_served(key, "an objective of pods")
        not_served = (*not_served, f"spec.{key}")
    rules.read(spec)
    return (
        Policy(
            kind=top.text("kind"),
            name=metadata.name,
            namespace=metadata.namespace or "default",
            not_served=not_served,
            origin=origin,
        ),
    )
