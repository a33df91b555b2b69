"""
Whom a rule could touch if it acted now, and whom not and why: asked of the same order and the same refusals by which
it would act.

It is for telling. Whether a pod has anything to give (its usage, its floor) is seen only when a rule acts; that stands
in the decision.
"""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.decide import eligibility
from slackwater.decide.allowed import sorted_out
from slackwater.decide.plan import ActionKind
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric


class Reach(Struct, frozen=True, kw_only=True):
    """Of one rule, by one of the things that its action does to pods."""

    rule: str  # policy/rule
    action: str  # the name of its AvoidanceAction
    does: ActionKind  # throttle | evict
    may: tuple[str, ...]  # who may be touched, first who would be first
    refused: dict[str, str]  # the other running pods, each with the reason

    @property
    def reasons(self) -> dict[str, int]:
        """How many pods each reason keeps out, the most common first."""
        return dict(Counter(self.refused.values()).most_common())


def reaches(situation: Situation, verdict: Verdict) -> Iterator[Reach]:
    rule = verdict.rule
    for does, able in ((ActionKind.THROTTLE, rule.throttles), (ActionKind.EVICT, rule.evicts)):
        if not able:
            continue
        evicts = does is ActionKind.EVICT
        allowed, considered = sorted_out(
            situation, _metric(situation, verdict, evicts=evicts), [verdict], evicts=evicts
        )
        yield Reach(
            rule=rule.title,
            action=rule.rule.action,
            does=does,
            may=tuple(one.pod.key for one in allowed),
            refused={one.pod: one.why for one in considered},
        )


def refusal_of(situation: Situation, reach: Reach, pod: Pod) -> str:
    """Why this one is out of reach, also where it does not run. Empty: it is not."""
    if pod.key in reach.may:
        return ""
    evicts = reach.does is ActionKind.EVICT
    return reach.refused.get(pod.key) or eligibility.refusal(
        pod, reach.action, situation.view.pod_qos, situation.settings, evicts=evicts
    )


def _metric(situation: Situation, verdict: Verdict, *, evicts: bool) -> Metric | None:
    """The metric by whose order the rule walks."""
    own = verdict.rule.metric
    if own is not None and (own.evict if evicts else own.throttle).quantified:
        return own
    if evicts:
        return situation.through(verdict, lambda metric: metric.evict.quantified)
    return situation.through(verdict, lambda metric: metric.moved_by_quota)
