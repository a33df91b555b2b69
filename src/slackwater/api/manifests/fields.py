"""
Reading a mapping field by field, and saying exactly where one is not what it should be.

Every reader of a kind asks for fields through here, so all messages have one form: file, line, path, value, what is wrong, what to write. A field that is wrong is reported and
reads as absent; whoever reads decides by `failures` whether what surrounds it can still play a part. null is absent, as an API server has it.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slackwater.api import documents, quantity
from slackwater.api.documents import Document
from slackwater.api.paths import Path, Step, told
from slackwater.api.problems import Problem, Severity
from slackwater.api.units import Seconds

HIGHEST = 2**31 - 1

_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|ms|s|m|h|d|w))+")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?)(ns|us|ms|s|m|h|d|w)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}

NEARLY = 0.8


class Findings:
    """What is wrong with one document. An error is fatal to all of it, unless whoever reads a part says that it hurts that part only."""

    __slots__ = ("contained", "errors", "problems")

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.errors = 0
        self.contained = 0

    def add(self, problem: Problem) -> None:
        self.problems.append(problem)
        self.errors += problem.severity is Severity.ERROR

    def contain_since(self, errors: int) -> None:
        self.contained += self.errors - errors

    @property
    def fatal(self) -> bool:
        return self.errors > self.contained


class Fields:
    """A mapping in a document. The findings are one for the whole document."""

    __slots__ = ("document", "findings", "path", "prefix", "values")

    def __init__(
        self, document: Document, values: Mapping[str, Any], findings: Findings, path: Path = (), prefix: Path = ()
    ) -> None:
        self.document = document
        self.values = values
        self.findings = findings
        self.path = path
        self.prefix = prefix  # where a document that stands inside another begins, for messages

    # what is wrong

    def report(self, severity: Severity, key: Step | None, message: str, remedy: str, value: Any = None) -> None:
        path = self.path if key is None else (*self.path, key)
        self.findings.add(
            Problem(
                severity=severity,
                file=self.document.file,
                line=self.document.line_of(path),
                field=told(self.prefix + path),
                value="" if value is None else documents.shown(value),
                message=message,
                remedy=remedy,
            )
        )

    def error(self, key: Step | None, message: str, remedy: str, value: Any = None) -> None:
        self.report(Severity.ERROR, key, message, remedy, value)

    def warn(self, key: Step | None, message: str, remedy: str, value: Any = None) -> None:
        self.report(Severity.WARNING, key, message, remedy, value)

    def not_served(self, key: Step | None, what: str) -> None:
        self.warn(
            key,
            f"{what} is understood and valid, and not served yet: nothing acts on it",
            "leave it or take it out; it has no effect in this release",
        )

    def known(self, names: Iterable[str]) -> None:
        """Warns of every field that is not one of these."""
        valid = set(names)
        for key in self.values:
            if key not in valid:
                self.warn(key, "there is no such field; it is not read", suggestion(key, valid), self.values[key])

    def slips(self, names: Iterable[str]) -> None:
        """
        Warns of fields that are nearly one of these. For kinds of which we read a few fields out of hundreds: to warn of all
        the others would be noise, and to pass over a slip of the pen would leave a pod unprotected.
        """
        folded = {name.lower(): name for name in names}
        for key in self.values:
            near = difflib.get_close_matches(str(key).lower(), folded, 1, NEARLY)
            if near and key not in folded.values():
                self.warn(
                    key, "there is no such field; it is not read", f"did you mean {folded[near[0]]}?", self.values[key]
                )

    @property
    def failures(self) -> int:
        return self.findings.errors

    # what stands there

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def has(self, key: str) -> bool:
        return self.values.get(key) is not None

    def line(self, key: Step | None = None) -> int:
        return self.document.line_of(self.path if key is None else (*self.path, key))

    def inside(self, key: str) -> "Fields | None":
        value = self.values.get(key)
        if value is None:
            return None
        return self.at(key, value)

    def each(self, key: str) -> Sequence["Fields"]:
        """The mappings in a list; what is none is reported and left out."""
        found = (self._at(key, self.values).at(index, entry) for index, entry in enumerate(self.entries(key)))
        return [fields for fields in found if fields is not None]

    def at(self, step: Step, value: Any) -> "Fields | None":
        if isinstance(value, dict):
            return self._at(step, value)
        self.error(step, "must be a mapping", "write fields below it, indented", value)
        return None

    def entries(self, key: str) -> Sequence[Any]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.error(key, "must be a list", "write each entry on a line of its own, after a dash", value)
            return ()
        return value

    def text(self, key: str, default: str = "") -> str:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self.error(key, "must be a text", f'write it in quotes: "{_plain(value)}"', value)
            return default
        return value

    def required(self, key: str, remedy: str) -> str:
        value = self.text(key)
        if not value and not (self.has(key) and not isinstance(self.values[key], str)):
            self.error(key, "is missing", remedy)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.entries(key)
        listed = self._at(key, self.values)
        for index, entry in enumerate(value):
            if not isinstance(entry, str):
                listed.error(index, "must be a text", f'write it in quotes: "{_plain(entry)}"', entry)
        return tuple(entry for entry in value if isinstance(entry, str))

    def named_texts(self, key: str) -> dict[str, str]:
        """Labels, annotations: texts by name."""
        inside = self.inside(key)
        if inside is None:
            return {}
        return {name: inside.text(name) for name in inside.values if inside.values[name] is not None}

    def whole(self, key: str, default: int, least: int = 0, most: int = HIGHEST) -> int:
        value = self.values.get(key)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.error(key, "must be a whole number", f"write a number from {least} to {most}, without quotes", value)
            return default
        if not least <= value <= most:
            self.error(key, "is out of range", f"write a number from {least} to {most}", value)
            return default
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.error(key, "must be true or false", "write true or false, without quotes", value)
            return default
        return value

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        value = self.values.get(key)
        if value is None:
            return default
        if value not in options:
            near = difflib.get_close_matches(str(value), options, 1, 0.5)
            self.error(
                key,
                "is none of its values",
                f"write {' or '.join(options)}" + (f"; did you mean {near[0]}?" if near else ""),
                value,
            )
            return default
        return str(value)

    def quantity(self, key: str) -> quantity.Quantity | None:
        value = self.values.get(key)
        if value is None:
            return None
        try:
            return quantity.parse(value)
        except quantity.Malformed as malformed:
            self.error(key, str(malformed), malformed.remedy, value)
            return None

    def duration(self, key: str) -> Seconds | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not _DURATION.fullmatch(value):
            self.error(key, "is not a duration", "write a number with its unit: 30s, 5m, 1h30m", value)
            return None
        return Seconds(sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(value)))

    def _at(self, step: Step, values: Mapping[str, Any]) -> "Fields":
        return Fields(self.document, values, self.findings, (*self.path, step), self.prefix)


def suggestion(written: str, valid: Iterable[str]) -> str:
    names = sorted(valid)
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(written.lower(), folded, 1, 0.7)
    listed = "the fields here are " + ", ".join(names)
    return f"did you mean {folded[near[0]]}? {listed}" if near else listed


def _plain(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else documents.shown(value)
