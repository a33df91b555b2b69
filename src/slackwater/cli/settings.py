"""
The configuration's keys as flags of a command.

A command says which keys it needs (or takes all) and is handed a finished `Configuration`; that a flag stands over the environment, and the environment over the file,
is decided in `agent.configuration_layers`, not here. The flags take plain text, so that a value is read, refused and explained the same way wherever it comes from.
"""

import functools
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import click

from slackwater.agent.configuration import DEFAULT_FILE, Configuration
from slackwater.agent.configuration_file import Misconfigured
from slackwater.agent.configuration_keys import KEYS, Key, shown
from slackwater.agent.configuration_layers import load

Command = Callable[..., Any]


def configured(*paths: str) -> Callable[[Command], Command]:
    """Gives a command `--config` and the flags of these keys (none named: of all), and calls it with `configuration`."""
    keys = [KEYS[path] for path in paths] or list(KEYS.values())

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def called(*, config: Path | None, **rest: Any) -> Any:
            given = {key.path: rest.pop(_parameter(key)) for key in keys}
            flags = {path: text for path, text in given.items() if text is not None}
            return command(configuration=_loaded(config, flags), **rest)

        for key in reversed(keys):
            click.option(key.flag, _parameter(key), metavar=_metavar(key), help=_help(key), **_optional_value(key))(
                called
            )
        return _config_option()(called)

    return decorate


def _loaded(config: Path | None, flags: dict[str, str]) -> Configuration:
    try:
        return load(config, flags=flags)
    except Misconfigured as misconfigured:
        raise click.UsageError(str(misconfigured)) from misconfigured


def _config_option() -> Callable[[Command], Command]:
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        envvar="SLACKWATER_CONFIG",
        metavar="FILE",
        help=f"The configuration file [default: {DEFAULT_FILE}, where it is there].",
    )


def _parameter(key: Key) -> str:
    return "key_" + "_".join(key.words)


def _optional_value(key: Key) -> dict[str, Any]:
    """`--flag` alone says true."""
    return {"is_flag": False, "flag_value": "true"} if key.kind is bool else {}


def _metavar(key: Key) -> str:
    if issubclass(key.kind, Enum):
        return "|".join(str(member.value) for member in key.kind)
    if key.path == "cluster":
        return "kube|folder:DIR"
    words = {"bytes": "QUANTITY", "duration": "DURATION", "seconds": "SECONDS", "percent": "PERCENT", "hours": "HOURS"}
    kinds: dict[type, str] = {bool: "true|false", int: "N", tuple: "A,B,…"}
    return words.get(key.unit) or kinds.get(key.kind, "TEXT")


def _help(key: Key) -> str:
    default = shown(key, key.default).strip("[]")
    return f"{key.summary} [default: {default}]" if default else key.summary
