"""
Annotations by which a user speaks to the agent: which there are, on what, and what may stand there.

A slip in one is not an error, because what it leads to is always the careful reading: a node whose mode is no mode only
previews, and a pod whose level is no level is left alone. But nobody who wrote it wanted that, so it is said. Annotations
of others are none of our business.
"""

import difflib
import re

from msgspec import Struct

from slackwater.api.manifests.fields import Fields

_OURS = "slackwater.dev/"


class Known(Struct, frozen=True):
    fits: re.Pattern[str]
    otherwise: str  # what any other text does
    remedy: str


ON_NODES = {
    "slackwater.dev/mode": Known(
        re.compile(r"(off|preview|act)?"),
        "is no mode, so the agent only previews there",
        "write off, preview or act",
    ),
}
ON_PODS = {
    "slackwater.dev/protected": Known(
        re.compile(r"\s*(true|false)\s*", re.IGNORECASE),
        "is neither true nor false, and protects the pod",
        'write "true", or "false" to let it be touched',
    ),
    "volcano.sh/qos-level": Known(
        re.compile(r"\s*(-1|0|1|2|LC|HLS|LS|BE)?\s*"),
        "is no level, so nothing is taken from the pod",
        "write -1 or BE for offline work, 0, 1 or LS, 2 or LC or HLS",
    ),
}
_KINDS = {"Node": ON_NODES, "Pod": ON_PODS}


def check(top: Fields, kind: str) -> None:
    """What is no text has been reported by whoever read the metadata."""
    about = top.inside("metadata") if isinstance(top.get("metadata"), dict) else None
    if about is None or not isinstance(about.get("annotations"), dict):
        return
    annotations = about.inside("annotations")
    for name, text in annotations.values.items() if annotations else ():
        if annotations and isinstance(text, str):
            _check(annotations, kind, str(name), text)


def _check(annotations: Fields, kind: str, name: str, text: str) -> None:
    known = _KINDS[kind].get(name)
    if known is None and name.startswith(_OURS):
        annotations.warn(name, f"means nothing on a {kind}", _meant(kind, name), text)
    elif known is not None and not known.fits.fullmatch(text):
        annotations.warn(name, known.otherwise, known.remedy, text or '""')


def _meant(kind: str, name: str) -> str:
    elsewhere = [other for other, known in _KINDS.items() if name in known]
    if elsewhere:
        return f"put it on a {elsewhere[0]}"
    ours = [one.removeprefix(_OURS) for one in _KINDS[kind] if one.startswith(_OURS)]
    near = difflib.get_close_matches(name.removeprefix(_OURS), ours, 1, 0.6)
    return f"did you mean {_OURS}{near[0]}?" if near else f"known there is {', '.join(_OURS + one for one in ours)}"
