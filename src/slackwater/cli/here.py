"""
Which metrics can be read on this machine, found out by looking at it twice.

It takes no part in judging: an agent whose metric is missing says so by itself. This is for whoever writes a policy and
wants to know beforehand. Nothing is written, and no agent need run.
"""

import time

from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration
from slackwater.agent.ground import root_of
from slackwater.host.discovery import NoCgroups
from slackwater.host.edge import Survey
from slackwater.host.machine import Machine
from slackwater.metrics.metric import Catalogue, Metric
from slackwater.metrics.scene import Scene
from slackwater.snapshot.usage import Capacity, Frames

APART = 0.05  # seconds
OFFERED = 1000.0  # that a node offers elastic CPU is the cluster's to say, not the machine's


def unreadable(configuration: Configuration, catalogue: Catalogue) -> dict[str, str]:
    """By metric, why it cannot be read here; nothing of those that can."""
    try:
        machine = Machine(AgentClock(), proc=configuration.host.proc, root=root_of(configuration))
    except (NoCgroups, OSError) as error:
        return dict.fromkeys(catalogue.metrics, f"this machine cannot be looked at: {error}")
    try:
        survey, scene = machine.survey(), _looked(machine)
    finally:
        machine.close()
    told = {name: why_not(metric, scene, survey) for name, metric in catalogue.metrics.items()}
    return {name: why for name, why in told.items() if why}


def _looked(machine: Machine) -> Scene:
    """Twice, for most are rates."""
    first = machine.sample()
    time.sleep(APART)
    survey = machine.survey()
    frames = Frames((first, machine.sample()))
    return Scene(frames=frames, capacity=Capacity(survey.cpu, survey.memory), elastic_cpu=OFFERED)


def why_not(metric: Metric, scene: Scene, survey: Survey) -> str:
    """Empty: it can be read."""
    for knob in survey.knobs:
        if knob.name == metric.of_groups and not knob.works:
            return knob.why
    return "" if metric.elements(scene) else metric.needs or "/proc does not tell it"
