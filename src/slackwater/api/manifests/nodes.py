"""The node: its labels, its taints, and how much there is of it."""

from slackwater.api import quantity
from slackwater.api.manifests import annotations
from slackwater.api.manifests.fields import Fields
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import Node, Origin, Taint


def read(top: Fields, spec: Fields, about: Metadata, origin: Origin) -> tuple[Node, ...]:
    del origin  # as for a pod
    annotations.check(top, "Node")
    status = top.inside("status")
    capacity = status.inside("capacity") if status is not None else None
    cpu = _amount(capacity, "cpu")
    memory = _amount(capacity, "memory")
    offered = status.inside("allocatable") if status is not None else None
    elastic = offered.quantity("gocrane.io/cpu") if offered is not None else None
    node = Node(
        name=about.name,
        uid=about.uid,
        labels=about.labels,
        annotations=about.annotations,
        taints=tuple(_taint(fields) for fields in spec.each("taints")),
        cpu=None if cpu is None else quantity.millicores(cpu),
        memory=None if memory is None else quantity.whole_bytes(memory),
        elastic_cpu=None if elastic is None else quantity.millicores(elastic),
    )
    return (node,)


def _amount(capacity: Fields | None, key: str) -> quantity.Quantity | None:
    amount = capacity.quantity(key) if capacity is not None else None
    if capacity is not None and amount is not None and amount <= 0:
        capacity.error(
            key, "is not above zero", "write what the node has, or leave it out: then it is measured", capacity.get(key)
        )
        return None
    return amount


def _taint(fields: Fields) -> Taint:
    key = fields.required("key", "every taint has a key")
    effect = fields.required("effect", "write NoSchedule, PreferNoSchedule or NoExecute")
    return Taint(key=key, effect=effect, value=fields.text("value"))
