"""
What all manifests of a folder ask for, every object once. Pure.

Where two files describe the same object the first one counts, by the files' names, so that the same folder always means the same.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct

from slackwater.api.manifests.loading import Object
from slackwater.api.objects import AvoidanceAction, Node, Pod, PodQos, Policy
from slackwater.api.problems import Problem, Severity

Kind = TypeVar("Kind", Pod, Node, Policy, AvoidanceAction, PodQos)


class Wanted(Struct, frozen=True, kw_only=True):
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    policies: tuple[Policy, ...] = ()
    actions: tuple[AvoidanceAction, ...] = ()
    pod_qos: tuple[PodQos, ...] = ()
    problems: tuple[Problem, ...] = ()

    def node(self, name: str | None, machine: str) -> Node | None:
        """The Node manifest that is this node: the named one, else the one named as the machine, else the only one."""
        named = [node for node in self.nodes if node.name == (name or machine)]
        return next(iter(named or (self.nodes if not name and len(self.nodes) == 1 else ())), None)


def wanted(objects: Iterable[Object], problems: tuple[Problem, ...]) -> Wanted:
    found: dict[tuple[object, ...], Object] = {}
    twice: list[Problem] = []
    for one in objects:
        first = found.setdefault(_identity(one), one)
        if first is not one:
            twice.append(_twice(one))
    kept = tuple(found.values())
    return Wanted(
        nodes=tuple(_of(Node, kept)),
        pods=tuple(_of(Pod, kept)),
        policies=tuple(_of(Policy, kept)),
        actions=tuple(_of(AvoidanceAction, kept)),
        pod_qos=tuple(_of(PodQos, kept)),
        problems=(*problems, *twice),
    )


def _of(kind: type[Kind], objects: Iterable[Object]) -> Iterator[Kind]:
    return (one for one in objects if isinstance(one, kind))


def _identity(one: Object) -> tuple[object, ...]:
    if isinstance(one, Pod):
        return Pod, one.uid
    if isinstance(one, Policy | PodQos):
        return type(one), one.kind, one.namespace, one.name
    return type(one), one.name


def _twice(one: Object) -> Problem:
    file, line = ("", 0) if isinstance(one, Pod | Node) else (one.origin.file, one.origin.line)
    name = one.key if isinstance(one, Pod) else one.name
    kind = one.kind if isinstance(one, Policy | PodQos) else type(one).__name__
    message = f"{kind} {name} is there twice, and the first one counts"
    return Problem(
        severity=Severity.ERROR,
        file=file or name,
        line=line,
        field="",
        value="",
        message=message,
        remedy="take one of them away",
    )
