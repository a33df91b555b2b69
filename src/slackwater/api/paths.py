"""Where a field stands in a document, as people read it: spec.rules[0].metricRule.value."""

import re
from collections.abc import Iterable

Step = str | int
Path = tuple[Step, ...]

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def told(path: Iterable[Step]) -> str:
    """Keys that hold dots or slashes (labels, files in a ConfigMap) stand in brackets, so that a path can be read only one way."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, str) and _PLAIN.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{step}]")
    return "".join(parts)
