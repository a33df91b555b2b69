"""
From what was said to what is in force: flags over environment over a file's node layer over the file over the defaults.

Every value remembers where it stood, because the first question about a value that surprises is who set it. Node layers need the node's labels, which come with the
cluster's view and may change; so a `Configuration` carries its layers along, and `for_node` lays them anew.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from slackwater.agent.configuration import DEFAULT_FILE, Configuration, Layers, Setting
from slackwater.agent.configuration_file import Misconfigured, Reading
from slackwater.agent.configuration_keys import KEYS, Key, Unfit, parsed
from slackwater.api.problems import Problem, Severity

DEFAULT = "default"
NOTHING_SAID = Layers()
PLACES = {"environment": "environment", "flag": "command line"}


def load(
    file: Path | None = None, environment: Mapping[str, str] | None = None, flags: Mapping[str, str] | None = None
) -> Configuration:
    """`file` None is the default file, which need not exist; `flags` go by the key's path. Raises Misconfigured."""
    problems: list[Problem] = []
    said = os.environ if environment is None else environment
    variables = {key.path: (key.variable, said[key.variable]) for key in KEYS.values() if said.get(key.variable)}
    options = {path: (KEYS[path].flag, text) for path, text in (flags or {}).items()}
    from_environment = tuple(_settings("environment", variables, problems))
    from_flags = tuple(_settings("flag", options, problems))
    read = _file(file, problems)
    if problems:
        raise Misconfigured(tuple(problems))
    layers = Layers(environment=from_environment, flags=from_flags)
    if read is not None:
        layers = msgspec.structs.replace(layers, file=read.settings, nodes=read.nodes)
    return for_node(Configuration(layers=layers), {})


def for_node(configuration: Configuration, labels: Mapping[str, str]) -> Configuration:
    """What is in force on a node with these labels. The same object where nothing differs; one made by hand, in which nobody said anything, stands as it is."""
    if configuration.layers == NOTHING_SAID:
        return configuration
    values: dict[str, Any] = {}
    for setting in _in_order(configuration.layers, labels):
        key = KEYS[setting.path]
        _put(values, key.attributes, setting.value)
    for name, inner in values.items():
        if isinstance(inner, dict):
            section = type(getattr(configuration, name))
            values[name] = section(**inner)
    found = Configuration(layers=configuration.layers, **values)
    return configuration if found == configuration else found


def origins(configuration: Configuration, labels: Mapping[str, str]) -> dict[str, str]:
    """Where each key's value came from."""
    found = dict.fromkeys(KEYS, DEFAULT)
    found.update({setting.path: setting.where for setting in _in_order(configuration.layers, labels)})
    return found


def value(configuration: Configuration, key: Key) -> object:
    found: object = configuration
    for attribute in key.attributes:
        found = getattr(found, attribute)
    return found


def _in_order(layers: Layers, labels: Mapping[str, str]) -> Iterator[Setting]:
    """The weakest first. Of several node layers that match, a later one stands over an earlier one."""
    yield from layers.file
    for layer in layers.nodes:
        if layer.selector.matches(labels):
            for setting in layer.settings:
                yield msgspec.structs.replace(setting, where=f"{setting.where} (node layer)")
    yield from layers.environment
    yield from layers.flags


def _put(values: dict[str, Any], attributes: tuple[str, ...], found: object) -> None:
    *sections, name = attributes
    for section in sections:
        values = values.setdefault(section, {})
    values[name] = found


def _settings(layer: str, said: Mapping[str, tuple[str, str]], problems: list[Problem]) -> Iterator[Setting]:
    for path, (name, text) in said.items():
        try:
            yield Setting(path, parsed(KEYS[path], text), f"{layer} {name}")
        except Unfit as unfit:
            problems.append(_problem(PLACES[layer], name, text, "cannot be used", f"give {unfit}"))


def _file(file: Path | None, problems: list[Problem]) -> Reading | None:
    path = DEFAULT_FILE if file is None else file
    try:
        return Reading(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        if file is not None:
            problems.append(_problem(str(path), "", "", "is not there", "name a file that is, or leave --config away"))
    except (OSError, UnicodeDecodeError) as error:
        problems.append(_problem(str(path), "", "", f"cannot be read: {error}", "make it a readable text file"))
    except Misconfigured as misconfigured:
        problems.extend(misconfigured.problems)
    return None


def _problem(file: str, field: str, found: str, message: str, remedy: str) -> Problem:
    return Problem(severity=Severity.ERROR, file=file, line=0, field=field, value=found, message=message, remedy=remedy)
