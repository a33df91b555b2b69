"""`slackwater lab`: a folder's pods as local processes in cgroups; what it prints, and how it ends."""

import sys
from collections.abc import Collection
from pathlib import Path

import click
import msgspec

from slackwater.cli import exits, lines
from slackwater.cli.happenings import happenings
from slackwater.cluster.ledger import RunningPod
from slackwater.host.layout import Style
from slackwater.lab.folder import Lab, LabFailed
from slackwater.lab.manifests import has_manifests
from slackwater.lab.roots import fault
from slackwater.lab.status import Status, as_json, status
from slackwater.lab.trees import NotPermitted

_SHOWN_EVENTS = 10

_folder = click.option(
    "-f",
    "--folder",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the manifests.",
)


@click.group("lab")
def lab() -> None:
    """
    Run a folder's pods as local processes in cgroups.

    The groups are laid out and filled as kubelet would, under a root of their own. A container's command and args are run on this machine, in the folder; its image is
    ignored. Changed, added and removed manifests are taken up as long as the lab runs.
    """


@lab.command("up")
@_folder
@click.option(
    "--layout",
    type=click.Choice([style.value for style in Style]),
    default=Style.CGROUPFS.value,
    show_default=True,
    help="How the groups are named.",
)
@click.option(
    "--cgroup-root",
    default="",
    metavar="NAME",
    help="The lab's own root below every hierarchy; without it a name made from the folder's.",
)
def up(folder: Path, layout: str, cgroup_root: str) -> None:
    """Start the lab and wait until every pod runs or has failed."""
    wrong = fault(cgroup_root) if cgroup_root else None
    if wrong:
        raise click.UsageError(f"--cgroup-root: {wrong}")
    one = Lab(folder, root=cgroup_root, style=Style(layout))
    try:
        started = one.up()
    except (NotPermitted, LabFailed) as failure:
        _fail(failure)
    found = _status(folder)
    _say("started" if started else "ran already, and has taken up what changed", found)
    if layout != found.lab.layout or cgroup_root not in {"", found.lab.root}:
        click.echo("a running lab keeps its root and its layout; end it first to have others", err=True)
    click.echo(f"the agent on it: slackwater agent --cluster folder:{folder}")
    _table(folder, found.pods)
    failed = [pod for pod in found.pods if _wrong(pod)]
    if failed:
        _events(found)
        sys.exit(exits.DOES_NOT_HOLD)


@lab.command("down")
@_folder
@click.option("--now", is_flag=True, help="Kill at once instead of granting each pod its grace.")
def down(folder: Path, now: bool) -> None:
    """End all pods and take away the groups and what the lab wrote; manifests, journal and the agent's files stay."""
    try:
        Lab(folder).down(at_once=now)
    except (NotPermitted, LabFailed) as failure:
        _fail(failure)
    click.echo(f"nothing of a lab is left in {folder}")


@lab.command("status")
@_folder
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def show(folder: Path, output: str) -> None:
    """Show what the folder's cluster holds now: the node, the pods and what happened."""
    found = _status(folder)
    if output == "json":
        click.echo(as_json(found))
        return
    _say("runs" if found.lab.pid is not None else "does not run", found)
    taints = ", ".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in found.node.taints) or "none"
    conditions = ", ".join(f"{one.type}={one.status} ({one.reason})" for one in found.node.conditions) or "none"
    click.echo(f"node {found.node.name}: taints {taints}; conditions {conditions}")
    _table(folder, found.pods)
    _events(found)


def _status(folder: Path) -> Status:
    try:
        return status(folder)
    except (msgspec.MsgspecError, OSError) as failure:
        raise click.ClickException(f"what lies in {folder} cannot be read: {failure}") from failure


def _say(what: str, found: Status) -> None:
    where = (
        f"; groups below {found.lab.root} (cgroup v{found.lab.version}, {found.lab.layout})" if found.lab.root else ""
    )
    pid = f", pid {found.lab.pid}" if found.lab.pid else ""
    click.echo(f"the lab {what}{pid}{where}")


def _table(folder: Path, pods: Collection[RunningPod]) -> None:
    if not pods:
        click.echo(_no_pods(folder))
        return
    rows = [("POD", "CLASS", "PHASE", "CONTAINER", "PID", "REASON")]
    for pod in pods:
        for container in pod.containers:
            pid = str(container.pid) if container.running else "-"
            rows.append((f"{pod.namespace}/{pod.name}", pod.qos_class, pod.phase, container.name, pid, pod.reason))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _no_pods(folder: Path) -> str:
    return f"no pods in the manifests of {folder}" if has_manifests(folder) else f"no manifests in {folder}"


def _events(found: Status) -> None:
    for happening in happenings(found.events)[-_SHOWN_EVENTS:]:
        lines.say(str(happening))


def _wrong(pod: RunningPod) -> bool:
    return pod.phase in {"Failed", "Pending"} and pod.reason != "Evicted"


def _fail(failure: Exception) -> None:
    click.echo(f"slackwater lab: {failure}", err=True)
    sys.exit(exits.NOT_POSSIBLE)
