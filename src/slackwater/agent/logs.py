"""How the agent's log lines look: readable on a terminal, one JSON object a line for machines."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from slackwater.agent.configuration import LogFormat, LogKeys


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


class Once(logging.Filter):
    """For what is over in a moment: a journal that cannot be written is told at the first write, not at each."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        news = message not in self._told
        self._told.add(message)
        return news


def set_up(keys: LogKeys, stream: TextIO = sys.stderr, *, once: bool = False) -> None:
    as_text = keys.format is LogFormat.TEXT or (keys.format is LogFormat.AUTO and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s") if as_text else JsonLines())
    if once:
        handler.addFilter(Once())
    root = logging.getLogger("slackwater")
    root.handlers[:] = [handler]
    root.propagate = False
    root.setLevel(keys.level.value.upper())
