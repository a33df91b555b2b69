"""
Whether what a package calls a metric is one: the whole of it is looked at before any rule may name it.

A metric that is wrong here is refused with every reason at once; the package's others are not touched by it. What its
functions answer is another matter, and is looked at when they are called.
"""

import re
from collections.abc import Iterator

from slackwater.metrics.collector import Collector
from slackwater.metrics.metric import Ability, Catalogue, Metric, OwnUnit, Unit

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
LONGEST_UNIT = 20
HIGHEST_PRIORITY = 10
SHORTEST_INTERVAL, LONGEST_INTERVAL = 0.1, 3600.0
FUNCTIONS = ("vector", "of_pod", "ranking", "throttle_step", "restore_step", "evict_release")


def wrong_with(metric: Metric, builtin: Catalogue) -> tuple[str, ...]:
    """Every reason why it cannot be taken; none: it can."""
    return (*_plain_fields(metric, builtin), *_functions(metric), *_collector(metric), *_abilities(metric, builtin))


def _plain_fields(metric: Metric, builtin: Catalogue) -> Iterator[str]:
    if not isinstance(metric.name, str) or not NAME.fullmatch(metric.name):
        yield f"name {metric.name!r}: lower-case letters, digits and _ are wanted, a letter first, 63 at most"
    elif builtin.get(metric.name):
        yield f"name {metric.name!r}: this is a built-in metric; take another name"
    unit: object = metric.unit  # what a type says holds only where somebody checks it: here
    if not isinstance(unit, Unit) and not _is_unit(unit):
        yield f"unit {unit!r}: a Unit is wanted, or an OwnUnit of 1 to {LONGEST_UNIT} printable characters"
    whole = isinstance(metric.priority, int) and not isinstance(metric.priority, bool)
    if not whole or not 0 <= metric.priority <= HIGHEST_PRIORITY:
        yield f"priority {metric.priority!r}: a whole number from 0 to {HIGHEST_PRIORITY} is wanted"
    description: object = metric.description
    if not isinstance(description, str):
        yield f"description {description!r}: a text is wanted"


def _is_unit(unit: object) -> bool:
    if not isinstance(unit, OwnUnit) or not isinstance(unit.value, str):
        return False
    return 0 < len(unit.value) <= LONGEST_UNIT and unit.value.isprintable()


def _functions(metric: Metric) -> Iterator[str]:
    for name in ("of_node", "concerns"):
        if not callable(getattr(metric, name)):
            yield f"{name}: a function is wanted"
    for name in FUNCTIONS:
        function = getattr(metric, name)
        if function is not None and not callable(function):
            yield f"{name}: a function is wanted, or None"
    if metric.from_cpu is not None:
        yield "from_cpu: only built-in metrics are computed from CPU in closed form; give throttle_step"


def _collector(metric: Metric) -> Iterator[str]:
    collector: object = metric.collector
    if collector is None:
        return
    if not isinstance(collector, Collector) or not callable(collector.collect):
        yield "collector: a Collector with a function is wanted, or None"
        return
    if not isinstance(collector.name, str) or not NAME.fullmatch(collector.name):
        yield f"collector.name {collector.name!r}: a name as a metric has it is wanted"
    number = isinstance(collector.every, int | float) and not isinstance(collector.every, bool)
    if not number or not SHORTEST_INTERVAL <= collector.every <= LONGEST_INTERVAL:
        yield f"collector.every {collector.every!r}: seconds from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL:g} are wanted"


def _abilities(metric: Metric, builtin: Catalogue) -> Iterator[str]:
    given: tuple[object, object] = (metric.throttle, metric.evict)
    if not all(isinstance(one, Ability) for one in given):
        yield "throttle and evict: an Ability each is wanted"
        return
    for name, ability in (("throttle", metric.throttle), ("evict", metric.evict)):
        if ability.quantified and not ability.able:
            yield f"{name}: quantified, and yet not able"
    own = [name for name in FUNCTIONS[2:] if getattr(metric, name) is not None]
    if metric.acts_through:
        yield from _indirect(metric, own, builtin)
    else:
        yield from _direct(metric)


def _indirect(metric: Metric, own: list[str], builtin: Catalogue) -> Iterator[str]:
    through = builtin.get(metric.acts_through) if isinstance(metric.acts_through, str) else None
    if through is None or through.indirect:
        yield f"acts_through {metric.acts_through!r}: cpu_total_usage or memory_total_usage is wanted"
    if own:
        yield f"acts_through: it acts through another metric, so {', '.join(own)} would never be asked"
    if metric.throttle.quantified or metric.evict.quantified:
        yield "acts_through: what another metric releases cannot be quantified in this one"


def _direct(metric: Metric) -> Iterator[str]:
    if metric.throttle.able is not (metric.throttle_step is not None):
        yield "throttle: able where there is a throttle_step, and only there"
    if metric.restore_step is not None and metric.throttle_step is None:
        yield "restore_step: without a throttle_step there is nothing to give back"
    if metric.evict.quantified and metric.evict_release is None and metric.of_pod is None:
        yield "evict: quantified, and neither evict_release nor of_pod says what a pod's going releases"
    if metric.evict_release is not None and not metric.evict.able:
        yield "evict_release: it is not able to evict"
