"""
A file as the documents in it, each with its values and the line of every field.

A file is cut at its `---` before anything is parsed, so a mistake hurts its own document and no other. JSON is read as well, with lines. What a document means is not known here;
that is the business of `api.manifests`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from slackwater.api import trees
from slackwater.api.paths import Path, told
from slackwater.api.problems import Problem, Severity

LARGEST_FILE = 16 * 1024 * 1024
LONGEST_VALUE = 60  # characters of a value shown in a message

_BOUNDARY = re.compile(r"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)


class Document(Struct, frozen=True, kw_only=True):
    file: str
    index: int  # among the documents of its file that hold anything, from 0
    line: int
    value: Any = None
    place: trees.Place
    problem: Problem | None = None  # why it could not be read; then it has no value

    def line_of(self, path: Path) -> int:
        return self.place.line_of(path)


def read(text: str, file: str) -> Iterator[Document]:
    """Each document that holds anything, good or not, in order."""
    index = 0
    as_json = _is_json(text, file)
    for first_line, piece in ((1, text),) if as_json else _pieces(text):
        try:
            built = _json(piece) if as_json else trees.build(piece, first_line)
        except trees.Malformed as error:
            yield _broken(error, file, index)
            index += 1
            continue
        if built is not None and built[0] is not None:
            value, place = built
            yield Document(file=file, index=index, line=place.line, value=value, place=place)
            index += 1


def decode(raw: bytes, file: str) -> str | Problem:
    """The text of a file; a file that is too large or no text is a problem of its own."""
    if len(raw) > LARGEST_FILE:
        return unread(file, f"the file is larger than {LARGEST_FILE >> 20} MiB", "split it; manifests are small")
    if b"\0" in raw:
        return unread(file, "the file is not text", "give manifests in YAML or JSON, in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return unread(file, "the file is not text in UTF-8", "save it in UTF-8")


def unread(file: str, message: str, remedy: str) -> Problem:
    return Problem(severity=Severity.ERROR, file=file, line=0, field="", value="", message=message, remedy=remedy)


def shown(value: Any) -> str:
    """A value as it may stand in a message: on one line, and short."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text[: LONGEST_VALUE * 4].split())
    return line if len(line) <= LONGEST_VALUE else line[: LONGEST_VALUE - 1] + "…"


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start, line = 0, 1
    for boundary in _BOUNDARY.finditer(text):
        yield line, text[start : boundary.start()]
        line += text.count("\n", start, boundary.start())
        # `---` is left to the parser, since a value may follow it on its line; `...` ends a document and begins none.
        start = boundary.start() if boundary[0] == "---" else boundary.end()
    yield line, text[start:]


def _is_json(text: str, file: str) -> bool:
    if file.endswith(".json"):
        return True
    if text.lstrip()[:1] != "{":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json(text: str) -> tuple[Any, trees.Place] | None:
    if not text.strip():
        return None
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise trees.Malformed(error.lineno, f"is not JSON: {error.msg}", "correct the JSON at this line") from error
    except (ValueError, RecursionError) as error:
        raise trees.Malformed(1, f"is not JSON that can be read: {error}", "write plain values") from error
    return _with_lines(text, value)


def _with_lines(text: str, value: Any) -> tuple[Any, trees.Place]:
    """
    JSON is YAML but for tabs, which stand only between its tokens, and for a few characters and escapes. Where the YAML parser stumbles over one of those only the lines are lost;
    what is refused here (depth, keys that stand twice) is refused in JSON too.
    """
    try:
        built = trees.build(text.replace("\t", " "))
    except trees.Malformed as error:
        if error.__cause__ is None:
            raise
        return value, trees.Place(1)
    return value, built[1] if built else trees.Place(1)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _broken(error: trees.Malformed, file: str, index: int) -> Document:
    problem = Problem(
        severity=Severity.ERROR,
        file=file,
        line=error.line,
        field=told(error.path),
        value=shown(error.value),
        message=error.message,
        remedy=error.remedy,
    )
    return Document(file=file, index=index, line=error.line, place=trees.Place(error.line), problem=problem)
