"""
What one action did about one metric in one tick: the ground on which a decision is written down, before it has an id
and a sentence.
"""

from msgspec import Struct

from slackwater.api.objects import Pod
from slackwater.api.units import Amount
from slackwater.decide import eligibility
from slackwater.decide.plan import ActionKind, Considered, Operation
from slackwater.judge.verdicts import Verdict
from slackwater.metrics.metric import Metric


class Act(Struct, frozen=True, kw_only=True):
    action: ActionKind
    governing: Verdict  # the rule whose waterline governed
    also: tuple[Verdict, ...] = ()  # the others that took part
    metric: Metric | None = None
    gap: Amount | None = None
    considered: tuple[Considered, ...] = ()
    operations: tuple[Operation, ...] = ()
    stopped: str = ""
    reason: str = ""


def governed(verdicts: list[Verdict]) -> tuple[Verdict, tuple[Verdict, ...]]:
    """The one with the lowest waterline, and the others."""
    first, *others = sorted(verdicts, key=lambda verdict: (verdict.rule.rule.value or 0.0, verdict.rule.title))
    return first, tuple(others)


def cores(millicores: float | None) -> str:
    """For people: 880 is 0.88, unlimited says so."""
    return "unlimited" if millicores is None else f"{millicores / 1000:.2f}"


def who(pod: Pod) -> str:
    """Class and priority, and the level where there is one."""
    level = eligibility.level(pod)
    return ", ".join((pod.qos_class.title, str(pod.priority or 0), *((f"level {level}",) if level else ())))
