"""`slackwater agent`: puts the configuration together, shows it if asked, and hands over to the agent's own loop."""

import platform
from pathlib import Path

import click

from slackwater.agent.configuration import Configuration
from slackwater.agent.configuration_layers import for_node
from slackwater.agent.configuration_printing import printed
from slackwater.cli.settings import configured
from slackwater.cluster.files import read_once
from slackwater.cluster.wanted import wanted

HELP = """
Run the agent on this node.

It looks at the node at every tick, squeezes batch pods while a rule's metric is over its waterline, and gives back when the cause is gone. SIGTERM and Ctrl-C end
it; in a folder cluster everything is given back then.

Every key of the configuration file is also a flag and an environment variable; flags stand over the environment, the environment over the file.
"""


@click.command("agent", help=HELP)
@click.option("--ticks", type=click.IntRange(min=1), metavar="N", help="End after N ticks, as by SIGTERM.")
@click.option("--keep", is_flag=True, help="Leave claims and taints as they are at the end.")
@click.option("--print-config", is_flag=True, help="Show what is in force and where each value came from, and end.")
@configured()
def agent(*, configuration: Configuration, ticks: int | None, keep: bool, print_config: bool) -> None:
    if print_config:
        labels = _labels(configuration)
        click.echo(printed(for_node(configuration, labels), labels), nl=False)
        return
    _servable(configuration)
    from slackwater.agent.main import run  # noqa: PLC0415 - --help and --print-config need nothing of the agent itself

    click.get_current_context().exit(run(configuration, ticks=ticks, keep=keep))


def _labels(configuration: Configuration) -> dict[str, str]:
    """This node's, where they are to be had without an agent: what the file says by node depends on them."""
    if configuration.folder is None or not configuration.folder.is_dir():
        return {}
    node = wanted(read_once(configuration.folder), ()).node(configuration.node_name or None, platform.node())
    return {} if node is None else node.labels


def _servable(configuration: Configuration) -> None:
    folder: Path | None = configuration.folder
    if folder is None:
        raise click.UsageError("cluster kube is not served yet; give --cluster folder:DIR, a folder of manifests")
    if not folder.is_dir():
        raise click.UsageError(f"--cluster: there is no folder {folder}; name one that holds the manifests")
