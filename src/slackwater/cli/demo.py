"""
`slackwater demo`: see on this machine what Slackwater does, in about two minutes.

Runs the real thing where cgroups may be made, and the same story on a simulated node where not. Results go to standard output, progress to standard error, and whatever ends it,
an interrupt included, leaves no process, no cgroup and no file behind.
"""

import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from slackwater.api.units import Seconds, Wall
from slackwater.cli import exits
from slackwater.decide import sentence
from slackwater.demo import chart, outcome, report, terminal
from slackwater.demo.figures import TooFew
from slackwater.demo.interrupts import Interrupted, Interrupts
from slackwater.demo.machine import Machine
from slackwater.demo.performance import Options, Performance
from slackwater.demo.scenario import Audience, NothingDone, Play
from slackwater.demo.simulated import Simulated
from slackwater.demo.stage import Broken, NotPermitted, Stage


def _writable(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Asked before two minutes are spent on what could then not be kept."""
    if path is None:
        return None
    folder = path.absolute().parent
    if not folder.is_dir():
        raise click.BadParameter(f"{folder} is no folder; make it, or name another file", context, parameter)
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise click.BadParameter(f"{path} cannot be written", context, parameter)
    return path


def _possible_folder(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is None:
        return None
    nearest = next(above for above in (path.absolute(), *path.absolute().parents) if above.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise click.BadParameter(f"{nearest} is no folder that can be written", context, parameter)
    return path


@click.command(help="See it work: a latency-critical service, batch beside it, Slackwater off and on in turn.")
@click.option("--rounds", type=click.IntRange(1, 50), default=3, show_default=True, help="Rounds of every phase.")
@click.option(
    "--seconds", type=click.FloatRange(1, 600), default=6.0, show_default=True, help="Measured seconds of every round."
)
@click.option(
    "--service",
    "service_class",
    type=click.Choice(["burstable", "guaranteed"]),
    default="burstable",
    show_default=True,
    help="QoS class of the service: batch yields to a Burstable one, a Guaranteed one is lifted.",
)
@click.option("--simulated", is_flag=True, help="On a simulated node, even where the machine permits the real thing.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--report",
    "report_file",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_writable,
    help="Write an HTML report.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_writable,
    help="Write the chart as SVG.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_possible_folder,
    help="Use this folder, and leave manifests and journal.",
)
def demo(
    *,
    rounds: int,
    seconds: float,
    service_class: str,
    simulated: bool,
    output: str,
    report_file: Path | None,
    picture: Path | None,
    keep: Path | None,
) -> int:
    options = Options(rounds=rounds, seconds=Seconds(seconds), guaranteed=service_class == "guaranteed")
    progress = Console(stderr=True)
    try:
        performance = _performed_where_possible(options, progress, keep, simulated=simulated)
    except (NothingDone, TooFew) as failure:
        return _failed(progress, str(failure), exits.DOES_NOT_HOLD)
    except (Broken, NotPermitted) as failure:
        return _failed(progress, str(failure), exits.NOT_POSSIBLE)
    except Interrupted:
        return _failed(progress, "interrupted; everything is as it was before", exits.NOT_POSSIBLE)
    if output == "json":
        click.echo(json.dumps(outcome.outcome(performance), indent=2))
    else:
        terminal.print_result(Console(), performance)
    try:
        _write(performance, report_file, picture)
    except OSError as failure:
        return _failed(progress, f"the result could not be written: {failure}", exits.NOT_POSSIBLE)
    return exits.DONE if performance.restored else exits.DOES_NOT_HOLD


def _performed_where_possible(
    options: Options, progress: Console, keep: Path | None, *, simulated: bool
) -> Performance:
    if not simulated:
        try:
            return _performed(options, progress, keep, Machine)
        except NotPermitted as refusal:
            progress.print(
                f"{refusal}.\nThe same scenario runs on a SIMULATED node: nothing below is measured on this machine.",
                highlight=False,
                soft_wrap=True,
            )
    return _performed(options, progress, keep, Simulated)


def _performed(
    options: Options, progress: Console, keep: Path | None, stage_in: Callable[[Path], Stage]
) -> Performance:
    """Whatever happens, the signals are ignored before the tidying begins, and the stage is closed before its folder goes."""
    interrupts = Interrupts()
    with interrupts.watched(), _folder(keep) as directory:
        stage = None
        try:
            try:
                stage = stage_in(directory)
                with _audience(progress, options) as audience:
                    return Play(stage, options, audience).perform()
            finally:
                interrupts.disarm()
        finally:
            if stage is not None:
                stage.close()


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    directory = keep or Path(tempfile.gettempdir()) / f"slackwater-demo-{secrets.token_hex(6)}"
    try:
        directory.mkdir(parents=True, exist_ok=keep is not None, mode=0o700)
        yield directory.resolve()
    finally:
        if keep is None:
            shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _audience(progress: Console, options: Options) -> Iterator[Audience]:
    if progress.is_terminal:
        with terminal.LivePicture(progress, sentence.brief, options.about) as picture:
            yield picture
    else:
        yield terminal.PlainLines(progress, sentence.brief)


def _write(performance: Performance, report_file: Path | None, picture: Path | None) -> None:
    if report_file is not None:
        report_file.write_text(report.html(performance, Wall(time.time())))
    if picture is not None:
        picture.write_text(chart.svg(performance) + "\n")


def _failed(progress: Console, why: str, code: int) -> int:
    progress.print(f"slackwater demo: {why}", markup=False, highlight=False, soft_wrap=True)
    return code
