"""
The cluster as one value: who is on this node, and what is wanted of it.

A tick takes the newest view and never waits for one. `complete` says whether absence means anything: before the first
full sync a missing policy is not a deleted one.
"""

from msgspec import Struct

from slackwater.api.objects import AvoidanceAction, Node, Pod, PodQos, Policy
from slackwater.api.problems import Problem


class View(Struct, frozen=True, kw_only=True):
    complete: bool = False  # False: nothing may be concluded from what is missing
    generation: int = 0  # grows whenever anything below differs from the view before
    node: Node
    pods: tuple[Pod, ...] = ()  # of this node, in every phase
    policies: tuple[Policy, ...] = ()
    actions: dict[str, AvoidanceAction] = {}
    pod_qos: tuple[PodQos, ...] = ()
    problems: tuple[Problem, ...] = ()
