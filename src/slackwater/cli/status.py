"""
`slackwater status`: what the agent last said of its node: mode, rules and how far each is from acting, claims, and
which knobs work.
"""

from typing import Any

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.cli import exits
from slackwater.cli.settings import configured
from slackwater.cluster.ledger import status_file
from slackwater.decide.sentence import amount


@click.command("status")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@configured("cluster")
@click.pass_context
def status(context: click.Context, *, configuration: Configuration, output: str) -> None:
    """Show mode, rules with state, value and distance, claims, and what works on this machine."""
    if configuration.folder is None:
        raise click.UsageError("cluster kube is not served yet; give --cluster folder:DIR, a folder of manifests")
    path = status_file(configuration.folder)
    try:
        said = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        click.echo(f"there is no status at {path} ({error}); has an agent run here?", err=True)
        context.exit(exits.DOES_NOT_HOLD)
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(said)).decode())
    else:
        _tell(said["metadata"]["name"], said["status"])


def _tell(node: str, status: dict[str, Any]) -> None:
    closed = ", closed for scheduling" if status["schedulingDisabled"] else ""
    click.echo(f"node {node}: mode {status['mode']} ({status['modeWhy']}), {status['backend']}{closed}")
    for rule in status["rules"]:
        click.echo(f"  rule {rule['policy']}/{rule['rule']}: {_state(rule)}")
    for claim in status["claims"]:
        where = f"{claim['pod']}/{claim['container']}" if claim["container"] else claim["pod"]
        value = f"{claim['value'] / 1000:g} cores" if claim["knob"] == "quota" else f"shares {claim['value']}"
        click.echo(f"  claim {where}: {claim['knob']} {value} ({claim['source']}: {claim['cause']})")
    for knob in status["knobs"]:
        click.echo(f"  knob {knob['name']}: {'works' if knob['works'] else 'does not work'}, {knob['why']}")
    if status["lastAction"]:
        click.echo(f"  last: {status['lastAction']['sentence']}")
    for package in status.get("packages", ()):
        click.echo(f"  package {package['name']} {package['version']}: {_package(package)}")
    for problem in status["problems"]:
        click.echo(f"  problem: {problem}")


def _package(package: dict[str, Any]) -> str:
    return package["error"] or "; ".join((f"brings {', '.join(package['metrics']) or 'nothing'}", *package["refused"]))


def _state(rule: dict[str, Any]) -> str:
    if rule["error"] and rule["state"] == "error":
        return f"plays no part: {rule['error']}"
    if rule["error"]:
        return f"{rule['state']}, {rule['metric']} counts as missing: {rule['error']}"
    if rule["missing"] or rule["value"] is None:
        return f"{rule['state']}, {rule['metric']} is missing"
    value, line = amount(rule["value"], rule["unit"]), amount(rule["waterline"], rule["unit"])
    count = f", bad for {rule['badTicks']} of {rule['needed']} ticks" if rule["badTicks"] else ""
    return f"{rule['state']}, {value} of {line}{count}{' (preview)' if rule['preview'] else ''}"
