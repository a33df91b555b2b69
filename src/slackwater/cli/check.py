"""
`slackwater check`: reads manifests as the agent would, and says what is wrong with them before the agent has to.

It reads files and writes to the terminal, nothing else: no cluster is asked, and of this machine no more than its size,
where no Node is given. What is wrong is found and worded in `api.manifests`, and what an agent would refuse in `judge`;
here it is only collected and shown. Errors make it exit 1; warnings are said and let pass.
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from slackwater.agent.packages import looked_up
from slackwater.api import documents
from slackwater.api.manifests import Item, load
from slackwater.api.manifests.crosscheck import cross_check
from slackwater.api.problems import Problem, Severity
from slackwater.cli import exits, lines
from slackwater.cli.refused import refused_rules, this_machine
from slackwater.metrics.metric import Catalogue

SUFFIXES = (".yaml", ".yml", ".json")
STANDARD_INPUT = "-"
_FOLDER_CLUSTER = "folder:"


class Checked(msgspec.Struct, frozen=True):
    documents: int
    problems: tuple[Problem, ...]

    def of(self, severity: Severity) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity is severity]


@click.command(epilog="Exits with 0 if there is no error, 1 if there is one, 2 if it was used wrongly.")
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option("-R", "--recursive", is_flag=True, help="Read the folders in a folder as well.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to say it.")
@click.option(
    "--cluster",
    envvar="SLACKWATER_CLUSTER",
    metavar="folder:DIR",
    help="Check against what this cluster holds; without FILE, check all of it.",
)
@click.pass_context
def check(context: click.Context, paths: tuple[str, ...], recursive: bool, output: str, cluster: str | None) -> None:
    """Read manifests and say what is wrong with them: *.yaml, *.yml and *.json of a folder, or the files named; - is the standard input."""
    folder = _folder(cluster)
    if not paths and folder is None:
        raise click.UsageError("Give a file or a folder to check, or --cluster folder:DIR.")
    found = _check(paths, folder, recursive=recursive)
    if output == "json":
        click.echo(_as_json(found))
    else:
        for line in _as_text(found):
            lines.say(line)
    for empty in _empty(paths or (folder or ".",), recursive=recursive):
        click.echo(f"no manifests in {empty}", err=True)
    context.exit(exits.DOES_NOT_HOLD if found.of(Severity.ERROR) else exits.DONE)


def _folder(cluster: str | None) -> str | None:
    if cluster is None:
        return None
    folder = cluster.removeprefix(_FOLDER_CLUSTER)
    if folder == cluster:
        raise click.UsageError(f"{cluster!r} cannot be checked against; write --cluster folder:DIR.")
    if not Path(folder).is_dir():
        raise click.UsageError(f"{folder!r} is no folder; write --cluster folder:DIR.")
    return folder


def _check(paths: Sequence[str], folder: str | None, *, recursive: bool) -> Checked:
    items, problems = _read(_files(paths or (folder or ".",), recursive=recursive))
    around = _around(items, folder) if paths and folder is not None else ()
    known = _metrics()
    whole = folder is not None or any(Path(path).is_dir() for path in paths)
    files = {item.file for item in items}
    problems += [problem for item in items for problem in item.problems]
    together = (*around, *items)
    across = (
        *cross_check(together, whole=whole, metrics=known.metrics),
        *refused_rules(together, known, this_machine()),
    )
    problems += [problem for problem in across if problem.file in files]
    return Checked(len(items), tuple(sorted(problems, key=lambda problem: (problem.file, problem.line))))


def _metrics() -> Catalogue:
    """What a rule may name here; what a package meant to bring and does not is said beside the result."""
    loaded = looked_up({})
    for trouble in loaded.troubles:
        click.echo(trouble, err=True)
    return loaded.catalogue


def _around(items: Sequence[Item], folder: str) -> tuple[Item, ...]:
    """What the cluster holds beside what is checked: an object that is checked stands for the one of its name."""
    replaced = {_identity(item) for item in items}
    held, _ = _read(_files((folder,), recursive=False))
    return tuple(item for item in held if _identity(item) not in replaced)


def _identity(item: Item) -> tuple[str, str, str]:
    return item.kind, item.namespace or "default", item.name


def _read(files: Iterable[str]) -> tuple[list[Item], list[Problem]]:
    items: list[Item] = []
    problems: list[Problem] = []
    for file in files:
        text = _text(file)
        if isinstance(text, Problem):
            problems.append(text)
        else:
            items += load(text, file).items
    return items, problems


def _files(paths: Iterable[str], *, recursive: bool) -> Iterator[str]:
    """Each once, in the order given, the files of a folder by name. What is hidden in a folder is not meant."""
    listed = (
        file for path in paths for file in (_inside(path, recursive=recursive) if Path(path).is_dir() else (path,))
    )
    return iter(dict.fromkeys(listed))


def _inside(folder: str, *, recursive: bool) -> Iterator[str]:
    refused: list[OSError] = []
    for at, folders, names in os.walk(folder, onerror=refused.append):
        folders[:] = sorted(name for name in folders if recursive and not name.startswith("."))
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield str(Path(at) / name)
    yield from (str(error.filename) for error in refused)  # so that it is reported where files are read


def _empty(paths: Iterable[str], *, recursive: bool) -> Iterator[str]:
    """Folders in which there is nothing to check: mostly the wrong ones."""
    return (path for path in paths if Path(path).is_dir() and not any(_inside(path, recursive=recursive)))


def _text(file: str) -> str | Problem:
    if file == STANDARD_INPUT:
        return documents.decode(sys.stdin.buffer.read(documents.LARGEST_FILE + 1), file)
    try:
        path = Path(file)
        # A pipe or a device named by mistake would never end.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return documents.unread(file, "the folder cannot be read", "look at its permissions")
        if not stat.S_ISREG(mode):
            return documents.unread(file, "this is no file", "give a file or a folder of manifests")
        with path.open("rb") as opened:
            return documents.decode(opened.read(documents.LARGEST_FILE + 1), file)
    except OSError as error:
        return documents.unread(file, f"cannot be read: {error.strerror}", "look at its permissions")


def _as_text(found: Checked) -> Iterator[str]:
    yield from (f"{problem.severity.value}: {problem}" for problem in found.problems)
    counts = (
        (found.documents, "document"),
        (len(found.of(Severity.ERROR)), "error"),
        (len(found.of(Severity.WARNING)), "warning"),
    )
    yield ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def _as_json(found: Checked) -> str:
    told = {
        "documents": found.documents,
        "errors": [_plain(problem) for problem in found.of(Severity.ERROR)],
        "warnings": [_plain(problem) for problem in found.of(Severity.WARNING)],
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def _plain(problem: Problem) -> dict[str, str | int]:
    return {
        "file": problem.file,
        "line": problem.line,
        "field": problem.field,
        "value": problem.value,
        "message": problem.message,
        "remedy": problem.remedy,
    }
