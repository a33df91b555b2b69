"""
Which pods a set of rules may touch, in order, each with the rules that may and so with the waterline down to which it
gives; and who may not, with the reason.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.decide import eligibility, order
from slackwater.decide.plan import Considered
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric, Ranking

NO_ORDER = "the metric's own sort cannot tell the order now"


class Allowed(Struct, frozen=True):
    pod: Pod
    verdicts: tuple[Verdict, ...]

    @property
    def waterline(self) -> float:
        """The lowest of those rules'."""
        return min(verdict.rule.rule.value or 0.0 for verdict in self.verdicts)


def sorted_out(
    situation: Situation, metric: Metric | None, concerned: Sequence[Verdict], *, evicts: bool
) -> tuple[list[Allowed], list[Considered]]:
    """Without a metric the order is by class, priority and age alone."""
    allowed, considered = {}, []
    for pod in situation.view.pods:
        by, why = _allowing(situation, pod, concerned, evicts=evicts)
        if by and metric is not None and not metric.concerns(pod):
            by, why = (), f"it does not count in {metric.name}"
        if by:
            allowed[pod.uid] = Allowed(pod, by)
        elif pod.phase == "Running":
            considered.append(Considered(pod.key, taken=False, why=why))
    ranking = _ranking(situation, metric)
    if ranking is None:
        # An order that nobody can tell is no reason to take from whoever comes first by chance.
        considered += [Considered(one.pod.key, taken=False, why=NO_ORDER) for one in allowed.values()]
        return [], sorted(considered, key=lambda one: one.pod)
    in_order = order.ordered((one.pod for one in allowed.values()), ranking)
    return [allowed[pod.uid] for pod in in_order], sorted(considered, key=lambda one: one.pod)


def _ranking(situation: Situation, metric: Metric | None) -> Ranking | None:
    """The metric's own comparison; CPU's for all that a quota moves; none where it cannot tell pods apart."""
    if metric is not None and metric.ranking is not None:
        return metric.ranking(situation.scene)
    if metric is None or metric.of_pod is None:
        return lambda _: ()
    if metric.moved_by_quota:
        return order.by_cpu(lambda pod: situation.cpu_of(pod.uid, ""))
    return order.by_use(lambda pod: situation.usage_of(pod, metric))


def _allowing(
    situation: Situation, pod: Pod, concerned: Iterable[Verdict], *, evicts: bool
) -> tuple[tuple[Verdict, ...], str]:
    if any(pod.uid in verdict.victims for verdict in situation.verdicts if verdict.state.engaged):
        return (), "it is the one that is hurt"
    by, first = [], ""
    for verdict in concerned:
        action = verdict.rule.rule.action
        why = eligibility.refusal(pod, action, situation.view.pod_qos, situation.settings, evicts=evicts)
        why = why or _not_below(situation, pod, verdict)
        first = first or why
        if not why:
            by.append(verdict)
    if by and pod.uid in situation.leaving:
        return (), "its eviction is under way"
    return tuple(by), first


def _not_below(situation: Situation, pod: Pod, verdict: Verdict) -> str:
    """A verdict that names who is hurt takes only from groups below the lowest of them."""
    hurt = [order.class_and_priority(situation.pods[uid]) for uid in verdict.victims if uid in situation.pods]
    return "not below the one that is hurt" if hurt and order.class_and_priority(pod) >= min(hurt) else ""
