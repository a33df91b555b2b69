"""
A closer look, taken only when a rule is about to squeeze: what stands in the files of those who may be squeezed. A
quiet tick reads none of them.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from slackwater.agent.observing import Seen
from slackwater.decide import eligibility
from slackwater.decide.settings import Settings
from slackwater.host.edge import Host, Vanished
from slackwater.judge.verdicts import Verdict, is_blind
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Settings as KnobSettings
from slackwater.snapshot.usage import groups_of
from slackwater.snapshot.view import View


def looked_closer(host: Host, seen: Seen, verdicts: Iterable[Verdict]) -> Seen:
    found: dict[GroupId, KnobSettings] = {}
    for group in _worth_a_look(seen.view, verdicts, seen.settings):
        try:
            found[group] = host.settings(group)
        except Vanished:
            continue
    return replace(seen, looked_at=found) if found else seen


def _worth_a_look(view: View, verdicts: Iterable[Verdict], settings: Settings) -> Iterator[GroupId]:
    actions = {v.rule.rule.action for v in verdicts if v.rule.throttles and (v.acts or is_blind(v))}
    for pod in view.pods if actions else ():
        refusals = (eligibility.refusal(pod, one, view.pod_qos, settings, evicts=False) for one in actions)
        if not all(refusals):
            yield from (group for _, group in groups_of(pod))
