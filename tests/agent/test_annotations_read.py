"""What `check` lets pass of an annotation is what the agent understands, and what it warns of is what the agent is careful with."""

import pytest

from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.observing import MODE_ANNOTATION, mode_of
from slackwater.api.manifests.annotations import ON_NODES, ON_PODS
from slackwater.api.objects import Node, Pod, QosClass
from slackwater.decide.eligibility import LEVEL_ANNOTATION, PROTECTED_ANNOTATION, has_sound_level, is_kept_out
from slackwater.snapshot.view import View

TEXTS = (
    "",
    "true",
    "false",
    "True",
    " false ",
    "no",
    "off",
    "preview",
    "act",
    " act",
    "prevew",
    "0",
    "-1",
    "3",
    "BE",
    "LS ",
    "be",
)


def pod(name: str, text: str) -> Pod:
    return Pod(namespace="d", name="a", uid="u", qos_class=QosClass.BURSTABLE, annotations={name: text})


@pytest.mark.parametrize("text", TEXTS)
def test_both_read_it_the_same_way(text: str) -> None:
    level, protected, mode = ON_PODS[LEVEL_ANNOTATION], ON_PODS[PROTECTED_ANNOTATION], ON_NODES[MODE_ANNOTATION]
    assert bool(level.fits.fullmatch(text)) == has_sound_level(pod(LEVEL_ANNOTATION, text))
    if not protected.fits.fullmatch(text):
        assert is_kept_out(pod(PROTECTED_ANNOTATION, text))
    view = View(complete=True, node=Node(name="n", annotations={MODE_ANNOTATION: text}), policies=(), actions={})
    _, why = mode_of(view, Configuration(mode=Mode.ACT), ())
    assert bool(mode.fits.fullmatch(text)) == ("is no mode" not in why)
