"""
Whether new pods may come: derived anew at each tick from the rules' states, so neither a crash nor a deleted policy can
leave the node closed.
"""

from collections.abc import Iterable

from slackwater.api.units import Instant
from slackwater.decide.plan import Scheduling
from slackwater.judge.verdicts import Verdict


def scheduling(verdicts: Iterable[Verdict], now: Instant) -> tuple[Scheduling, tuple[Verdict, ...]]:
    """How the node should stand, and because of which rules."""
    closing = tuple(verdict for verdict in verdicts if verdict.rule.disables_scheduling and _closes(verdict, now))
    names = ", ".join(sorted(verdict.rule.title for verdict in closing))
    return Scheduling(disabled=bool(closing), why=names), closing


def _closes(verdict: Verdict, now: Instant) -> bool:
    state = verdict.state
    cooling = state.last_harm is not None and now - state.last_harm < verdict.rule.cool_down
    return state.engaged or cooling
