"""
The configuration file: YAML to settings, each knowing its line.

All that is wrong with a file is reported at once, and a file with anything wrong is not used at all: an agent that runs on half of what was meant is worse than one
that says so and does not start.
"""

import difflib
from collections.abc import Iterator
from typing import Any

from slackwater.agent.configuration import NodeLayer, Setting
from slackwater.agent.configuration_keys import KEYS, Key, Unfit, parsed
from slackwater.api import documents
from slackwater.api.manifests import selectors
from slackwater.api.manifests.fields import Fields, Findings
from slackwater.api.paths import Path, told
from slackwater.api.problems import Problem, Severity
from slackwater.api.selectors import LabelSelector

NODES = "nodes"
SECTIONS = frozenset(path.partition(".")[0] for path in KEYS if "." in path)


class Misconfigured(Exception):
    """What was set cannot be used; one problem for each thing that is wrong."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class Reading:
    """One reading of one file: its settings, or everything that is wrong with it."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._problems: list[Problem] = []
        self._document: documents.Document | None = None
        self.nodes: tuple[NodeLayer, ...] = ()
        self.settings = tuple(self._top(text))
        if self._problems:
            raise Misconfigured(tuple(self._problems))

    def _top(self, text: str) -> Iterator[Setting]:
        found = list(documents.read(text, self._file))
        self._problems += [document.problem for document in found if document.problem is not None]
        if self._problems or not found:
            return
        self._document = found[0]
        if len(found) > 1:
            self._document = found[1]
            self._wrong((), None, "a configuration is one document", "take the second one away")
            return
        for name, value in self._mapping(self._document.value, ()):
            if name == NODES:
                self.nodes = tuple(self._layers(value))
            else:
                yield from self._setting(value, (name,), ())

    def _setting(self, value: Any, names: Path, above: Path) -> Iterator[Setting]:
        """`names` lead from the top of the keys to the value, `above` from the file's top to there."""
        path, place = ".".join(map(str, names)), (*above, *names)
        if path in SECTIONS:
            for name, inner in self._mapping(value, place):
                yield from self._setting(inner, (*names, name), above)
        elif path not in KEYS:
            self._wrong(place, value, "is no key", _meant(path))
        elif value is not None:
            yield from self._value(KEYS[path], value, place)

    def _value(self, key: Key, value: Any, place: Path) -> Iterator[Setting]:
        try:
            yield Setting(key.path, _taken(key, value), f"{self._file}:{self._line(place)}")
        except Unfit as unfit:
            found = f'the text "{value}"' if isinstance(value, str) and _is_plain(key) else value
            self._wrong(place, found, "cannot be used", f"write {unfit}")

    def _mapping(self, value: Any, place: Path) -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict):
            yield from value.items()
        elif value is not None:
            self._wrong(place, value, "must hold keys", "write one key with its value a line")

    def _list(self, value: Any, place: Path, remedy: str) -> Iterator[tuple[Path, Any]]:
        if isinstance(value, list):
            yield from (((*place, index), item) for index, item in enumerate(value))
        elif value is not None:
            self._wrong(place, value, "must be a list", remedy)

    def _layers(self, value: Any) -> Iterator[NodeLayer]:
        for place, item in self._list(value, (NODES,), "write - selector: {...} and config: {...}"):
            fields = dict(self._mapping(item, place))
            for name in fields.keys() - {"selector", "config"}:
                self._wrong((*place, name), fields[name], "is no field of a node layer", "write selector and config")
            if "selector" not in fields:
                self._wrong(place, None, "has no selector", "write selector: {matchLabels: {...}}")
            settings = tuple(self._layer_settings(fields.get("config"), (*place, "config")))
            yield NodeLayer(self._selector(fields, place), settings)

    def _selector(self, fields: dict[str, Any], place: Path) -> LabelSelector:
        if self._document is None:
            return LabelSelector()
        findings = Findings()
        found = selectors.labels(Fields(self._document, fields, findings, place), "selector")
        self._problems += findings.problems
        return found or LabelSelector()

    def _layer_settings(self, value: Any, place: Path) -> Iterator[Setting]:
        for name, inner in self._mapping(value, place):
            for setting in self._setting(inner, (name,), place):
                if KEYS[setting.path].fixed:
                    self._wrong(
                        (*place, name),
                        inner,
                        "is read once at start and cannot differ by node",
                        "set it at the top of the file",
                    )
                else:
                    yield setting

    def _line(self, place: Path) -> int:
        return self._document.line_of(place) if self._document is not None else 0

    def _wrong(self, place: Path, value: Any, message: str, remedy: str) -> None:
        shown = "" if value is None else documents.shown(value)
        line = self._line(place)
        self._problems.append(
            Problem(
                severity=Severity.ERROR,
                file=self._file,
                line=line,
                field=told(place),
                value=shown,
                message=message,
                remedy=remedy,
            )
        )


def _taken(key: Key, value: Any) -> object:
    """The value as its key has it. A quoted number is a text to whoever wrote it so, and a number is none where a text is wanted of it."""
    if key.kind is tuple:
        if not isinstance(value, list) or any(isinstance(item, list | dict) for item in value):
            raise Unfit(key.expects)
        return tuple(map(str, value))
    if isinstance(value, list | dict) or (_is_plain(key) and isinstance(value, str)):
        raise Unfit(key.expects)
    return parsed(key, str(value).lower() if isinstance(value, bool) else str(value))


def _is_plain(key: Key) -> bool:
    """Whether it is written as a bare number, true or false."""
    return key.kind in (bool, int, float) and key.unit not in ("bytes", "duration")


def _meant(path: str) -> str:
    leaf = path.rpartition(".")[2].lower()
    same = [name for name in KEYS if name.rpartition(".")[2].lower() == leaf]
    near = difflib.get_close_matches(path, [*KEYS, *SECTIONS, NODES], n=1, cutoff=0.6)
    meant = next(iter([*same, *near]), None)
    return f"did you mean {meant}?" if meant else "slackwater agent --help lists the keys"
