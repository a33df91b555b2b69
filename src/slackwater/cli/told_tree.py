"""Decisions as trees, for a terminal: the cause on top, below it what was done to whom, who was left alone, and how it ended."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from slackwater.cli import told
from slackwater.decide import sentence
from slackwater.decide.plan import ActionKind, Decision

_COLOURS = {
    ActionKind.THROTTLE: "yellow",
    ActionKind.RESTORE: "green",
    ActionKind.EVICT: "red",
    ActionKind.DISABLE_SCHEDULING: "red",
    ActionKind.ENABLE_SCHEDULING: "green",
}


def show(decisions: Iterable[Decision], console: Console) -> None:
    for decision in decisions:
        console.print(tree(decision))


def tree(decision: Decision) -> Tree:
    clauses = sentence.telling(decision)
    top = Tree(_title(decision), guide_style="dim")
    top.add(Text("; ".join((clauses.head, *clauses.why))))
    for deed in clauses.deeds:
        top.add(Text(deed, style="bold"))
    for alone in clauses.left_alone:
        top.add(Text(alone, style="dim"))
    for end in clauses.end:
        top.add(Text(end, style=_COLOURS[decision.action]))
    return top


def _title(decision: Decision) -> Text:
    return Text.assemble((told.moment(decision.at), "dim"), " ", (told.title(decision), _COLOURS[decision.action]))
