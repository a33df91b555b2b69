"""
The user's folder as the lab sees it: which pods are wanted, and on which node.

Files that did not change are not read again. A document that stops parsing keeps the pods that its file last had: a slip in an editor must not end what runs. Never writes.
"""

import hashlib
import os
from pathlib import Path

from msgspec import Struct

from slackwater.api.manifests import Item, Loaded, load
from slackwater.api.objects import Node, Pod
from slackwater.api.problems import Problem, Severity

_SUFFIXES = (".yaml", ".yml", ".json")
_LARGEST = 8 << 20  # bytes; a larger file is no manifest


class Wanted(Struct, frozen=True, kw_only=True):
    fingerprint: str = ""
    node: Node | None = None
    pods: tuple[Pod, ...] = ()
    problems: tuple[Problem, ...] = ()


class Stamp(Struct, frozen=True, order=True):
    """A file as it was when it was looked at: another stamp is another content."""

    name: str
    modified: int
    size: int
    inode: int


class Read(Struct, frozen=True):
    stamp: Stamp
    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    problems: tuple[Problem, ...]


class Manifests:
    """Remembers what it has read, by file."""

    def __init__(self, cluster: Path) -> None:
        self._cluster = cluster
        self._read: dict[str, Read] = {}
        self._wanted = Wanted()

    def wanted(self) -> Wanted:
        """The same object as before where nothing changed. Raises OSError where the folder itself cannot be listed."""
        stamps = _stamps(self._cluster)
        fingerprint = _fingerprint(stamps)
        if fingerprint != self._wanted.fingerprint:
            self._read = {stamp.name: self._again(stamp) for stamp in stamps}
            self._wanted = _together(fingerprint, tuple(self._read.values()))
        return self._wanted

    def _again(self, stamp: Stamp) -> Read:
        before = self._read.get(stamp.name)
        if before is not None and before.stamp == stamp:
            return before
        return _read(self._cluster / stamp.name, stamp, before)


def fingerprint(cluster: Path) -> str:
    return _fingerprint(_stamps(cluster))


def has_manifests(cluster: Path) -> bool:
    return bool(_stamps(cluster))


def _stamps(cluster: Path) -> list[Stamp]:
    found = []
    with os.scandir(cluster) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES) and not entry.name.startswith(".") and entry.is_file():
                facts = entry.stat()
                found.append(Stamp(entry.name, facts.st_mtime_ns, facts.st_size, facts.st_ino))
    return sorted(found)


def _fingerprint(stamps: list[Stamp]) -> str:
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]


def _read(path: Path, stamp: Stamp, before: Read | None) -> Read:
    try:
        loaded = load(_text(path, stamp), str(path))
    except OSError as failure:
        problem = Problem(
            severity=Severity.ERROR,
            file=str(path),
            line=0,
            field="",
            value="",
            message=f"it cannot be read: {failure.strerror or failure}",
            remedy="make it readable, or take it out of the folder",
        )
        return Read(stamp, before.pods if before else (), before.nodes if before else (), (problem,))
    pods = tuple(one for one in loaded.objects if isinstance(one, Pod))
    nodes = tuple(one for one in loaded.objects if isinstance(one, Node))
    errors = tuple(problem for problem in loaded.problems if problem.severity is Severity.ERROR)
    if before is not None:
        pods += _kept(before.pods, loaded)
        nodes = nodes or (before.nodes if errors else ())
    return Read(stamp, pods, nodes, errors)


def _kept(pods: tuple[Pod, ...], loaded: Loaded) -> tuple[Pod, ...]:
    """Those whose document cannot be read any more; a broken document without a legible name may have been any of them."""
    broken = {(item.namespace or "default", item.name) for item in loaded.items if not item.objects and _faulty(item)}
    anyone = any(not name for _, name in broken)
    there = {one.uid for one in loaded.objects if isinstance(one, Pod)}
    return tuple(pod for pod in pods if pod.uid not in there and (anyone or (pod.namespace, pod.name) in broken))


def _faulty(item: Item) -> bool:
    return any(problem.severity is Severity.ERROR for problem in item.problems)


def _text(path: Path, stamp: Stamp) -> str:
    if stamp.size > _LARGEST:
        raise OSError(f"it has {stamp.size} bytes, and a manifest has at most {_LARGEST}")
    return path.read_text(encoding="utf-8", errors="replace")


def _together(fingerprint: str, files: tuple[Read, ...]) -> Wanted:
    """A pod that two files describe is the first one's."""
    nodes = [node for file in files for node in file.nodes]
    node = nodes[0] if nodes else None
    pods: dict[str, Pod] = {}
    for file in files:
        for pod in file.pods:
            if pod.node_name is None or node is None or pod.node_name == node.name:
                pods.setdefault(pod.uid, pod)
    return Wanted(
        fingerprint=fingerprint,
        node=node,
        pods=tuple(pods.values()),
        problems=tuple(problem for file in files for problem in file.problems),
    )
