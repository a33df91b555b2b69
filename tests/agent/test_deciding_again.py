"""The journal of a real run, decided again from its records: the same plans, byte for byte. This is the ground that replay stands on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from station import HIGH, LOW, Station, eventually

from slackwater.agent import carried, observing
from slackwater.agent.carried import Carried, Page
from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.configuration_layers import load
from slackwater.agent.observing import Seen
from slackwater.agent.settings import settings_of
from slackwater.agent.tick import judged, planned
from slackwater.host.edge import Survey
from slackwater.host.weights import v1_weight, v2_weight
from slackwater.journal.edge import Entry
from slackwater.journal.reading import Reader
from slackwater.metrics.builtin import BUILTIN

pytestmark = pytest.mark.host


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    one = Station(tmp_path)
    one.pod("etl")
    one.pod("web", priority=0)
    one.action("throttle", throttle={"cpuThrottle": {}})
    one.policy("throttle", LOW)
    one.lab.up()
    yield one
    one.close()


def seen_in(entry: Entry, page: Page, configuration: Configuration) -> Seen:
    given = page.given
    assert given is not None
    assert given.settings == settings_of(configuration)
    survey = Survey(
        backend=given.backend,
        kernel="",
        cpu=given.capacity.cpu,
        memory=given.capacity.memory,
        root="",
        layout="",
        knobs=(),
    )
    return Seen(
        now=entry.instant,
        wall=entry.at,
        view=entry.view,
        sample=entry.sample,
        looked=entry.sample is not None,
        survey=survey,
        capacity=given.capacity,
        configuration=configuration,
        mode=Mode(given.mode),
        mode_why=given.mode_why,
        looked_at=entry.sample.settings if entry.sample else {},
    )


def canonical(page: bytes) -> bytes:
    """In one spelling: a whole number that was computed is written 1949, and 1949.0 once it has been read back."""
    return carried.encoded(carried.decoded(page))


def decided_again(entries: list[Entry], configuration: Configuration) -> Iterator[tuple[bytes, bytes, int]]:
    """What was written, what comes out now, and how many decisions were among it."""
    held = Carried()
    for entry in entries:
        page = carried.decoded(entry.memory)
        if page.given is None:
            return  # the farewell of the agent: nothing was decided in it
        seen = seen_in(entry, page, configuration)
        held = observing.taken_in(held, seen, BUILTIN)
        weight_of = v2_weight if page.given.backend == "cgroup2" else v1_weight
        plan = planned(seen, held, judged(seen, held), BUILTIN, weight_of)
        again = carried.encoded(Page(plan.memory, page.given))
        yield canonical(entry.memory), canonical(again), len(plan.decisions)
        assert [one.id for one in plan.decisions] == [one.id for one in entry.decisions]
        assert [one.candidates for one in plan.decisions] == [one.candidates for one in entry.decisions]
        held = replace(held, memory=page.memory)


def test_a_real_run_decided_again_from_its_journal_gives_the_same_plans_byte_for_byte(station: Station) -> None:
    agent = station.agent()
    eventually(lambda: any(d["operations"] for d in station.decisions()), "a squeeze")
    station.policy("throttle", HIGH)
    eventually(lambda: any(d["action"] == "restore" for d in station.decisions()), "something given back")
    station.end(agent)
    with Reader(station.folder / ".slackwater" / "journal.db") as reader:
        entries = list(reader.entries())
    configuration = load(flags={"tickSeconds": "0.5"}, environment={})
    again = list(decided_again(entries, configuration))
    assert [now for _, now, _ in again] == [was for was, _, _ in again]
    assert sum(count for _, _, count in again) >= 2
