"""
`slackwater explain`: what was done, to whom, and why, read from the journal beside a running agent or long after it.

It only reads. On a terminal a decision is a tree; piped, one line; for scripts, the document of `cli.told`.
"""

import sys
import time
from pathlib import Path

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.api.units import Wall
from slackwater.cli import exits, told
from slackwater.cli.moments import since as moment_of
from slackwater.cli.settings import configured
from slackwater.decide.plan import Decision
from slackwater.journal.reading import Absent, Reader, Unreadable

HELP = """
Tell what was done to whom, and why.

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
@click.option("--brief", is_flag=True, help="One short line a decision.")
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="FILE", help="Read this file: a copy, or another node's."
)
@configured("cluster", "journal.path")
def explain(
    *, configuration: Configuration, pod: str | None, since: str | None, output: str, brief: bool, journal: Path | None
) -> None:
    path = journal or configuration.journal_file
    first = None if since is None else _moment(since)
    decisions, newest = _read(path, first, pod)
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(told.document(decisions)), indent=2).decode())
    elif not decisions:
        click.echo(_nothing(pod, since, newest))
    elif brief or not sys.stdout.isatty():
        for decision in decisions:
            click.echo(told.line(decision, brief=brief))
    else:
        _show(decisions)


def _moment(text: str) -> Wall:
    try:
        return moment_of(text, Wall(time.time()))
    except (ValueError, OverflowError):
        raise click.UsageError(
            f"--since: {text!r} is neither a span (10m, 1h30m, 2d) nor a moment (2026-01-31T12:00:00Z)"
        ) from None


def _read(path: Path, first: Wall | None, pod: str | None) -> tuple[list[Decision], Wall | None]:
    """The decisions, and when the newest tick was recorded."""
    try:
        with Reader(path) as reader:
            return reader.decisions(first, pod), reader.newest()
    except Absent as absent:
        hint = "has an agent run here? For a folder cluster give --cluster folder:DIR"
        raise NoJournal(f"{absent}; {hint}") from absent
    except Unreadable as unreadable:
        raise NoReading(str(unreadable)) from unreadable


def _nothing(pod: str | None, since: str | None, newest: Wall | None) -> str:
    whom = f" to {pod}" if pod else ""
    when = f" since {since}" if since and "T" in since else f" in the last {since}" if since else ""
    seen = (
        "the journal holds no tick" if newest is None else f"the newest tick in the journal is of {told.moment(newest)}"
    )
    return f"Nothing was done{whom}{when}; {seen}."


def _show(decisions: list[Decision]) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts that read the JSON do not wait for it

    from slackwater.cli import told_tree  # noqa: PLC0415 - the same

    told_tree.show(decisions, Console())
