"""How log lines look, and how often they come."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from slackwater.agent import logs
from slackwater.agent.configuration import LogFormat, LogKeys, LogLevel


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    root = logging.getLogger("slackwater")
    before = (root.handlers[:], root.propagate, root.level)
    yield root.getChild("test")
    root.handlers[:], root.propagate = before[:2]
    root.setLevel(before[2])


def lines(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_a_command_that_is_over_in_a_moment_says_the_same_once(log: logging.Logger) -> None:
    stream = io.StringIO()
    logs.set_up(LogKeys(format=LogFormat.TEXT), stream, once=True)
    for path in ("a", "b", "a"):
        log.warning("the journal %s cannot be written", path)
    assert [line.partition("the journal ")[2] for line in lines(stream)] == [
        "a cannot be written",
        "b cannot be written",
    ]


def test_an_agent_says_it_each_time(log: logging.Logger) -> None:
    stream = io.StringIO()
    logs.set_up(LogKeys(format=LogFormat.TEXT), stream)
    log.warning("again")
    log.warning("again")
    assert len(lines(stream)) == 2


def test_for_machines_a_line_is_an_object_and_what_is_below_the_level_is_left_out(log: logging.Logger) -> None:
    stream = io.StringIO()
    logs.set_up(LogKeys(level=LogLevel.WARNING), stream)
    log.info("not this")
    log.warning("this")
    (line,) = lines(stream)
    assert (json.loads(line)["level"], json.loads(line)["message"]) == ("warning", "this")
