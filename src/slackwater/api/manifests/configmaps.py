"""
ConfigMaps that speak of colocation: QoS levels by the time of day, and the template of a node's prediction. Both are checked now and not served yet.

They are documents inside a document: their lines are counted from where they stand in the file, their paths from `data`.
"""

import re

from slackwater.api import trees
from slackwater.api.documents import Document
from slackwater.api.manifests import predictions, selectors
from slackwater.api.manifests.fields import Fields

_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_MARKS = ("timeBasedQoSPolicies", "predictionMetrics")
_LEVELS = (-1, 2)
_TIMED = ("name", "enable", "startTime", "endTime", "timeZone", "selector", "targetQoSLevel", "checkInterval")


def check(top: Fields) -> None:
    data = top.inside("data")
    ours = 0
    for key in data.values if data is not None else ():
        if data is not None and any(mark in str(data.get(key)) for mark in _MARKS):
            ours += 1
            _check_text(data, key)
    if not ours:
        top.warn("kind", "this ConfigMap holds nothing that is read", "leave it; it has no effect here", "ConfigMap")


def _check_text(data: Fields, key: str) -> None:
    inner = _inner(data, key, data.text(key))
    if inner is None:
        return
    if inner.has("predictionMetrics"):
        data.not_served(key, "a template for predictions")
        predictions.check(inner, target=False)
        return
    data.not_served(key, "a QoS level by the time of day")
    for section in _sections(inner):
        for policy in section.each("timeBasedQoSPolicies"):
            _check_timed(policy)


def _inner(data: Fields, key: str, text: str) -> Fields | None:
    """A block of several lines begins on the line after its key."""
    first_line = data.line(key) + ("\n" in text)
    try:
        built = trees.build(text, first_line)
    except trees.Malformed as error:
        data.error(key, f"{error.message} (line {error.line})", error.remedy)
        return None
    if built is None or not isinstance(built[0], dict):
        data.error(key, "must be a mapping in YAML", "write fields, indented below the key", text)
        return None
    value, place = built
    document = Document(file=data.document.file, index=data.document.index, line=first_line, value=value, place=place)
    return Fields(document, value, data.findings, prefix=(*data.path, key))


def _sections(inner: Fields) -> list[Fields]:
    """The policies stand at the top, for all nodes, or for some."""
    found = [inner, inner.inside("globalConfig"), *inner.each("nodesConfig")]
    return [section for section in found if section is not None]


def _check_timed(fields: Fields) -> None:
    fields.known(_TIMED)
    fields.required("name", "name the policy")
    fields.flag("enable")
    for key in ("startTime", "endTime"):
        written = fields.required(key, "write a time of day, for instance 22:00")
        if written and not _TIME.fullmatch(written):
            fields.error(key, "is not a time of day", 'write it as "HH:MM", from 00:00 to 23:59', written)
    zone = fields.text("timeZone", "UTC")
    if not _ZONE.fullmatch(zone):
        fields.error("timeZone", "is not a time zone", "write its name, for instance UTC or Europe/Berlin", zone)
    if not selectors.labels(fields, "selector"):
        fields.error("selector", "is missing", "write selector: with matchLabels:")
    if not fields.has("targetQoSLevel"):
        fields.error("targetQoSLevel", "is missing", f"write a level from {_LEVELS[0]} to {_LEVELS[1]}")
    fields.whole("targetQoSLevel", 0, *_LEVELS)
    fields.duration("checkInterval")
