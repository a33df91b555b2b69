"""What is in force, as YAML that can be used as a file again, each key with where its value came from."""

import json
from collections.abc import Iterator, Mapping

from slackwater.agent.configuration import Configuration
from slackwater.agent.configuration_keys import KEYS, Key, shown
from slackwater.agent.configuration_layers import origins, value

# What YAML would read as something else than the text it is.
AMBIGUOUS = frozenset(("", "true", "false", "null", "yes", "no", "on", "off", "~"))


def printed(configuration: Configuration, labels: Mapping[str, str]) -> str:
    return "\n".join(_lines(configuration, origins(configuration, labels))) + "\n"


def table() -> str:
    """Every key as docs/configuration.md has it."""
    rows = (f"| `{key.path}` | {_default(key)} | {key.expects} | {key.summary} |" for key in KEYS.values())
    return "\n".join(("| key | default | value | meaning |", "| --- | --- | --- | --- |", *rows)) + "\n"


def _default(key: Key) -> str:
    return f"`{shown(key, key.default)}`" if key.default != "" else "(empty)"


def _lines(configuration: Configuration, found: Mapping[str, str]) -> Iterator[str]:
    section = ""
    for key in KEYS.values():
        above, _, name = key.path.rpartition(".")
        if above != section:
            yield f"{above}:"
            section = above
        indent = "  " if above else ""
        yield f"{indent}{name}: {_shown(configuration, key)}  # {found[key.path]}"


def _shown(configuration: Configuration, key: Key) -> str:
    if key.path == "journal.path":
        return _text(str(configuration.journal_file))
    held = value(configuration, key)
    if isinstance(held, tuple):
        return "[" + ", ".join(map(_text, held)) + "]"
    return _text(shown(key, held)) if isinstance(held, str) else shown(key, held)


def _text(text: str) -> str:
    plain = (
        text.isascii()
        and text not in AMBIGUOUS
        and all(c.isalnum() or c in "-_./" for c in text)
        and text[0] not in "-.0123456789"
    )
    return text if plain else json.dumps(text, ensure_ascii=False)
