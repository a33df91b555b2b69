"""
Evictions in a folder cluster: one note a pod, left for whoever runs the pods.

From the moment a note lies there the pod counts as terminating, as it would with an API server. A note stays as long as the pod is spoken of anywhere, so that an evicted
pod does not start again; once neither a manifest nor the lab knows it, the note goes.
"""

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from slackwater.api.objects import Pod
from slackwater.api.units import Seconds, Wall
from slackwater.cluster.ledger import EvictionNote, evictions_folder, replace
from slackwater.decide.plan import Answer, EvictionAnswer


class Evictions:
    def __init__(self, cluster: Path) -> None:
        self._folder = evictions_folder(cluster)
        self._notes = {note.uid: note for note in _read(self._folder)}
        self.version = 0  # grows with every change

    def note(self, uid: str) -> EvictionNote | None:
        return self._notes.get(uid)

    def ask(self, pod: Pod, grace: Seconds | None, why: str, at: Wall) -> EvictionAnswer:
        if pod.uid in self._notes:
            return EvictionAnswer(Answer.ACCEPTED, "already asked for")
        note = EvictionNote(namespace=pod.namespace, name=pod.name, uid=pod.uid, grace=grace, at=at, why=why)
        try:
            replace(self._folder / f"{pod.uid}.json", msgspec.json.encode(note))
        except OSError as error:
            return EvictionAnswer(Answer.FAILED, f"the note could not be written: {error}")
        self._notes[pod.uid] = note
        self.version += 1
        return EvictionAnswer(Answer.ACCEPTED)

    def look_again(self) -> None:
        """Whoever runs the pods may have taken a note away: then the pod may start again."""
        gone = [uid for uid in self._notes if not (self._folder / f"{uid}.json").exists()]
        for uid in gone:
            del self._notes[uid]
        self.version += bool(gone)

    def forget_all_but(self, spoken_of: Collection[str]) -> None:
        for uid in [uid for uid in self._notes if uid not in spoken_of]:
            del self._notes[uid]
            self.version += 1
            # A note that cannot be taken away names a pod that nobody knows: it does no harm, and the next start tries again.
            with contextlib.suppress(OSError):
                (self._folder / f"{uid}.json").unlink(missing_ok=True)


def _read(folder: Path) -> Iterator[EvictionNote]:
    for path in sorted(folder.glob("*.json")):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=EvictionNote)
        except (OSError, msgspec.MsgspecError):
            continue  # not one of ours
