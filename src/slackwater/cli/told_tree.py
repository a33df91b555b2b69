"""
Decisions as trees, for a terminal: the cause on top, below it what was done to whom, who was left alone, and how it
ended; and how the node stands, part by part.
"""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from slackwater.api.units import Wall
from slackwater.cli import told
from slackwater.cli.folds import Fold, folded
from slackwater.cli.last_tick import LastTick
from slackwater.decide import sentence, standing_words
from slackwater.decide.plan import ActionKind, Decision

_COLOURS = {
    ActionKind.THROTTLE: "yellow",
    ActionKind.RESTORE: "green",
    ActionKind.EVICT: "red",
    ActionKind.DISABLE_SCHEDULING: "red",
    ActionKind.ENABLE_SCHEDULING: "green",
}


def show(decisions: Iterable[Decision], console: Console) -> None:
    for fold in folded(decisions):
        console.print(tree(fold))


def show_standing(last: LastTick | str, now: Wall, console: Console) -> None:
    if isinstance(last, str):
        console.print(Text("\n".join(told.standing_lines(last, now))))
    else:
        console.print(standing_tree(last, now))


def standing_tree(last: LastTick, now: Wall) -> Tree:
    top = Tree(Text(told.standing_head(last, now)), guide_style="dim")
    for part in standing_words.parts(last.standing):
        branch = top.add(Text(part.head, style="bold"))
        for line in part.lines:
            branch.add(Text(line))
    return top


def tree(fold: Fold) -> Tree:
    decision = fold.newest
    clauses = sentence.telling(decision)
    top = Tree(_title(fold), guide_style="dim")
    top.add(Text("; ".join((clauses.head, *clauses.why))))
    for deed in clauses.deeds:
        top.add(Text(deed, style="bold"))
    for alone in clauses.left_alone:
        top.add(Text(alone, style="dim"))
    for end in clauses.end:
        top.add(Text(end, style=_COLOURS[decision.action]))
    return top


def _title(fold: Fold) -> Text:
    return Text.assemble((told.moment(fold.first), "dim"), " ", (told.title(fold), _COLOURS[fold.newest.action]))
