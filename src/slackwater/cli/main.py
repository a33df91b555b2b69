"""
The command `slackwater`: which commands there are, and how each of them ends.

A command's module is imported only when that command runs. The agent lives for months on every node and must not carry what only people look at, so the list below
holds names and one line each, and `--help` needs none of the modules.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click
from msgspec import Struct

from slackwater.cli import exits

DEBUG = "SLACKWATER_DEBUG"


class Entry(Struct, frozen=True):
    """Where a command lives, and what the overview says of it."""

    module: str
    name: str
    summary: str


COMMANDS = {
    entry.name: entry
    for entry in (
        Entry("slackwater.cli.demo", "demo", "See it work: a service, batch beside it, Slackwater off and on."),
        Entry("slackwater.cli.agent", "agent", "Run the agent on this node."),
        Entry("slackwater.cli.check", "check", "Read manifests and say what is wrong with them."),
        Entry("slackwater.cli.lab", "lab", "Run a folder's pods as local processes in cgroups."),
        Entry("slackwater.cli.explain", "explain", "Tell what was done to whom, and why."),
        Entry("slackwater.cli.status", "status", "Show rules, claims and what works on this machine."),
        Entry("slackwater.cli.metrics", "metrics", "List the metrics a rule may name."),
        Entry("slackwater.cli.simulate", "simulate", "Run a scenario on a simulated node, hours in seconds."),
        Entry("slackwater.cli.release", "release", "Give everything back, without an agent running."),
    )
}

OVERVIEW = """
Slackwater lets batch work use what a node's latency-critical services leave unused, and takes it back the moment it hurts.

\b
Begin here:
  slackwater demo                            see it on this machine, in about two minutes
  slackwater check DIR                       what is wrong with a folder of manifests
  slackwater lab up -f DIR                   run the folder's pods as local processes
  slackwater agent --cluster folder:DIR      run the agent on them
  slackwater explain --cluster folder:DIR    what was done, and why
"""


class LazyGroup(click.Group):
    """Knows its commands by name, and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), entry.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.summary) for entry in COMMANDS.values()])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in exits.MEANINGS.items()])


@click.group(cls=LazyGroup, help=OVERVIEW, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slackwater", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help=f"Show the traceback of an unexpected error (also {DEBUG}=1).")
@click.pass_context
def slackwater(context: click.Context, debug: bool) -> None:
    context.obj = debug


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and leaves with one of the codes in `cli.exits`."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    try:
        code = slackwater.main(args=list(arguments), prog_name="slackwater", standalone_mode=False)
    except click.Abort:
        return _say("interrupted", exits.NOT_POSSIBLE)
    except click.ClickException as error:
        error.show()
        return error.exit_code  # click's own: 2 where it was used wrongly, else 1
    except BrokenPipeError:
        # Who read our output has gone (`| head`). Python would complain once more when it flushes stdout at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.DONE
    except Exception as error:  # noqa: BLE001 - the last line of defence: whatever it is, the user gets one line and a code that scripts know
        return _unexpected(error, debug="--debug" in arguments or os.environ.get(DEBUG, "") not in ("", "0"))
    return code if isinstance(code, int) else exits.DONE


def _unexpected(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
        return exits.NOT_POSSIBLE
    kind = type(error).__name__
    return _say(f"unexpected {kind}: {error} (with {DEBUG}=1 the traceback is shown)", exits.NOT_POSSIBLE)


def _say(message: str, code: int) -> int:
    click.echo(f"slackwater: {message}", err=True)
    return code
