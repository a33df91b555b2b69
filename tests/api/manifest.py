"""Builders for manifests in tests: the smallest text that shows the rule."""

from textwrap import dedent, indent
from typing import TypeVar

from slackwater.api.manifests import Loaded, load
from slackwater.api.problems import Problem, Severity

T = TypeVar("T")


def loaded(text: str) -> Loaded:
    return load(dedent(text), "a.yaml")


def only(kind: type[T], text: str) -> T:
    """The one object of this kind, from a text with nothing wrong in it."""
    found = loaded(text)
    assert errors(found) == []
    (one,) = (each for each in found.objects if isinstance(each, kind))
    return one


def errors(found: Loaded) -> list[Problem]:
    return [problem for problem in found.problems if problem.severity is Severity.ERROR]


def warnings(found: Loaded) -> list[Problem]:
    return [problem for problem in found.problems if problem.severity is Severity.WARNING]


def fields(problems: list[Problem]) -> list[str]:
    return [problem.field for problem in problems]


def of_kind(kind: str, spec: str, name: str = "w", version: str = "ensurance.crane.io/v1alpha1") -> str:
    return (
        f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n"
        + indent(dedent(spec).strip("\n"), "  ")
        + "\n"
    )


def pod(spec: str, status: str = "", metadata: str = "name: p") -> str:
    text = (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{{metadata}}}\nspec:\n" + indent(dedent(spec).strip("\n"), "  ") + "\n"
    )
    return text + (f"status:\n{indent(dedent(status).strip(chr(10)), '  ')}\n" if status else "")
