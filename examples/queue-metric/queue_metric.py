"""
Files that wait in a spool folder, as a metric of Slackwater.

Batch pods put files into a folder from which a service takes them, each named after the pod that made it:
`NAMESPACE_POD_ANYTHING`. When the service falls behind, the pods that have most files waiting are squeezed first, and
so far that what they add less makes up for the gap. The folder is $QUEUE_FOLDER; it is read by a collector, outside the
agent's tick.
"""

import os
from collections import Counter
from pathlib import Path

from slackwater.api.objects import Pod
from slackwater.api.units import Amount, Seconds
from slackwater.metrics.collector import Collector
from slackwater.metrics.metric import PRECISE, Ability, Metric, OwnUnit, Ranking
from slackwater.metrics.scene import Scene
from slackwater.metrics.steps import Standing, Step, down, up

NAME = "queue_length"
FOLDER, DEFAULT_FOLDER = "QUEUE_FOLDER", "/var/spool/queue"

Waiting = tuple[tuple[str, int], ...]  # how many files of which pod


def count() -> Waiting | None:
    """None where there is no folder: nothing is known then, which is not the same as an empty one."""
    folder = Path(os.environ.get(FOLDER, DEFAULT_FOLDER))
    if not folder.is_dir():
        return None
    makers = Counter("/".join(name.split("_", 2)[:2]) for name in (file.name for file in folder.iterdir()))
    return tuple(sorted(makers.items()))


COLLECTOR = Collector(name=NAME, collect=count, every=Seconds(1.0))


def waiting(scene: Scene) -> dict[str, int] | None:
    collected = COLLECTOR.newest(scene)
    return dict(collected.value) if collected and isinstance(collected.value, tuple) else None


def of_node(scene: Scene) -> Amount | None:
    files = waiting(scene)
    return None if files is None else Amount(sum(files.values()))


def of_pod(scene: Scene, pod: Pod) -> Amount | None:
    files = waiting(scene)
    return None if files is None else Amount(files.get(pod.key, 0))


def most_waiting_first(scene: Scene) -> Ranking | None:
    files = waiting(scene)
    return None if files is None else lambda pod: (-files.get(pod.key, 0),)


def squeezed(scene: Scene, pod: Pod, standings: tuple[Standing, ...]) -> Step | None:
    """Who may use half as much CPU adds half as many files."""
    quotas = down(standings)
    taken = sum(one.level - quotas[one.container] for one in standings) / sum(one.usage for one in standings)
    return Step(quotas=quotas, amounts={NAME: Amount((of_pod(scene, pod) or 0.0) * taken)})


def restored(scene: Scene, pod: Pod, standings: tuple[Standing, ...]) -> Step | None:
    quotas, level = up(standings), sum(one.level for one in standings)
    given = sum(quotas.values()) - level
    return Step(quotas=quotas, amounts={NAME: Amount((of_pod(scene, pod) or 0.0) * given / level)})


def metrics() -> Metric:
    return Metric(
        name=NAME,
        unit=OwnUnit("files"),
        description="files that wait in the spool folder",
        priority=5,
        of_node=of_node,
        of_pod=of_pod,
        ranking=most_waiting_first,
        throttle=PRECISE,
        throttle_step=squeezed,
        restore_step=restored,
        evict=Ability(able=False, quantified=False, why="what waits already goes on waiting when its pod is gone"),
        part_of_node=False,
        collector=COLLECTOR,
    )
