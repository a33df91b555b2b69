"""
The rules that an agent would refuse, found before it has to: by its own test, on the nodes that the manifests describe.

A waterline is a part of a node, so it takes a node to say that it is next to nothing of it. Where no Node manifest is
given that is this machine, as it is for an agent on the same folder. A policy whose selector takes none of the nodes is
not tried on any: nobody knows how large its nodes are.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from slackwater.api.manifests import Item
from slackwater.api.manifests.crosscheck import Spot, rules
from slackwater.api.objects import AvoidanceAction, Node, Policy, Rule
from slackwater.api.problems import Problem
from slackwater.api.units import Bytes, Millicores
from slackwater.judge.rules import refused
from slackwater.metrics.metric import Catalogue
from slackwater.snapshot.usage import Capacity


def this_machine() -> Capacity:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Capacity(Millicores((os.cpu_count() or 1) * 1000), Bytes(memory))


def refused_rules(items: Sequence[Item], catalogue: Catalogue, machine: Capacity) -> Iterator[Problem]:
    nodes = [found for item in items for found in item.objects if isinstance(found, Node)]
    actions = {found.name: found for item in items for found in item.objects if isinstance(found, AvoidanceAction)}
    for item, rule in rules(items):
        capacity = _largest(item, nodes, machine)
        if capacity is not None:
            yield from _refused(item, rule, catalogue, actions, capacity)


def _refused(
    item: Item, rule: Rule, catalogue: Catalogue, actions: Mapping[str, AvoidanceAction], capacity: Capacity
) -> Iterator[Problem]:
    metric = catalogue.get(rule.metric) if rule.metric else None
    why = refused(rule, actions.get(rule.action), metric, capacity) if metric else None
    if why is not None:
        yield Spot(item, f"{rule.field}.{why.field}", why.found).error(why.why, why.remedy)


def _largest(item: Item, nodes: Sequence[Node], machine: Capacity) -> Capacity | None:
    """What is refused on any of the policy's nodes is refused on the largest. What a Node leaves out is measured."""
    if not nodes:
        return machine
    policies = [found for found in item.objects if isinstance(found, Policy)]
    chosen = [
        node
        for node in nodes
        if any(policy.selector is None or policy.selector.matches(node.labels) for policy in policies)
    ]
    if not chosen:
        return None
    return Capacity(
        max(node.cpu or machine.cpu for node in chosen), max(node.memory or machine.memory for node in chosen)
    )
