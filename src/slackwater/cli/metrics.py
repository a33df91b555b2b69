"""`slackwater metrics`: the metrics a rule may name, and what can be done about each."""

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.cli.settings import configured
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.metric import Ability, Metric


@click.command("metrics")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@configured("cluster")
def metrics(*, configuration: Configuration, output: str) -> None:  # noqa: ARG001 - the same flags on every command
    """List the metrics a rule may name: unit, ActionPriority, and whether throttling and eviction move them."""
    known = sorted(BUILTIN.metrics.values(), key=lambda metric: (-metric.priority, metric.name))
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode({"metrics": [_document(m) for m in known]})).decode())
        return
    row = "{:<24} {:<11} {:>8}  {:<10} {:<10} {}"
    click.echo(row.format("METRIC", "UNIT", "PRIORITY", "THROTTLE", "EVICT", "DESCRIPTION"))
    for metric in known:
        throttle, evict = _word(metric.throttle), _word(metric.evict)
        click.echo(row.format(metric.name, metric.unit.value, metric.priority, throttle, evict, metric.description))


def _word(ability: Ability) -> str:
    if not ability.able:
        return "no"
    return "precise" if ability.quantified else "by steps"


def _document(metric: Metric) -> dict[str, object]:
    return {
        "name": metric.name,
        "unit": metric.unit.value,
        "actionPriority": metric.priority,
        "sortable": metric.of_pod is not None,
        "throttle": {
            "able": metric.throttle.able,
            "quantified": metric.throttle.quantified,
            "why": metric.throttle.why,
        },
        "evict": {"able": metric.evict.able, "quantified": metric.evict.quantified, "why": metric.evict.why},
        "description": metric.description,
    }
