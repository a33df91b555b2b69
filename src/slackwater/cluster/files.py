"""
The users' manifests as files: what they hold now, and what they held when they last made sense.

Only a file that changed is read again, and only for so long in one go, so that ten thousand broken files cost one look each and no tick is late for them. A document that stops
parsing keeps its last good version, across a restart too: of every file that was wholly good a copy lies in .slackwater/lastgood. A file that is deleted is deleted.
The users' own files are never written.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.documents import decode
from slackwater.api.manifests import Item, load
from slackwater.api.manifests.loading import Object
from slackwater.api.objects import Policy
from slackwater.api.problems import Problem, Severity
from slackwater.api.units import Instant, Wall
from slackwater.cluster.ledger import replace, state_folder
from slackwater.cluster.watching import is_manifest

LARGEST = 4 << 20
"""Bytes; a larger file is no manifest."""
LONGEST_LOOK = 2.0  # seconds of reading in one go
KEPT_PROBLEMS = 100
PROBLEMS_OF_ONE_FILE = 10
LARGEST_COPY = 256 << 10
KEPT_COPIES = 1000
SETTLED = 0.05  # seconds after which a further change shows in the time of modification
HALF_WRITTEN = 2.0  # seconds for which an emptied file may be one that is being written

Stamp = tuple[int, int, int]  # time of modification, size, inode
Identity = tuple[str, str, str]  # kind, namespace, name


class Version(Struct, frozen=True, gc=False):
    """A document that made sense, and what came of it."""

    identity: Identity
    objects: tuple[Object, ...]


class Sheet(Struct, frozen=True, gc=False):
    """One file as it was last read."""

    stamp: Stamp | None  # None: to be read again at the next look
    versions: tuple[Version, ...] = ()
    problems: tuple[Problem, ...] = ()
    hidden: int = 0  # problems that were counted only


class Files:
    def __init__(self, folder: Path, clock: Callable[[], Instant], wall: Callable[[], Wall]) -> None:
        self._folder = folder
        self._clock = clock
        self._wall = wall
        self._sheets: dict[str, Sheet] = {}
        self._copies = Copies(state_folder(folder) / "lastgood")
        self._unreadable: tuple[Problem, ...] = ()
        self._problems_kept = 0
        self.complete = False  # every file has been read at least once

    def look(self) -> bool:
        """Reads what changed. Whether anything did."""
        try:
            stamps = _stamps(self._folder)
        except OSError as error:
            before, self._unreadable = (
                self._unreadable,
                (_problem(self._folder, f"cannot be listed: {error.strerror}", "make the folder readable"),),
            )
            return before != self._unreadable
        changed = bool(self._unreadable) | self._drop(stamps)
        self._unreadable = ()
        return self._read_changed(stamps) or changed

    def objects(self) -> Iterator[Object]:
        """In the order of the files' names."""
        for name in sorted(self._sheets):
            for version in self._sheets[name].versions:
                yield from version.objects

    def problems(self) -> tuple[Problem, ...]:
        found = [problem for name in sorted(self._sheets) for problem in self._sheets[name].problems]
        hidden = sum(sheet.hidden for sheet in self._sheets.values())
        if hidden:
            found.append(
                _problem(self._folder, f"{hidden} more problems are not shown", "slackwater check lists them all")
            )
        return (*self._unreadable, *self._copies.problems, *found)

    def _drop(self, stamps: dict[str, Stamp]) -> bool:
        gone = [name for name in self._sheets if name not in stamps]
        for name in gone:
            self._problems_kept -= len(self._sheets.pop(name).problems)
        self._copies.keep_only(stamps)
        return bool(gone)

    def _read_changed(self, stamps: dict[str, Stamp]) -> bool:
        began, changed = self._clock(), False
        for name, stamp in stamps.items():
            before = self._sheets.get(name)
            if before is not None and before.stamp == stamp:
                continue
            if self._clock() - began > LONGEST_LOOK:
                return changed
            changed |= self._read(name, stamp, before)
        # Only here, after a listing that was gone through to its end, does absence mean anything.
        finished = not self.complete
        self.complete = True
        return changed or finished

    def _read(self, name: str, stamp: Stamp, before: Sheet | None) -> bool:
        """Whether what the file says has changed."""
        if before is not None and before.versions and self._being_written(stamp):
            return False
        path = self._folder / name
        try:
            raw = _content(path, stamp)
        except FileNotFoundError:
            return False  # gone since it was listed: the next look drops it
        except OSError as error:
            problem = _problem(
                path, f"cannot be read: {error.strerror or error}", "make it a readable file of moderate size"
            )
            sheet = self._sheet(stamp, self._last_good(name, before), (problem,), before)
        else:
            sheet = self._understood(name, stamp, raw, before)
        self._sheets[name] = sheet
        return before is None or (before.versions, before.problems, before.hidden) != (
            sheet.versions,
            sheet.problems,
            sheet.hidden,
        )

    def _being_written(self, stamp: Stamp) -> bool:
        """Whoever writes in place empties first; for that moment the file's documents are not deleted."""
        modified, size, _ = stamp
        return size == 0 and 0 <= self._wall() - modified / 1e9 < HALF_WRITTEN

    def _understood(self, name: str, stamp: Stamp, raw: bytes, before: Sheet | None) -> Sheet:
        items = understood(raw, str(self._folder / name))
        problems = tuple(problem for item in items for problem in item.problems)
        last: tuple[Version, ...] = ()
        if any(problem.severity is Severity.ERROR for problem in problems):
            last = self._last_good(name, before)
        else:
            self._copies.save(name, raw)
        # A change within the clock's grain leaves the time of modification as it is, so a fresh file is looked at once more.
        fresh = abs(self._wall() - stamp[0] / 1e9) < SETTLED
        return self._sheet(None if fresh else stamp, tuple(with_last_good(items, last)), problems, before)

    def _last_good(self, name: str, before: Sheet | None) -> tuple[Version, ...]:
        if before is not None:
            return before.versions
        copy = self._copies.get(name)
        return tuple(with_last_good(understood(copy, str(self._folder / name)), ())) if copy else ()

    def _sheet(
        self, stamp: Stamp | None, versions: tuple[Version, ...], problems: tuple[Problem, ...], before: Sheet | None
    ) -> Sheet:
        self._problems_kept -= len(before.problems) if before is not None else 0
        room = max(0, min(PROBLEMS_OF_ONE_FILE, KEPT_PROBLEMS - self._problems_kept))
        shown = problems[:room]
        self._problems_kept += len(shown)
        return Sheet(stamp, versions, shown, len(problems) - len(shown))


