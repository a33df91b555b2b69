"""
Observing: the newest view of the cluster, and one pass over the host.

Nothing here fails a tick. A host that cannot be read gives no sample, and every rule that rests on it becomes unknown;
a tick that was woken early takes no sample at all, for a sample is judged once.
"""

import logging
from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from slackwater.agent.carried import Carried
from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.configuration_layers import for_node
from slackwater.agent.edges import Edges
from slackwater.agent.settings import settings_of
from slackwater.api.units import Instant, Wall
from slackwater.decide.settings import Settings
from slackwater.host.edge import Host, Survey
from slackwater.judge.rules import RuleInForce, rules_in_force
from slackwater.metrics.metric import Catalogue
from slackwater.metrics.scene import Collected, Scene
from slackwater.snapshot.counters import HostSample
from slackwater.snapshot.groups import GroupId, PodGroups
from slackwater.snapshot.knobs import Settings as KnobSettings
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

log = logging.getLogger(__name__)

MODE_ANNOTATION = "slackwater.dev/mode"
STRICTEST_FIRST = (Mode.OFF, Mode.PREVIEW, Mode.ACT)
LEAST_FRAMES, MOST_FRAMES = 3, 64


class Seen(Struct, frozen=True, kw_only=True, dict=True):
    now: Instant
    wall: Wall
    view: View
    sample: HostSample | None  # None: woken early, or the host could not be read
    looked: bool  # this tick was to take one
    survey: Survey
    capacity: Capacity
    configuration: Configuration  # as it is for this node
    mode: Mode
    mode_why: str  # who said so
    collected: Mapping[str, Collected] = {}  # what packages' collectors have brought
    looked_at: dict[GroupId, KnobSettings] = {}  # what stands in the files of those who may be squeezed now

    @cached_property
    def settings(self) -> Settings:
        return settings_of(self.configuration)


def observe(edges: Edges, held: Carried, configuration: Configuration, *, look: bool) -> Seen:
    edges.packages.begin()
    view = edges.cluster.view(edges.clock.instant())
    here = for_node(configuration, view.node.labels)
    mode, why = mode_of(view, here, edges.rivals())
    edges.host.follow(held.following if view is held.view else groups_to_follow(view))
    sample = _sampled(edges.host) if look else None
    survey = edges.host.survey()
    return Seen(
        now=edges.clock.instant(),
        wall=edges.clock.wall(),
        view=view,
        sample=sample,
        looked=look,
        survey=survey,
        capacity=Capacity(view.node.cpu or survey.cpu, view.node.memory or survey.memory),
        configuration=here,
        mode=mode,
        mode_why=why,
        collected=edges.packages.collected(),
    )


def taken_in(held: Carried, seen: Seen, catalogue: Catalogue) -> Carried:
    """What this tick saw, beside what is still held of earlier ones."""
    if seen.view is not held.view or seen.capacity != held.capacity:
        held = replace(
            held,
            view=seen.view,
            capacity=seen.capacity,
            rules=rules_in_force(seen.view, catalogue, seen.capacity),
            following=groups_to_follow(seen.view),
        )
    if seen.sample is None:
        return held
    frames = held.frames.with_sample(seen.sample, _frames_needed(held.rules))
    names = frozenset(rule.metric.name for rule in held.rules if rule.metric)
    tick = seen.configuration.tick_seconds
    scene = Scene(
        frames=frames,
        capacity=seen.capacity,
        pods=seen.view.pods,
        squeezed=frozenset(claim.pod for claim in held.memory.throttled),
        elastic_cpu=seen.view.node.elastic_cpu,
        collected=seen.collected,
    )
    return replace(held, frames=frames, readings=held.readings.with_scene(scene, catalogue, names, tick))


def _frames_needed(rules: tuple[RuleInForce, ...]) -> int:
    """One more than the samples over which a mean may be asked for."""
    slowest = max((rule.rule.avoidance_threshold for rule in rules), default=0)
    return min(MOST_FRAMES, max(LEAST_FRAMES, slowest + 1))


def _sampled(host: Host) -> HostSample | None:
    try:
        return host.sample()
    except OSError as error:
        log.warning("the host could not be read: %s", error)
        return None


def groups_to_follow(view: View) -> tuple[PodGroups, ...]:
    return tuple(
        PodGroups(pod.uid, pod.qos_class, tuple(c.id for c in pod.containers if c.id is not None and c.running))
        for pod in view.pods
        if pod.phase == "Running"
    )


def mode_of(view: View, configuration: Configuration, rivals: tuple[str, ...]) -> tuple[Mode, str]:
    """The strictest of what the configuration, the node's annotation and the neighbours leave; and who said so."""
    said = [(configuration.mode, "configuration")]
    annotated = view.node.annotations.get(MODE_ANNOTATION, "")
    if annotated in {mode.value for mode in Mode}:
        said.append((Mode(annotated), f"the node's annotation {MODE_ANNOTATION}"))
    elif annotated:
        said.append((Mode.PREVIEW, f"the node's annotation {MODE_ANNOTATION} says {annotated!r}, which is no mode"))
    if rivals:
        said.append((Mode.PREVIEW, f"{', '.join(rivals)} squeezes pods on this node too, and would undo what we do"))
    return min(said, key=lambda one: STRICTEST_FIRST.index(one[0]))
