"""`slackwater metrics`: the metrics a rule may name, and what can be done about each."""

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.agent.hanging import left_out_file, read_left_out
from slackwater.agent.packages import looked_up
from slackwater.cli.settings import configured
from slackwater.metrics.metric import Ability, Metric


@click.command("metrics")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@configured("cluster")
def metrics(*, configuration: Configuration, output: str) -> None:
    """List the metrics a rule may name: unit, ActionPriority, whether throttling and eviction move them, and who brings them."""
    loaded = looked_up(read_left_out(left_out_file(configuration.journal_file)))
    known = sorted(loaded.catalogue.metrics.values(), key=lambda metric: (-metric.priority, metric.name))
    if output == "json":
        told = {"metrics": [_document(metric) for metric in known], "problems": loaded.troubles}
        click.echo(msgspec.json.format(msgspec.json.encode(told)).decode())
        return
    row = "{:<26} {:<16} {:>8}  {:<10} {:<10} {:<20} {}"
    click.echo(row.format("METRIC", "UNIT", "PRIORITY", "THROTTLE", "EVICT", "PACKAGE", "DESCRIPTION"))
    for metric in known:
        throttle, evict, package = _word(metric.throttle), _word(metric.evict), metric.package or "built in"
        unit, priority, description = metric.unit.value, metric.priority, metric.description
        click.echo(row.format(metric.name, unit, priority, throttle, evict, package, description))
    for problem in loaded.troubles:
        click.echo(f"problem: {problem}")


def _word(ability: Ability) -> str:
    if not ability.able:
        return "no"
    return "precise" if ability.quantified else "by steps"


def _document(metric: Metric) -> dict[str, object]:
    return {
        "name": metric.name,
        "unit": metric.unit.value,
        "actionPriority": metric.priority,
        "package": metric.package,
        "sortable": metric.of_pod is not None or metric.ranking is not None,
        "throttle": {
            "able": metric.throttle.able,
            "quantified": metric.throttle.quantified,
            "why": metric.throttle.why,
        },
        "evict": {"able": metric.evict.able, "quantified": metric.evict.quantified, "why": metric.evict.why},
        "description": metric.description,
    }
