"""`slackwater release`: everything given back, without an agent running."""

import click

from slackwater.agent.configuration import Configuration
from slackwater.agent.release import release as give_back
from slackwater.cli import exits
from slackwater.cli.settings import configured
from slackwater.host.discovery import NoCgroups
from slackwater.host.lock import Held

HELP = """
Give everything back, without an agent running.

Every quota and weight that carries our mark goes back to its base, and a node that we closed is opened. Where an agent runs this ends with exit code 1 and names it.
"""


@click.command("release", help=HELP)
@configured("cluster", "nodeName", "journal.path", "host.cgroupRoot", "host.proc", "log.format", "log.level")
@click.pass_context
def release(context: click.Context, *, configuration: Configuration) -> None:
    if configuration.folder is None:
        raise click.UsageError("cluster kube is not served yet; give --cluster folder:DIR, a folder of manifests")
    try:
        done = give_back(configuration)
    except Held as held:
        click.echo(f"an agent works here: {held}; end it, and it gives everything back itself", err=True)
        context.exit(exits.DOES_NOT_HOLD)
    except (NoCgroups, OSError) as error:
        click.echo(f"this machine does not permit it: {error}", err=True)
        context.exit(exits.NOT_POSSIBLE)
    if not done.complete:
        click.echo("not everything could be given back; see above, and try again", err=True)
        context.exit(exits.DOES_NOT_HOLD)
    said = [f"{done.groups} groups given back"] if done.groups else []
    said += ["the node is open for scheduling again"] if done.opened else []
    click.echo("; ".join(said) or "nothing was held")
