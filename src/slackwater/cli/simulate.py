"""
`slackwater simulate`: runs a scenario against the real agent on a simulated node, and tells what came of it.

It reads the scenario and what stands beside it, and writes to the terminal or into the report that was asked for; no machine and no cluster is touched. Results go to standard
output, what is wrong with a file to standard error. The same scenario and seed give the same bytes of JSON.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from slackwater.agent.packages import looked_up
from slackwater.api import documents
from slackwater.api.manifests.crosscheck import cross_check
from slackwater.api.problems import Problem, Severity
from slackwater.cli import exits, simulate_told
from slackwater.metrics.metric import Catalogue
from slackwater.sim import mishaps, scenario
from slackwater.sim.mishaps import FaultKind
from slackwater.sim.result import Result, document
from slackwater.sim.running import run
from slackwater.sim.scenario import Manifests, Scenario

LONGEST_TIMELINE = 60


@click.command(
    "simulate",
    epilog="Exits with 0 if it ran and every promise held, 1 if the scenario is wrong or a promise was broken, 2 if it was used wrongly.",
)
@click.argument("file", metavar="SCENARIO.yaml", required=False, type=click.Path(path_type=Path))
@click.option(
    "--policies",
    "others",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Run it under these policies in place of its own; given several times, they are compared side by side.",
)
@click.option("--seed", type=click.IntRange(min=0), help="In place of the scenario's own.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page with chart, table and timeline, or the chart alone if it ends in .svg.",
)
@click.option("--all", "whole", is_flag=True, help=f"Print the whole timeline, not its first {LONGEST_TIMELINE} lines.")
@click.option("--faults", is_flag=True, help="List the kinds of fault a scenario may hold, with their fields.")
@click.pass_context
def simulate(
    context: click.Context,
    *,
    file: Path | None,
    others: tuple[Path, ...],
    seed: int | None,
    output: str,
    report: Path | None,
    whole: bool,
    faults: bool,
) -> None:
    """Run a scenario, a node with pods, policies and faults, in seconds instead of hours: what was done, when, and what it was good for."""
    if faults:
        click.echo(_faults_as_json() if output == "json" else simulate_told.faults())
        return
    if file is None:
        raise click.UsageError("Give a scenario to run, or --faults to see what may go wrong in one.")
    found = _scenario(file, seed)
    variants = [_variant(one) for one in others] or ([found.policies] if found is not None else [])
    if found is None or None in variants:
        context.exit(exits.DOES_NOT_HOLD)
    catalogue = looked_up({}).catalogue
    results = [_ran(found, one, catalogue) for one in variants if one is not None]
    _tell(results, output=output, whole=whole)
    if report is not None:
        _write_report(results, report)
    broken = any(result.promises_broken for result in results)
    context.exit(exits.DOES_NOT_HOLD if broken else exits.DONE)


def _scenario(file: Path, seed: int | None) -> Scenario | None:
    """None: it is wrong, and that was said."""
    text = _text(file)
    if isinstance(text, Problem):
        _complain((text,))
        return None
    read = scenario.read(text, str(file), lambda name: _text(file.parent / name), seed)
    _complain(read.problems)
    return read.scenario


def _variant(file: Path) -> Manifests | None:
    text = _text(file)
    if isinstance(text, Problem):
        _complain((text,))
        return None
    manifests, problems = scenario.manifests(text, str(file))
    _complain(problems)
    return None if scenario.errors(problems) else manifests


def _ran(found: Scenario, policies: Manifests, catalogue: Catalogue) -> Result:
    """What is wrong with single rules hurts them alone, here as on a node; it is said all the same."""
    _complain(cross_check(policies.items, whole=True, metrics=catalogue.metrics), at_most=Severity.WARNING)
    with _quiet():
        result = run(found, policies, catalogue)
    for metric in result.blind:
        click.echo(f"warning: {metric} does not move on a simulated node; rules on it never act", err=True)
    return result


@contextmanager
def _quiet() -> Iterator[None]:
    """What the agent would log is in the timeline; a thousand lives of it need not say it again."""
    log = logging.getLogger("slackwater")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def _text(path: Path) -> str | Problem:
    try:
        if not path.is_file():
            return documents.unread(
                str(path), "is not there" if not path.exists() else "is no file", "name one that is"
            )
        with path.open("rb") as opened:
            return documents.decode(opened.read(documents.LARGEST_FILE + 1), str(path))
    except OSError as error:
        return documents.unread(str(path), f"cannot be read: {error.strerror}", "look at its permissions")


def _complain(problems: tuple[Problem, ...], at_most: Severity = Severity.ERROR) -> None:
    for problem in problems:
        severity = problem.severity if at_most is Severity.ERROR else at_most
        click.echo(f"{severity.value}: {problem}", err=True)


def _tell(results: list[Result], *, output: str, whole: bool) -> None:
    if output == "json":
        told = document(results[0]) if len(results) == 1 else {"runs": [document(result) for result in results]}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
        return
    for line in simulate_told.lines(results, at_most=None if whole else LONGEST_TIMELINE):
        click.echo(line)


def _write_report(results: list[Result], report: Path) -> None:
    from slackwater.cli import simulate_report  # noqa: PLC0415 - only who asks for a picture pays for one
    from slackwater.sim import chart  # noqa: PLC0415 - the same

    picture = report.suffix == ".svg"
    if picture and len(results) > 1:
        raise click.UsageError("A picture shows one run; several are compared on a page: --report FILE.html.")
    try:
        report.write_text(chart.svg(results[0]) if picture else simulate_report.html(results), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{report} could not be written: {error.strerror}") from error
    click.echo(f"the report is in {report}", err=True)


def _faults_as_json() -> str:
    told = [_kind(kind) for kind in FaultKind]
    return msgspec.json.format(msgspec.json.encode({"faults": told}), indent=2).decode()


def _kind(kind: FaultKind) -> dict[str, object]:
    shape = mishaps.SHAPES[kind]
    optional = ["for"] if shape.lasts else []
    return {"kind": kind.value, "fields": ["at", *shape.fields], "optional": optional, "meaning": shape.meaning}
