"""How packages' metrics come in: looked at one by one, each refusal with its reasons, and nobody's fault is another's."""

from collections.abc import Callable
from typing import Any

import pytest
from plugs import FILES, STEPWISE, Clock, entry, loaded, metric, refusing, silent

from slackwater.agent.guarding import Guard
from slackwater.agent.hanging import LeftOut
from slackwater.agent.packages import Entry, load
from slackwater.api.objects import AvoidanceAction, CpuThrottle, Node, Policy, Rule
from slackwater.api.units import Bytes, Millicores, Seconds, Wall
from slackwater.judge.rules import rules_in_force
from slackwater.metrics.builtin import BUILTIN
from slackwater.metrics.collector import Collector
from slackwater.metrics.metric import UNABLE, OwnUnit
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View


def collector(**fields: Any) -> Collector:
    given: dict[str, Any] = {"name": "spool", "collect": lambda: 1, "every": Seconds(1)}
    return Collector(**{**given, **fields})


REFUSED = [
    # what is wrong with it, and what is said
    ({"name": "Files"}, "name 'Files': lower-case letters"),
    ({"name": ""}, "name '': lower-case letters"),
    ({"name": 7}, "name 7: lower-case letters"),
    ({"name": "cpu_total_usage"}, "this is a built-in metric"),
    ({"unit": "files"}, "unit 'files': a Unit is wanted, or an OwnUnit"),
    ({"unit": OwnUnit("")}, "an OwnUnit of 1 to 20"),
    ({"unit": OwnUnit("a\nb")}, "an OwnUnit of 1 to 20"),
    ({"priority": 11}, "priority 11: a whole number from 0 to 10"),
    ({"priority": -1}, "priority -1"),
    ({"priority": 5.0}, "priority 5.0"),
    ({"priority": True}, "priority True"),
    ({"description": None}, "description None: a text is wanted"),
    ({"of_node": 5}, "of_node: a function is wanted"),
    ({"ranking": "first"}, "ranking: a function is wanted, or None"),
    ({"from_cpu": lambda *_: 1.0}, "from_cpu: only built-in metrics"),
    ({"collector": collector(every=0)}, "collector.every 0"),
    ({"collector": collector(every="1s")}, "collector.every '1s'"),
    ({"collector": collector(name="A b")}, "collector.name 'A b'"),
    ({"collector": collector(collect=None)}, "a Collector with a function is wanted"),
    ({"collector": 5}, "a Collector with a function is wanted"),
    ({"throttle": True}, "an Ability each is wanted"),
    ({"throttle": UNABLE}, "able where there is a throttle_step, and only there"),
    ({"throttle_step": None, "restore_step": None}, "able where there is a throttle_step"),
    ({"throttle": UNABLE, "throttle_step": None}, "without a throttle_step there is nothing to give back"),
    ({"of_pod": None}, "neither evict_release nor of_pod"),
    ({"acts_through": "cpu_load_1m", "throttle": STEPWISE}, "cpu_total_usage or memory_total_usage is wanted"),
    ({"acts_through": "cpu_total_usage"}, "would never be asked"),
]


@pytest.mark.parametrize(("fields", "said"), REFUSED)
def test_a_metric_that_is_wrong_is_refused_with_the_reason(fields: dict[str, Any], said: str) -> None:
    name = fields.get("name", FILES)
    found = loaded(entry(metric(**{"name": name, **fields}), metric("another")))
    assert said in found.packages[0].refused[0]
    assert [one.name for one in found.metrics] == ["another"]


def test_a_good_one_stands_beside_the_built_in_ones_with_its_package() -> None:
    found = loaded(entry(metric(), package="queue-metric", version="2.1"))
    taken = found.catalogue.get(FILES)
    assert taken is not None
    assert taken.package == "queue-metric 2.1"
    assert found.catalogue.metrics.keys() == {*BUILTIN.metrics, FILES}


def test_an_entry_may_give_one_metric_or_several() -> None:
    one = Entry("one", "1", "metrics", lambda: lambda: metric("single"))
    several = entry(metric("first"), metric("second"), package="two")
    assert [given.name for given in loaded(one, several).metrics] == ["single", "first", "second"]


def test_of_two_that_bring_the_same_name_the_second_is_refused() -> None:
    found = loaded(entry(metric(), package="b"), entry(metric(), package="a"))
    assert [one.package for one in found.metrics] == ["a 1.0"]
    assert "there is one of this name already, of package a 1.0" in found.packages[1].refused[0]


def test_two_collectors_of_one_name_are_refused() -> None:
    found = loaded(
        entry(metric("first", collector=collector()), package="a"),
        entry(metric("second", collector=collector(every=Seconds(2))), package="b"),
    )
    assert "there is another collector named spool" in found.packages[1].refused[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (refusing(ImportError("no module named queue")), "cannot be loaded: entry metrics raised ImportError"),
        (refusing(SystemExit(1)), "raised SystemExit: 1"),
        (Entry("files", "1.0", "metrics", lambda: lambda: 7), "a int was given; a Metric or several are wanted"),
        (Entry("files", "1.0", "metrics", lambda: lambda: None), "a NoneType was given"),
    ],
)
def test_one_that_cannot_be_loaded_brings_nothing_and_hurts_nobody(given: Entry, said: str) -> None:
    found = loaded(given, entry(metric("another"), package="well"))
    assert said in found.packages[0].error
    assert [one.name for one in found.metrics] == ["another"]


def test_what_is_no_metric_is_refused() -> None:
    assert "it is no Metric" in loaded(entry("files", metric())).packages[0].refused[0]


def hung(version: str) -> dict[str, LeftOut]:
    return {"files": LeftOut(version=version, at=Wall(0.0))}


def test_one_that_an_agent_hung_in_is_not_even_asked() -> None:
    found = loaded(refusing(AssertionError("asked")), left_out=hung("1.0"))
    assert "is left out: an agent hung in it" in found.packages[0].error


def test_in_another_version_it_is_tried_again() -> None:
    found = loaded(entry(metric(), version="1.1"), left_out=hung("1.0"))
    assert [one.name for one in found.metrics] == [FILES]
    assert found.readmitted(hung("1.0")) == {"files"}
    assert loaded(entry(metric()), left_out=hung("1.0")).readmitted(hung("1.0")) == set()


def test_whoever_is_asked_is_named_beforehand() -> None:
    said: list[str] = []
    load((entry(metric()),), Guard(silent, Clock()), {}, said.append)
    assert said == ["files 1.0", ""]


@pytest.mark.parametrize(
    ("brings", "said"),
    [
        (loaded, "there is no metric named 'files_waiting'"),
        (lambda: loaded(entry(metric(priority=11))), "package files 1.0 brings one that is refused: priority 11"),
        (lambda: loaded(refusing(ImportError("gone"))), "package files 1.0 cannot be loaded"),
        (lambda: loaded(entry(metric()), left_out=hung("1.0")), "package files 1.0 is left out"),
    ],
)
def test_a_rule_that_names_what_is_not_there_says_why(brings: Callable[[], Any], said: str) -> None:
    rule = Rule(name="files", action="squeeze", metric=FILES, value=1.0)
    action = AvoidanceAction(name="squeeze", cpu_throttle=CpuThrottle())
    view = View(
        complete=True,
        node=Node(name="node"),
        policies=(Policy(kind="NodeQOS", name="waterline", rules=(rule,)),),
        actions={"squeeze": action},
    )
    capacity = Capacity(Millicores(8000), Bytes(1 << 30))
    (in_force,) = rules_in_force(view, brings().catalogue, capacity)
    assert said in in_force.error
