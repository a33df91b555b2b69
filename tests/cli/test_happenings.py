"""What `lab status` says happened: one line for one thing, with its time."""

from slackwater.api.units import Wall
from slackwater.cli.happenings import happenings
from slackwater.cluster.edge import Event


def event(at: float, about: str, reason: str = "Evicted", message: str = "memory", *, warning: bool = False) -> Event:
    return Event(at=Wall(at), reason=reason, message=message, object=about, warning=warning)


def lines(*events: Event) -> list[str]:
    return [str(one) for one in happenings(events)]


def test_an_eviction_told_on_the_node_on_the_pods_and_by_the_lab_is_one_line() -> None:
    told = lines(
        event(0, "Node/n"),
        event(0, "Pod/default/a"),
        event(0, "Pod/default/b"),
        event(1, "Pod/default/a", message="the lab's words"),
    )
    assert told == ["1970-01-01T00:00:00Z   Pod/default/a, Pod/default/b: Evicted: memory"]


def test_what_concerns_the_node_alone_names_the_node() -> None:
    assert lines(event(60, "Node/n", "SchedulingDisabled", warning=True)) == [
        "1970-01-01T00:01:00Z ! Node/n: SchedulingDisabled: memory"
    ]


def test_the_same_much_later_and_another_thing_meanwhile_have_lines_of_their_own() -> None:
    events = event(0, "Pod/default/a"), event(2, "Pod/default/a", "Started"), event(60, "Pod/default/a")
    assert len(lines(*events)) == 3


def test_two_pods_with_words_of_their_own_are_two_lines() -> None:
    assert len(lines(event(0, "Pod/default/a", message="x"), event(0, "Pod/default/b", message="y"))) == 2
