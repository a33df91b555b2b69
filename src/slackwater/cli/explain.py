"""
`slackwater explain`: what was done, to whom, and why, read from the journal beside a running agent or long after it;
and where nothing was done, why not.

It only reads. On a terminal a decision is a tree; piped, one line; for scripts, the document of `cli.told`. Acts that
took nothing, tick after tick, are one line for people and one each for scripts.
"""

import sys
import time
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from slackwater.agent.configuration import Configuration
from slackwater.api.units import Wall
from slackwater.cli import exits, last_tick, lines, told
from slackwater.cli.folds import TO_PODS, folded
from slackwater.cli.last_tick import LastTick, Untold
from slackwater.cli.moments import since as moment_of
from slackwater.cli.settings import configured
from slackwater.decide.plan import Decision
from slackwater.journal.reading import Absent, Reader, Unreadable

HELP = """
Tell what was done to whom, and why; where nothing was done, why not.

POD is a pod's name or namespace/name: only decisions that looked at it are told. Nothing is changed, and no agent need be running.
"""


class NoJournal(click.ClickException):
    exit_code = exits.DOES_NOT_HOLD


class NoReading(click.ClickException):
    exit_code = exits.NOT_POSSIBLE


@click.command("explain", help=HELP)
@click.argument("pod", required=False)
@click.option(
    "--since", metavar="SPAN|MOMENT", help="Only what was done since: 10m, 1h30m, 2d, or 2026-01-31T12:00:00Z."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people (the default) or for scripts.",
)
@click.option("--why-not", is_flag=True, help="Tell also what stands in the way of doing anything (more) now.")
@click.option("--brief", is_flag=True, help="One short line a decision.")
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="FILE", help="Read this file: a copy, or another node's."
)
@configured("cluster", "journal.path")
def explain(
    *,
    configuration: Configuration,
    pod: str | None,
    since: str | None,
    output: str,
    why_not: bool,
    brief: bool,
    journal: Path | None,
) -> None:
    path = journal or configuration.journal_file
    first = None if since is None else _moment(since)
    found = _read(path, first, pod, why_not=why_not)
    if output == "json":
        document = told.document(found.decisions) | (told.standing(found.last) if why_not else {})
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return
    if not found.decisions:
        lines.say(_nothing(pod, since, found))
    if sys.stdout.isatty():
        _show(found, brief=brief)
    else:
        _print(found, brief=brief)


def _now() -> Wall:
    return Wall(time.time())


def _moment(text: str) -> Wall:
    try:
        return moment_of(text, _now())
    except (ValueError, OverflowError):
        raise click.UsageError(
            f"--since: {text!r} is neither a span (10m, 1h30m, 2d) nor a moment (2026-01-31T12:00:00Z)"
        ) from None


class Found(Struct, frozen=True):
    decisions: list[Decision]
    newest: Wall | None  # when the newest tick was recorded
    last: LastTick | str | None  # how it stood then, or why that cannot be told; None: nobody asks
    unknown: bool = False  # the pod that was asked for: no tick ever looked at it


def _read(path: Path, first: Wall | None, pod: str | None, *, why_not: bool) -> Found:
    try:
        with Reader(path) as reader:
            decisions = reader.decisions(first, pod)
            last = _last(reader, pod) if why_not or not any(_did(decision, pod) for decision in decisions) else None
            unknown = pod is not None and not decisions and _unknown(reader, pod, last)
            return Found(decisions, reader.newest(), last, unknown)
    except Absent as absent:
        hint = "has an agent run here? For a folder cluster give --cluster folder:DIR"
        raise NoJournal(f"{absent}; {hint}") from absent
    except Unreadable as unreadable:
        raise NoReading(str(unreadable)) from unreadable


def _did(decision: Decision, pod: str | None) -> bool:
    """Whether anything was changed by it; of a pod: on that pod."""
    if decision.preview:
        return False
    if pod is None:
        return bool(decision.operations) or decision.action not in TO_PODS
    return any(pod in (one.pod, one.pod.partition("/")[2]) for one in decision.operations)


def _unknown(reader: Reader, pod: str, last: LastTick | str | None) -> bool:
    """Not on the node in the newest tick, and in no decision of any time. Where the newest tick cannot be read, nobody knows."""
    return isinstance(last, LastTick) and not last.standing.pods and not reader.decisions(None, pod)


def _last(reader: Reader, pod: str | None) -> LastTick | str:
    try:
        return last_tick.last_tick(reader, pod or "")
    except Untold as untold:
        return str(untold)


def _nothing(pod: str | None, since: str | None, found: Found) -> str:
    whom = f" to {pod}" if pod else ""
    when = f" since {since}" if since and "T" in since else f" in the last {since}" if since else ""
    unknown = "; no pod of that name is in the journal" if found.unknown else ""
    tick = f"the newest tick in the journal is of {told.moment(found.newest)}" if found.newest else ""
    return f"Nothing was done{whom}{when}{unknown}; {tick or 'the journal holds no tick'}."


def _print(found: Found, *, brief: bool) -> None:
    for fold in folded(found.decisions):
        lines.say(told.line(fold, brief=brief))
    if found.last is not None:
        for line in told.standing_lines(found.last, _now()):
            lines.say(line)


def _show(found: Found, *, brief: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts that read the JSON do not wait for it

    from slackwater.cli import told_tree  # noqa: PLC0415 - the same

    if brief:
        _print(found, brief=True)
        return
    console = Console()
    told_tree.show(found.decisions, console)
    if found.last is not None:
        told_tree.show_standing(found.last, _now(), console)
