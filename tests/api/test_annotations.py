"""What is said of annotations that the agent would read otherwise than whoever wrote them."""

import pytest

from slackwater.api.problems import Problem

from .manifest import errors, loaded, warnings


def of(kind: str, name: str, text: str) -> list[Problem]:
    body = "spec: {containers: [{name: c}]}" if kind == "Pod" else "spec: {}"
    about = f"metadata:\n  name: a\n  annotations:\n    {name}: {text}\n"
    found = loaded(f"apiVersion: v1\nkind: {kind}\n{about}{body}\n")
    assert errors(found) == []
    return warnings(found)


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("Node", "slackwater.dev/mode", "preview"),
        ("Pod", "slackwater.dev/protected", '"true"'),
        ("Pod", "slackwater.dev/protected", '" False"'),
        ("Pod", "volcano.sh/qos-level", '"-1"'),
        ("Pod", "volcano.sh/qos-level", "BE"),
        ("Pod", "volcano.sh/anything", "x"),
        ("Node", "example.org/mode", "prevew"),
    ],
)
def test_what_is_meant_as_it_stands_and_what_is_not_ours_is_let_pass(kind: str, name: str, text: str) -> None:
    assert of(kind, name, text) == []


@pytest.mark.parametrize(
    ("kind", "name", "text", "said"),
    [
        ("Node", "slackwater.dev/mode", "prevew", "is no mode, so the agent only previews there (found prevew)"),
        ("Pod", "slackwater.dev/protected", '"no"', "is neither true nor false, and protects the pod (found no)"),
        ("Pod", "slackwater.dev/protected", '""', 'and protects the pod (found ""); write "true"'),
        ("Pod", "volcano.sh/qos-level", '"3"', "is no level, so nothing is taken from the pod (found 3)"),
        ("Pod", "slackwater.dev/foo", "x", "means nothing on a Pod (found x); known there is slackwater.dev/protected"),
        ("Node", "slackwater.dev/foo", "x", "means nothing on a Node (found x); known there is slackwater.dev/mode"),
        ("Pod", "slackwater.dev/protect", "x", "did you mean slackwater.dev/protected?"),
        ("Pod", "slackwater.dev/mode", "off", "means nothing on a Pod (found off); put it on a Node"),
    ],
)
def test_a_slip_is_warned_of_with_what_it_leads_to(kind: str, name: str, text: str, said: str) -> None:
    (problem,) = of(kind, name, text)
    assert said in str(problem)
    assert problem.line == 6
