"""
What ends a throttle at once, without any cool-down: its last real rule is gone, its pod became protected, or its action
is no longer allowed to it.

Also what keeps it true from tick to tick: which of its causes still live, and when its quota last stopped it. Absence
means deletion only in a complete view; the caller holds everything until there is one.
"""

from msgspec import Struct
from msgspec.structs import replace

from slackwater.api.units import Millicores
from slackwater.claims.claim import Throttled
from slackwater.decide import eligibility
from slackwater.decide.plan import Operation
from slackwater.decide.restore import Held, operation
from slackwater.decide.situation import Situation
from slackwater.judge.verdicts import Verdict
from slackwater.snapshot import usage

OVER = frozenset({"Succeeded", "Failed"})


class Ended(Struct, frozen=True):
    claim: Throttled
    why: str
    operation: Operation


class Upkept(Struct, frozen=True):
    held: Held
    ended: tuple[Ended, ...] = ()
    freed: dict[str, Millicores] = {}  # by pod: what those that ended are expected to use now


def upkeep(situation: Situation) -> Upkept:
    living = {verdict.state.id: verdict for verdict in situation.verdicts}
    held: Held = {}
    ended = []
    freed: dict[str, Millicores] = {}
    for claim in situation.memory.throttled:
        kept, why = _look(situation, claim, living)
        if kept is not None:
            held[kept.where] = kept
        elif claim.pod in situation.pods:
            ended.append(Ended(claim, why, operation(situation, None, claim, None)))
            hungry = max(0, claim.reference - claim.quota) if _starved(situation, claim) else 0
            freed[claim.pod] = Millicores(freed.get(claim.pod, 0) + hungry)
    return Upkept(held, tuple(ended), freed)


def _look(situation: Situation, claim: Throttled, living: dict[str, Verdict]) -> tuple[Throttled | None, str]:
    pod = situation.pods.get(claim.pod)
    if pod is None or all(container.name != claim.container for container in pod.containers):
        return None, "it is gone"
    if pod.phase in OVER:
        return None, "it has ended"
    behind = [living[cause] for cause in claim.causes if cause in living and living[cause].rule.throttles]
    if not behind:
        return None, situation.idle_because or "the last rule behind it is gone"
    barred = [
        eligibility.barred(pod, verdict.rule.rule.action, situation.view.pod_qos, situation.settings)
        for verdict in behind
    ]
    if all(barred):
        return None, barred[0]
    left = [verdict for verdict, why in zip(behind, barred, strict=True) if not why]
    stopped_it = situation.sampled and _starved(situation, claim)
    return replace(
        claim,
        causes=tuple(verdict.state.id for verdict in left),
        weight=any(verdict.rule.yields for verdict in left),
        starved_at=situation.now if stopped_it else claim.starved_at,
    ), ""


def _starved(situation: Situation, claim: Throttled) -> bool:
    pod = situation.pods[claim.pod]
    return any(
        usage.starved(situation.frames, group)
        for container, group in usage.groups_of(pod)
        if container.name == claim.container
    )
