"""
What recording a quiet tick costs: 400 containers, the same pods as before, nothing decided.

`python benchmarks/journal.py [CONTAINERS]` prints the CPU time a commit and the bytes it adds, median and range over rounds, with checkpoints and forgetting included.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from slackwater.api.objects import Container, Node, Pod
from slackwater.api.units import Bytes, Instant, Nanoseconds, Seconds, Wall
from slackwater.journal.edge import Entry
from slackwater.journal.store import SqliteJournal
from slackwater.snapshot.counters import GroupCounters, HostSample, NodeCounters
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.view import View

ROUNDS, TICKS = 7, 200
MEMORY = bytes(range(256)) * 80


def main(containers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        journal = SqliteJournal(path, max_age=Seconds(TICKS * 2), max_bytes=Bytes(64 << 20), wall=lambda: Wall(0))
        costs = list(rounds(journal, ticks(containers)))
        journal.close()
        size = path.stat().st_size / (ROUNDS * TICKS)
    print(
        f"{containers} containers: {statistics.median(costs):.2f} ms CPU a commit ({min(costs):.2f}-{max(costs):.2f}), {size:.0f} bytes"
    )


def rounds(journal: SqliteJournal, entries: Iterator[Entry]) -> Iterator[float]:
    for _ in range(ROUNDS):
        batch = [next(entries) for _ in range(TICKS)]
        start = time.process_time()
        for entry in batch:
            journal.commit(entry)
        yield (time.process_time() - start) / TICKS * 1000


def ticks(containers: int) -> Iterator[Entry]:
    groups = [
        GroupId(f"{number % 200:032x}", sha256(bytes(str(number), "ascii")).hexdigest()) for number in range(containers)
    ]
    view = View(complete=True, node=Node(name="node"), pods=tuple(pod(group) for group in groups))
    for tick in range(ROUNDS * TICKS):
        sample = HostSample(
            at=Instant(tick * 10.0),
            wall=Wall(tick * 10.0),
            node=NodeCounters(),
            groups={group: counters(place, tick) for place, group in enumerate(groups)},
        )
        yield Entry(at=sample.wall, instant=sample.at, sample=sample, view=view, memory=MEMORY)


def pod(group: GroupId) -> Pod:
    return Pod(
        namespace="n", name=group.container[:8], uid=group.pod, containers=(Container(name="c", id=group.container),)
    )


def counters(place: int, tick: int) -> GroupCounters:
    cpu = Nanoseconds(place * 7_919_000_003 + tick * (place * 104_729 + 11))
    return GroupCounters(
        cpu=cpu, periods=tick * 100, throttled=tick * place % 97, memory_working_set=Bytes((place * 31 + tick) * 4096)
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
