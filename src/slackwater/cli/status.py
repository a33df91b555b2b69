"""
`slackwater status`: what the agent last said of its node: mode, rules and how far each is from acting, claims, and
which knobs work.
"""

from pathlib import Path
from typing import Any

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.cli import exits, lines
from slackwater.cli.settings import configured
from slackwater.cluster.ledger import state_folder, status_file
from slackwater.decide.sentence import amount, figure
from slackwater.host.lock import holder

_MOST = {"cpu_total_utilization": 100.0, "memory_total_utilization": 100.0}


@click.command("status")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@configured("cluster")
@click.pass_context
def status(context: click.Context, *, configuration: Configuration, output: str) -> None:
    """Show mode, rules with state, value and distance, claims, and what works on this machine."""
    if configuration.folder is None:
        raise click.UsageError("cluster kube is not served yet; give --cluster folder:DIR, a folder of manifests")
    said = _read(context, status_file(configuration.folder))
    # What an agent said last stays when it is killed; that it still stands behind it only its lock can tell.
    said["status"]["agentPid"] = holder(str(state_folder(configuration.folder)), configuration.host.proc)
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(said)).decode())
    else:
        _tell(said["metadata"]["name"], said["status"])


def _read(context: click.Context, path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        click.echo(f"there is no status at {path}; has an agent run here?", err=True)
    except (OSError, msgspec.MsgspecError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        click.echo(f"the status at {path} cannot be read: {why}", err=True)
    return context.exit(exits.DOES_NOT_HOLD)


def _tell(node: str, status: dict[str, Any]) -> None:
    closed = ", closed for scheduling" if status["schedulingDisabled"] else ""
    lines.say(f"node {node}: mode {status['mode']} ({status['modeWhy']}), {status['backend']}{closed}")
    pid = status["agentPid"]
    lines.say(f"  agent: process {pid}" if pid else "  no agent runs here: this is what the last one said")
    for rule in status["rules"]:
        lines.say(f"  rule {rule['policy']}/{rule['rule']}: {_now(rule, status['mode'])}")
    for claim in status["claims"]:
        where = f"{claim['pod']}/{claim['container']}" if claim["container"] else claim["pod"]
        value = f"{claim['value'] / 1000:g} cores" if claim["knob"] == "quota" else f"shares {claim['value']}"
        lines.say(f"  claim {where}: {claim['knob']} {value} ({claim['source']}: {claim['cause']})")
    for knob in status["knobs"]:
        lines.say(f"  knob {knob['name']}: {'works' if knob['works'] else 'does not work'}, {knob['why']}")
    if status["lastAction"]:
        lines.say(f"  last: {status['lastAction']['sentence']}")
    for package in status.get("packages", ()):
        lines.say(f"  package {package['name']} {package['version']}: {_package(package)}")
    for problem in status["problems"]:
        lines.say(f"  problem: {problem}")


def _now(rule: dict[str, Any], mode: str) -> str:
    """Where nobody judges any more, what the last tick said is told as what it is."""
    told = _state(rule)
    return f"not judged (at the last tick: {told})" if mode == "off" and rule["state"] not in ("off", "error") else told


def _package(package: dict[str, Any]) -> str:
    return package["error"] or "; ".join((f"brings {', '.join(package['metrics']) or 'nothing'}", *package["refused"]))


def _state(rule: dict[str, Any]) -> str:
    if rule["error"] and rule["state"] == "error":
        return f"plays no part: {rule['error']}"
    if rule["error"]:
        return f"{rule['state']}, {rule['metric']} counts as missing: {rule['error']}"
    if rule["state"] == "off":
        return "not judged"
    preview = " (preview)" if rule["preview"] else ""
    if rule["missing"] or rule["value"] is None:
        return f"{rule['state']}, {rule['metric']} is missing{preview}"
    value, line = _shown(rule), figure(rule["waterline"], rule["unit"])
    return f"{rule['state']}, {value}, waterline {line}{_count(rule)}{preview}"


def _shown(rule: dict[str, Any]) -> str:
    # Counters of CPU time move in whole ticks of the kernel, so a full node can read a little over what it has.
    whole = _MOST.get(rule["metric"], rule["value"])
    return amount(min(rule["value"], whole), rule["unit"])


def _count(rule: dict[str, Any]) -> str:
    bad = rule["badTicks"]
    return f"; bad for {bad} {'tick' if bad == 1 else 'ticks'} (acts at {rule['needed']})" if bad else ""
