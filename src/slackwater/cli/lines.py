"""
Lines as they are shown: on a terminal they end between words, everywhere else where they end.

What is piped is for programs, so nothing is ever broken there, and neither is a path or a name that is wider than the
terminal: it could not be copied.
"""

import shutil
import sys
import textwrap

import click

_STEP = 4  # how much further in a line goes on
_NARROWEST = 40  # a terminal that says less is not believed


def say(line: str) -> None:
    click.echo(folded(line, shutil.get_terminal_size().columns) if sys.stdout.isatty() else line)


def folded(line: str, width: int) -> str:
    """One line in as many as it takes; what follows the first stands further in."""
    margin = " " * (len(line) - len(line.lstrip()) + _STEP)
    return textwrap.fill(
        line,
        max(width, _NARROWEST),
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )
