"""
One YAML document as plain values, and beside it the line of every field.

Built from the parser's events with a stack of its own: the parser's composer recurses, and a document of twenty thousand brackets would end the process. What only makes a
document dangerous is refused here (depth, aliases that multiply, keys that stand twice), so that whatever reads the values need not think of it.
"""

from collections.abc import Iterator
from typing import Any

import yaml
from msgspec import Struct

from slackwater.api import scalars
from slackwater.api.paths import Path, Step

DEEPEST = 100
LARGEST = 1_000_000  # values, counted as often as they are referred to

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "<<"
_CORE = "tag:yaml.org,2002:"


class Place(Struct):
    """The line of a value, and the places of what is in it. A field's line is its key's."""

    line: int
    inside: dict[Step, "Place"] = {}

    def line_of(self, path: Path) -> int:
        """The line of the field, or of the nearest thing around it."""
        here = self
        for step in path:
            deeper = here.inside.get(step)
            if deeper is None:
                break
            here = deeper
        return here.line


class Malformed(Exception):
    """The document cannot be read."""

    def __init__(self, line: int, message: str, remedy: str, value: str = "", path: Path = ()) -> None:
        super().__init__(message)
        self.line, self.message, self.remedy, self.value, self.path = line, message, remedy, value, path


class _Frame:
    """A mapping or sequence that is being filled."""

    __slots__ = ("anchor", "key", "key_line", "merged", "place", "size", "values")

    def __init__(self, line: int, anchor: str | None, values: dict[str, Any] | list[Any]) -> None:
        self.values = values
        self.place = Place(line, {})
        self.anchor = anchor
        self.key: str | None = None
        self.key_line = 0
        self.merged: list[Any] = []
        self.size = 1

    def step(self) -> Step:
        """Where in it the value stands that is being read."""
        return len(self.values) if isinstance(self.values, list) else self.key or ""

    def finished(self) -> Any:
        """With `<<`: what the mapping says itself goes before what it takes over."""
        values = self.values
        if isinstance(values, dict):
            for source in self.merged:
                for key, value in source.items():
                    values.setdefault(key, value)
        return values


class _Builder:
    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, Place, int] | None] = {}
        self.result: tuple[Any, Place] | None = None

    def line(self, event: Any) -> int:
        return int(event.start_mark.line) + self.first_line

    def path(self) -> Path:
        return tuple(frame.step() for frame in self.stack[:-1])

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self.scalar(event)
        elif kind is yaml.MappingStartEvent:
            self.open(event, {})
        elif kind is yaml.SequenceStartEvent:
            self.open(event, [])
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            self.close()
        elif kind is yaml.AliasEvent:
            self.alias(event)

    def scalar(self, event: Any) -> None:
        frame = self.stack[-1] if self.stack else None
        line = self.line(event)
        if frame is not None and frame.key is None and isinstance(frame.values, dict):
            self.name(frame, event.value, line)
            return
        value = _meaning(event, line)
        place = Place(line)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, place, 1)
        self.put(value, place, 1)

    def name(self, frame: _Frame, key: str, line: int) -> None:
        if key in frame.values:
            raise Malformed(line, "the key stands twice", "keep one of the two", key, (*self.path(), key))
        frame.key, frame.key_line = key, line

    def open(self, event: Any, values: dict[str, Any] | list[Any]) -> None:
        line = self.line(event)
        if len(self.stack) >= DEEPEST:
            raise Malformed(line, f"is nested deeper than {DEEPEST}", "make it flatter")
        if self.stack and self.stack[-1].key is None and isinstance(self.stack[-1].values, dict):
            raise Malformed(
                line,
                "a key must be a text",
                "write the key as a plain word; a value that begins with { or [ needs quotes",
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.stack.append(_Frame(line, event.anchor, values))

    def close(self) -> None:
        frame = self.stack.pop()
        value = frame.finished()
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (value, frame.place, frame.size)
        self.put(value, frame.place, frame.size)

    def alias(self, event: Any) -> None:
        line = self.line(event)
        if event.anchor not in self.anchors:
            raise Malformed(
                line, "there is no such anchor", f"write &{event.anchor} where the value stands", f"*{event.anchor}"
            )
        known = self.anchors[event.anchor]
        if known is None:
            raise Malformed(line, "the alias refers to what it stands in", "write the value out", f"*{event.anchor}")
        value, place, size = known
        self.put(value, Place(line, place.inside), size)

    def put(self, value: Any, place: Place, size: int) -> None:
        if not self.stack:
            self.result = (value, place)
            return
        frame = self.stack[-1]
        frame.size += size
        if frame.size > LARGEST:
            raise Malformed(place.line, f"holds more than {LARGEST} values", "write less, or use fewer aliases")
        values = frame.values
        if isinstance(values, list):
            frame.place.inside[len(values)] = place
            values.append(value)
            return
        self.put_key(frame, values, value, place)

    def put_key(self, frame: _Frame, values: dict[str, Any], value: Any, place: Place) -> None:
        key = frame.key
        if key is None:
            raise Malformed(place.line, "a key must be a text", "write the key out")
        frame.key = None
        if key == _MERGE:
            frame.merged += _merged(value, place.line)
            return
        place.line = frame.key_line
        frame.place.inside[key] = place
        values[key] = value


def build(text: str, first_line: int = 1) -> tuple[Any, Place] | None:
    """The one document in `text`; None where there is only comment or nothing. Raises Malformed."""
    builder = _Builder(first_line)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Malformed(
            (mark.line if mark else 0) + first_line, _said(error), "correct the YAML at or just above this line"
        ) from error
    except yaml.YAMLError as error:
        raise Malformed(
            first_line, "holds a character that no YAML may hold", "save it as plain text in UTF-8"
        ) from error
    return builder.result


def _events(text: str) -> Iterator[Any]:
    return iter(yaml.parse(text, Loader=_LOADER))


def _said(error: yaml.MarkedYAMLError) -> str:
    return "is not YAML: " + ", ".join(part for part in (error.context, error.problem) if part)


def _meaning(event: Any, line: int) -> scalars.Scalar:
    tag = event.tag
    if tag is None or tag == "!":
        plain = event.implicit[0] and tag is None
        return scalars.read(event.value) if plain else str(event.value)
    if tag == f"{_CORE}str":
        return str(event.value)
    if tag in (f"{_CORE}int", f"{_CORE}float", f"{_CORE}bool", f"{_CORE}null"):
        return scalars.read(event.value)
    raise Malformed(line, "tags are not read", "write the value without its tag", str(tag))


def _merged(value: Any, line: int) -> list[Any]:
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise Malformed(line, "<< takes a mapping", "refer to one: <<: *name", _MERGE)
    return sources
