"""
What was done and why, told act by act; then how fast it was, how precise, and whether all came back.

The story of one run for people: terminal and report lay out the same lines. The words of an act are those of `decide.sentence`, so that the demonstration says it as
`slackwater explain` does.
"""

from msgspec import Struct

from slackwater.decide import sentence
from slackwater.decide.plan import ActionKind, Decision
from slackwater.demo.figures import Squeeze
from slackwater.demo.performance import Performance

MOST_TOLD = 8
SHORT_SHARE = 0.05  # of a gap: a plan that leaves more of it open says so


class Telling(Struct, frozen=True):
    """An act, in lines."""

    action: ActionKind
    cause: str
    deeds: tuple[str, ...]  # a pod each
    rest: tuple[str, ...]  # who was left alone, and how it ended


def tellings(performance: Performance) -> list[Telling]:
    """What the last round's agent did; the rounds before it are the same story."""
    return [_telling(one) for one in _last_round(performance)[:MOST_TOLD]]


def left_out(performance: Performance) -> str:
    """How many acts of the last round were too many to tell; empty: none."""
    left = len(_last_round(performance)) - MOST_TOLD
    return f"and {left} more of the kind, in the journal" if left > 0 else ""


def _last_round(performance: Performance) -> tuple[Decision, ...]:
    ids = [one.id for one in performance.actions]
    first = ids.index(performance.first_actions[-1]) if performance.first_actions else 0
    return performance.actions[first:]


def _telling(decision: Decision) -> Telling:
    clauses = sentence.telling(decision)
    return Telling(
        action=decision.action,
        cause="; ".join((clauses.head, *clauses.why)),
        deeds=clauses.deeds,
        rest=(*clauses.left_alone, *clauses.end),
    )


def closing(performance: Performance) -> list[str]:
    """How fast it was, how precise, and that nothing is left."""
    said = []
    if performance.reactions:
        said.append(f"first action {max(performance.reactions):.1f} s after the agent's start at the latest")
    if performance.squeeze is not None:
        said.append(squeezed(performance.squeeze))
    said.append(given_back(performance))
    said.append("every quota and weight is as before" if performance.restored else "NOT everything is as before")
    return [*said, *performance.differences]


def squeezed(squeeze: Squeeze) -> str:
    """The three figures by which a squeeze is judged precise, in words."""
    measured = "not measured" if squeeze.actual is None else f"measured {squeeze.actual:.0f}m"
    said = f"{squeeze.gap:.0f}m had to go (all above the waterline, and the margin); planned {squeeze.released:.0f}m, {measured}"
    short = squeeze.gap - squeeze.released > SHORT_SHARE * squeeze.gap
    return f"first squeeze: {said}" + ("; batch had no more to give by then" if short else "")


def given_back(performance: Performance) -> str:
    end = performance.giving_back
    if end.after is not None:
        return f"all given back by the agent {end.after:.1f} s after the batch work ended"
    at_its_end = "; it did so at its end" if performance.restored else ""
    return (
        f"the agent did NOT give back by itself within {end.waited:.0f} s of the batch work's end "
        f"(the node still used {end.cpu_cores:.2f} cores, others {end.others_cores:.2f} of them, waterline {performance.calibration.waterline / 1000:.2f}){at_its_end}"
    )