class Copies:
    """Of each file that was wholly good, its text. Bounded; where it cannot be written, that is a problem and nothing else suffers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = {path.name for path in folder.glob("*")}
        self.problems: tuple[Problem, ...] = ()

    def get(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes() if name in self._names else b""
        except OSError:
            return b""  # no copy is no copy, for whatever reason

    def save(self, name: str, raw: bytes) -> None:
        too_many = name not in self._names and len(self._names) >= KEPT_COPIES
        if too_many or len(raw) > LARGEST_COPY or self.get(name) == raw:
            return
        try:
            replace(self._folder / name, raw)
        except OSError as error:
            self._failed(error)
        else:
            self._names.add(name)
            self.problems = ()

    def keep_only(self, names: Iterable[str]) -> None:
        for name in self._names.difference(names):
            self._names.discard(name)
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError as error:
                self._failed(error)

    def _failed(self, error: OSError) -> None:
        self.problems = (
            _problem(
                self._folder, f"the last good versions cannot be kept: {error.strerror}", "make the folder writable"
            ),
        )


def read_once(folder: Path) -> Iterator[Object]:
    """What makes sense in a folder just now, and nothing is written or remembered. Raises OSError."""
    for name, stamp in _stamps(folder).items():
        for item in understood(_content(folder / name, stamp), str(folder / name)):
            yield from item.objects


def understood(raw: bytes, path: str) -> tuple[Item, ...]:
    text = decode(raw, path)
    if isinstance(text, Problem):
        return (Item(file=path, index=0, line=0, problems=(text,)),)
    return load(text, path).items


def with_last_good(items: Iterable[Item], before: Iterable[Version]) -> Iterator[Version]:
    """
    What a file is taken to say: each document that makes sense, and for one that does not what it said before. One that cannot be read at all has no name, so for it stands
    whatever the file had and has no longer.
    """
    known = {version.identity: version for version in before}
    nameless = False
    for item in items:
        broken = any(problem.severity is Severity.ERROR for problem in item.problems)
        last = known.pop(_identity(item), None)
        nameless |= broken and not item.name
        if item.objects:
            yield Version(
                _identity(item), _with_last_rules(item.objects, last) if broken and last is not None else item.objects
            )
        elif broken and last is not None:
            yield last
    if nameless:
        yield from known.values()


def _identity(item: Item) -> Identity:
    return item.kind, item.namespace or "default", item.name


def _with_last_rules(objects: tuple[Object, ...], last: Version) -> tuple[Object, ...]:
    """A rule that is left out because it is wrong stays what it was; one that was taken out of a sound policy is gone."""
    before = {one.name: one for one in last.objects if isinstance(one, Policy)}
    return tuple(
        _with_rules_of(one, before[one.name]) if isinstance(one, Policy) and one.name in before else one
        for one in objects
    )


def _with_rules_of(policy: Policy, before: Policy) -> Policy:
    named = {rule.name for rule in policy.rules}
    return msgspec.structs.replace(
        policy, rules=(*policy.rules, *(rule for rule in before.rules if rule.name not in named))
    )


def _stamps(folder: Path) -> dict[str, Stamp]:
    found: dict[str, Stamp] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if not is_manifest(entry.name):
                continue
            try:
                facts = entry.stat()
            except OSError:
                continue  # gone since it was listed, or a link that leads nowhere
            if stat.S_ISREG(facts.st_mode):
                found[entry.name] = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
    return dict(sorted(found.items()))


def _content(path: Path, stamp: Stamp) -> bytes:
    if stamp[1] > LARGEST:
        raise OSError(0, f"it has {stamp[1]} bytes and a manifest has at most {LARGEST}")
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _problem(path: Path, message: str, remedy: str) -> Problem:
    return Problem(severity=Severity.ERROR, file=str(path), line=0, field="", value="", message=message, remedy=remedy)
