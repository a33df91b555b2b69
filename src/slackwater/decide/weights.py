"""
Yield and lift: what follows from the throttles that stand, for the weights of pods.

Weight protects a service's tail where a quota only holds the node under its waterline. A throttled pod of offline work
yields: its pod's weight falls to that of its floor. Weights compete among siblings only, so a Guaranteed service gains
nothing by that and is lifted instead. Both are derived anew at each tick from the throttles, so they end with them.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from slackwater.api.objects import Pod, QosClass
from slackwater.api.units import HIGHEST_SHARES, Millicores, Shares
from slackwater.claims.base import base_shares, has_finite_quota, shares_for
from slackwater.claims.claim import Throttled
from slackwater.decide import eligibility
from slackwater.decide.act import who
from slackwater.decide.plan import Operation
from slackwater.decide.situation import Situation


class Weights(Struct, frozen=True):
    yielded: dict[str, Shares] = {}  # by pod uid
    lifted: dict[str, Shares] = {}


def weights(situation: Situation, throttled: Iterable[Throttled]) -> Weights:
    moved = [claim for claim in throttled if claim.weight and claim.pod in situation.pods]
    if not moved:
        return Weights()
    floors = {(claim.pod, claim.container): claim.floor for claim in moved}
    return Weights(_yielding(situation.pods, floors), _lifted(situation))


def _yielding(pods: Mapping[str, Pod], floors: Mapping[tuple[str, str], Millicores]) -> dict[str, Shares]:
    """
    Down to its floors; a container that is not squeezed keeps what it requests. A pod that weighs no more than that
    already (a BestEffort one, say) has nothing to yield.
    """
    offline = [pods[uid] for uid in {uid for uid, _ in floors} if eligibility.is_offline(pods[uid])]
    wanted = {pod.uid: shares_for(_floor(pod, floors)) for pod in offline}
    return {uid: shares for uid, shares in sorted(wanted.items()) if shares < base_shares(pods[uid])}


def _floor(pod: Pod, floors: Mapping[tuple[str, str], Millicores]) -> Millicores:
    return Millicores(sum(floors.get((pod.uid, c.name), c.requests.cpu or Millicores(0)) for c in pod.containers))


def _lifted(situation: Situation) -> dict[str, Shares]:
    actions = {
        verdict.rule.rule.action for verdict in situation.verdicts if verdict.rule.throttles or verdict.rule.evicts
    }
    return {pod.uid: HIGHEST_SHARES for pod in situation.view.pods if _may_be_lifted(situation, pod, actions)}


def _may_be_lifted(situation: Situation, pod: Pod, actions: Iterable[str]) -> bool:
    """A Guaranteed pod that is nobody's candidate, that its own limits bound, and that is no offline work kept from us by a PodQOS."""
    if pod.qos_class is not QosClass.GUARANTEED or pod.phase != "Running" or eligibility.is_terminating(pod):
        return False
    if eligibility.is_kept_out(pod) or eligibility.is_offline(pod):
        return False
    if not has_finite_quota(pod, situation.settings.kubelet):
        return False
    qos, settings = situation.view.pod_qos, situation.settings
    return all(eligibility.refusal(pod, action, qos, settings, evicts=False) for action in actions)


def weight_operations(situation: Situation, before: Weights, after: Weights) -> tuple[Operation, ...]:
    """The weights that change between two states, as they stand in the kernel's files."""
    was = {**before.lifted, **before.yielded}
    becomes = {**after.lifted, **after.yielded}
    changed = sorted(uid for uid in was.keys() | becomes.keys() if was.get(uid) != becomes.get(uid))
    return tuple(
        _operation(situation, situation.pods[uid], was.get(uid), becomes.get(uid))
        for uid in changed
        if uid in situation.pods
    )


def _operation(situation: Situation, pod: Pod, was: Shares | None, becomes: Shares | None) -> Operation:
    own = base_shares(pod)
    return Operation(
        pod=pod.key,
        uid=pod.uid,
        knob="weight",
        before=situation.weight_of(own if was is None else was),
        after=situation.weight_of(own if becomes is None else becomes),
        who=who(pod),
    )
