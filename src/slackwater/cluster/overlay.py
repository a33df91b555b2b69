"""
A folder's pods as an API server would show them: the manifests, with what the lab says became of them and what was asked for by eviction.

Pure. A pod that the lab runs and whose manifest is gone stays, as a pod does that is being deleted, until the lab lets go of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from slackwater.api.objects import Container, Pod, QosClass
from slackwater.cluster.ledger import EvictionNote, RunningContainer, RunningPod

CLASSES = {qos_class.title: qos_class for qos_class in QosClass}


def pods(
    manifests: Iterable[Pod],
    departed: Mapping[str, Pod],
    running: Iterable[RunningPod],
    note_of: Callable[[str], EvictionNote | None],
) -> Iterator[Pod]:
    """`departed` are the last versions of pods whose manifests are gone, by uid."""
    reported = {status.uid: status for status in running}
    for pod in manifests:
        status = reported.pop(pod.uid, None)
        yield _evicted(pod if status is None else _as_reported(pod, status), note_of(pod.uid))
    for status in reported.values():
        yield _evicted(_as_reported(departed.get(status.uid) or _unknown(status), status), note_of(status.uid))


def _as_reported(pod: Pod, status: RunningPod) -> Pod:
    seen = {container.name: container for container in status.containers}
    return msgspec.structs.replace(
        pod,
        phase=status.phase,
        started_at=status.started_at,
        deleted_at=status.deleted_at if status.deleted_at is not None else pod.deleted_at,
        grace=status.grace if status.grace is not None else pod.grace,
        containers=tuple(_container(container, seen.get(container.name)) for container in pod.containers),
    )


def _container(container: Container, seen: RunningContainer | None) -> Container:
    if seen is None:
        return msgspec.structs.replace(container, id=None, running=False, started_at=None)
    return msgspec.structs.replace(container, id=seen.id, running=seen.running, started_at=seen.started_at)


def _evicted(pod: Pod, note: EvictionNote | None) -> Pod:
    """From the moment it is asked for, an evicted pod is terminating."""
    if note is None or pod.deleted_at is not None:
        return pod
    return msgspec.structs.replace(pod, deleted_at=note.at, grace=note.grace if note.grace is not None else pod.grace)


def _unknown(status: RunningPod) -> Pod:
    """All that is known of a pod whose manifest we have never seen."""
    containers = tuple(Container(name=container.name) for container in status.containers)
    return Pod(
        namespace=status.namespace,
        name=status.name,
        uid=status.uid,
        qos_class=CLASSES.get(status.qos_class, QosClass.BEST_EFFORT),
        containers=containers,
    )
