"""
A text of manifests, whole: what each document in it is, the objects that come of it, and what is wrong.

A document is taken or it is not; only rules are taken one by one. What is not taken is still named where it can be (kind, namespace, name), so that whoever holds the last good
version of a document knows which it was.
"""

import difflib
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from slackwater.api import documents
from slackwater.api.documents import Document
from slackwater.api.manifests import actions, configmaps, metadata, nodes, podqos, pods, policies, predictions
from slackwater.api.manifests.fields import Fields, Findings
from slackwater.api.manifests.metadata import Metadata
from slackwater.api.objects import AvoidanceAction, Node, Origin, Pod, PodQos, Policy
from slackwater.api.paths import Path, told
from slackwater.api.problems import Problem
from slackwater.api.trees import Place

Object = Pod | Node | Policy | AvoidanceAction | PodQos
Reader = Callable[[Fields, Fields, Metadata, Origin], tuple[Object, ...]]

_CORE = "v1"
_ENSURANCE = "ensurance.crane.io/v1alpha1"
_PREDICTION = "prediction.crane.io/v1alpha1"
_TOP = ("apiVersion", "kind", "metadata", "spec", "status")


class Item(Struct, frozen=True, kw_only=True):
    """One document, and what came of it."""

    file: str
    index: int  # among the documents of its file
    line: int
    kind: str = ""  # empty where it could not be read so far
    namespace: str = ""
    name: str = ""
    objects: tuple[Object, ...] = ()  # empty: it plays no part
    problems: tuple[Problem, ...] = ()
    lines: dict[str, int] = {}  # of a policy's, action's or PodQOS's fields, by path


class Loaded(Struct, frozen=True):
    items: tuple[Item, ...] = ()

    @property
    def documents(self) -> int:
        return len(self.items)

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(problem for item in self.items for problem in item.problems)

    @property
    def objects(self) -> tuple[Object, ...]:
        return tuple(found for item in self.items for found in item.objects)


def load(text: str, file: str) -> Loaded:
    """Never raises for what stands in the text."""
    return Loaded(tuple(item for document in documents.read(text, file) for item in _items(document)))


def load_part(document: Document, value: Any, path: Path) -> Loaded:
    """A manifest that stands inside another document, at `path`."""
    return Loaded(tuple(_manifests(document, value, path)))


def _items(document: Document) -> Iterator[Item]:
    if document.problem is not None:
        yield Item(file=document.file, index=document.index, line=document.line, problems=(document.problem,))
        return
    yield from _manifests(document, document.value, ())


def _manifests(document: Document, value: Any, path: Path) -> Iterator[Item]:
    if isinstance(value, dict) and value.get("kind") == "List" and isinstance(value.get("items"), list):
        for index, entry in enumerate(value["items"]):
            yield _item(document, entry, (*path, "items", index))
        return
    yield _item(document, value, path)


def _item(document: Document, value: Any, path: Path) -> Item:
    findings = Findings()
    top = Fields(document, value if isinstance(value, dict) else {}, findings, path)
    kind = top.get("kind")
    found: tuple[Object, ...] = ()
    if not isinstance(value, dict):
        top.error(
            None, "is a fragment, no manifest", "a manifest is a mapping with apiVersion:, kind: and metadata:", value
        )
    elif not isinstance(kind, str) or not kind:
        top.error(
            None, "has no kind, so it is a fragment, no manifest", "write apiVersion:, kind: and metadata: above it"
        )
    elif kind not in _KINDS:
        _unread_kind(top, kind)
    else:
        found = _objects(top, kind)
    about = value.get("metadata") if isinstance(value, dict) else None
    return Item(
        file=document.file,
        index=document.index,
        line=top.line(),
        kind=kind if isinstance(kind, str) else "",
        namespace=_word(about, "namespace"),
        name=_word(about, "name"),
        objects=() if findings.fatal else found,
        problems=tuple(findings.problems),
        lines=_lines(document, found),
    )


def _objects(top: Fields, kind: str) -> tuple[Object, ...]:
    api_version, reader = _KINDS[kind]
    if not _is_version(top.get("apiVersion"), api_version):
        top.error(
            "apiVersion",
            f"is not that of a {kind}",
            f"write apiVersion: {api_version}",
            top.get("apiVersion") or "nothing",
        )
        return ()
    if kind not in _WITHOUT_SPEC and not top.has("spec"):
        top.error("spec", f"is missing: a {kind} without it is a fragment", "write the whole manifest")
        return ()
    spec = top.inside("spec") or Fields(top.document, {}, top.findings, (*top.path, "spec"))
    about = metadata.read(top)
    if api_version != _CORE:
        top.known(_TOP)
        named = top.inside("metadata")
        if named is not None:
            named.known(metadata.FIELDS)
    return reader(top, spec, about, Origin(top.document.file, top.line()))


def _is_version(written: Any, expected: str) -> bool:
    """Any version of the group: they differ in nothing that is read."""
    return isinstance(written, str) and written.rpartition("/")[0] == expected.rpartition("/")[0]


def _unread_kind(top: Fields, kind: str) -> None:
    near = difflib.get_close_matches(kind, _KINDS, 1, 0.8)
    remedy = (
        f"did you mean {near[0]}?" if near else "leave it; it has no effect here. Read are " + ", ".join(sorted(_KINDS))
    )
    # In a group of ours a kind that nobody knows is a policy that its author believes in.
    ours = str(top.get("apiVersion")).partition("/")[0] in {
        version.partition("/")[0] for version in (_ENSURANCE, _PREDICTION)
    }
    (top.error if ours else top.warn)("kind", "this kind is not read", remedy, kind)


def _config_map(top: Fields, spec: Fields, about: Metadata, origin: Origin) -> tuple[Object, ...]:
    del spec, about, origin  # nothing acts on it yet
    configmaps.check(top)
    return ()


def _prediction(top: Fields, spec: Fields, about: Metadata, origin: Origin) -> tuple[Object, ...]:
    del about, origin  # nothing acts on it yet
    top.not_served("kind", "a TimeSeriesPrediction")
    predictions.check(spec, target=True)
    return ()


_KINDS: dict[str, tuple[str, Reader]] = {
    "AvoidanceAction": (_ENSURANCE, actions.read),
    "ConfigMap": (_CORE, _config_map),
    "Node": (_CORE, nodes.read),
    "NodeQOS": (_ENSURANCE, policies.node_policy),
    "NodeQOSEnsurancePolicy": (_ENSURANCE, policies.node_policy),
    "Pod": (_CORE, pods.read),
    "PodQOS": (_ENSURANCE, podqos.current),
    "PodQOSEnsurancePolicy": (_ENSURANCE, podqos.older),
    "TimeSeriesPrediction": (_PREDICTION, _prediction),
}
_WITHOUT_SPEC = frozenset(("ConfigMap", "Node"))


def _word(about: Any, key: str) -> str:
    value = about.get(key) if isinstance(about, dict) else None
    return value if isinstance(value, str) else ""


def _lines(document: Document, found: tuple[Object, ...]) -> dict[str, int]:
    """Checks that look across files come later, when the document is gone; they too must name a line."""
    if not any(isinstance(one, Policy | AvoidanceAction | PodQos) for one in found):
        return {}
    return dict(_walk(document.place, ()))


def _walk(place: Place, path: Path) -> Iterator[tuple[str, int]]:
    yield told(path), place.line
    for step, inside in place.inside.items():
        yield from _walk(inside, (*path, step))
