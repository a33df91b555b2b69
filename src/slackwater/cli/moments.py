"""How far back: a span such as 10m or 1h30m before now, or a moment in RFC 3339, as flags take it."""

import re
from datetime import UTC, datetime

from slackwater.api.units import Seconds, Wall

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def since(text: str, now: Wall) -> Wall:
    """Raises ValueError."""
    if "T" in text or "t" in text:
        moment = datetime.fromisoformat(text)
        return Wall((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return Wall(now - span(text))


def span(text: str) -> Seconds:
    """Raises ValueError."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(text)
    return Seconds(sum(float(number) * _UNITS[unit] for number, unit in parts))
