"""`slackwater metrics`: the metrics a rule may name, and what can be done about each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
import msgspec

from slackwater.agent.configuration import Configuration
from slackwater.agent.hanging import left_out_file, read_left_out
from slackwater.agent.packages import looked_up
from slackwater.cli.here import unreadable
from slackwater.cli.settings import configured
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.metric import Ability, Metric

HEAD = ("METRIC", "UNIT", "PRIORITY", "SORTABLE", "THROTTLE", "EVICT", "HERE", "PACKAGE", "DESCRIPTION")


@click.command("metrics")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="For people or for scripts.")
@configured("cluster")
def metrics(*, configuration: Configuration, output: str) -> None:
    """List the metrics a rule may name: unit, ActionPriority, what moves them, whether this machine has them, and who brings them."""
    loaded = looked_up(read_left_out(left_out_file(configuration.journal_file)))
    known = sorted(loaded.catalogue.metrics.values(), key=lambda metric: (-metric.priority, metric.name))
    missing = unreadable(configuration, BUILTIN)
    if output == "json":
        told = {
            "metrics": [_document(metric, missing.get(metric.name, "")) for metric in known],
            "problems": loaded.troubles,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(told)).decode())
        return
    for line in _aligned([HEAD, *(_row(metric, missing) for metric in known)]):
        click.echo(line)
    for note in (*_cannot(known), *(f"{name} cannot be read here: {why}" for name, why in sorted(missing.items()))):
        click.echo(note)
    for problem in loaded.troubles:
        click.echo(f"problem: {problem}")


def _cannot(known: Iterable[Metric]) -> Iterator[str]:
    for metric in known:
        if not metric.throttle.able:
            yield f"{metric.name} cannot be throttled: {metric.throttle.why}"
        if not metric.evict.able:
            yield f"{metric.name} cannot be lowered by eviction: {metric.evict.why}"


def _row(metric: Metric, missing: Mapping[str, str]) -> tuple[str, ...]:
    throttle, evict = _word(metric.throttle), _word(metric.evict)
    sortable, here = _yes(metric.of_pod is not None or metric.ranking is not None), _yes(metric.name not in missing)
    rank, package = str(metric.priority), metric.package or "built in"
    return (metric.name, metric.unit.value, rank, sortable, throttle, evict, here, package, metric.description)


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _word(ability: Ability) -> str:
    if not ability.able:
        return "no"
    return "precise" if ability.quantified else "by steps"


def _document(metric: Metric, missing: str) -> dict[str, object]:
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
        "here": {"readable": not missing, "why": missing},
        "description": metric.description,
    }
