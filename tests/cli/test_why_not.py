"""`slackwater explain` where nothing was done, and with --why-not: how the node stands, from a journal alone."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from rich.console import Console

from slackwater.api.objects import AvoidanceAction, CpuThrottle, Policy, Rule
from slackwater.api.units import Bytes, Instant, Seconds, Wall
from slackwater.cli import last_tick, told, told_tree
from slackwater.cli.explain import explain
from slackwater.cli.folds import folded
from slackwater.cli.last_tick import LastTick
from slackwater.decide.plan import ActionKind, Considered, Decision, Operation
from slackwater.journal.edge import Entry
from slackwater.journal.reading import Reader
from slackwater.journal.store import SqliteJournal
from slackwater.sim.world import BEGINNING, Simulation
from slackwater.snapshot.view import View

NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z


def node(bad: int = 1) -> Simulation:
    """One rule, and nobody there."""
    rule = Rule(name="cpu", action="squeeze", metric="cpu_total_usage", value=6000.0, avoidance_threshold=bad)
    simulation = Simulation()
    simulation.put(
        Policy(kind="NodeQOS", name="waterline", rules=(rule,)),
        AvoidanceAction(name="squeeze", cpu_throttle=CpuThrottle()),
    )
    simulation.run(3)
    return simulation


def journal(tmp_path: Path) -> SqliteJournal:
    path = tmp_path / ".slackwater" / "journal.db"
    return SqliteJournal(path, max_age=Seconds(1e12), max_bytes=Bytes(1 << 30), wall=lambda: Wall(0))


def kept(tmp_path: Path, simulation: Simulation, *decisions: Decision) -> str:
    """A folder cluster whose journal ends as the simulated one does."""
    last = simulation.journal.last()
    assert last is not None
    assert last.view is not None
    writing = journal(tmp_path)
    writing.commit(
        Entry(
            at=last.at,
            instant=last.instant,
            sample=None,
            view=last.view,
            memory=last.memory,
            decisions=tuple(decisions),
        )
    )
    writing.close()
    return f"folder:{tmp_path}"


def nothing_taken(number: int, *, bad: int | None = None, rule: str = "cpu", at: float | None = None) -> Decision:
    """One tick of a rule that is bad and finds nobody; a tick a second."""
    return Decision(
        id=f"{number}-{rule}",
        at=Wall(NOON + number if at is None else at),
        instant=Instant(number),
        action=ActionKind.THROTTLE,
        preview=False,
        policy="waterline",
        rule=rule,
        metric="cpu_total_usage",
        unit="millicores",
        value=7000.0 + number,
        waterline=6000.0,
        gap=1100.0,
        bad_ticks=number if bad is None else bad,
        stopped="nobody left who may be squeezed further",
        candidates=(Considered("default/web", False, "not allowed: no PodQOS, and not offline work"),),
    )


def squeezed(number: int) -> Decision:
    one = Operation(pod="default/etl", uid="u", container="main", knob="quota", before=None, after=520)
    return Decision(
        id=str(number),
        at=Wall(NOON + number),
        instant=Instant(number),
        action=ActionKind.THROTTLE,
        preview=False,
        policy="waterline",
        rule="cpu",
        metric="cpu_total_usage",
        unit="millicores",
        value=7000.0,
        waterline=6000.0,
        bad_ticks=number,
        operations=(one,),
    )


def run(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(explain, list(arguments), env={"SLACKWATER_CONFIG": None})


def test_where_nothing_was_done_the_node_says_how_it_stands(tmp_path: Path) -> None:
    result = run(["--cluster", kept(tmp_path, node(bad=3))])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Nothing was done; the newest tick in the journal is of 2026-03-02T08:00:30.000Z")
    assert lines[1].startswith("How it st")
    assert lines[2:] == [
        "  rules:",
        "    waterline/cpu (throttles): idle, node CPU 0 cores, 6 under its waterline of 6 (it acts after 3 ticks above)",
        "  nothing is held back",
        "  who may be touched:",
        "    action squeeze finds no running pod to throttle",
    ]


def test_an_old_tick_asks_whether_an_agent_runs(tmp_path: Path) -> None:
    kept(tmp_path, node())
    with Reader(tmp_path / ".slackwater" / "journal.db") as reader:
        last = last_tick.last_tick(reader, "")
    assert "does an agent run?" not in told.standing_head(last, Wall(BEGINNING + 60))
    assert (
        "How it stood at 2026-03-02T08:00:30.000Z, and no tick has come in the 2 h since (does an agent run?)"
        in told.standing_head(last, Wall(BEGINNING + 30 + 7200))
    )


def test_after_a_farewell_the_last_tick_before_it_is_told(tmp_path: Path) -> None:
    simulation = node()
    where = kept(tmp_path, simulation)
    assert simulation.stop()
    kept(tmp_path, simulation)
    result = run(["--cluster", where])
    head = "How it stood at 2026-03-02T08:00:30.000Z, before the agent ended at 2026-03-02T08:00:30.000Z and gave everything back:"
    assert head in result.stdout
    assert "waterline/cpu (throttles): idle" in result.stdout


def test_why_not_is_told_beside_what_was_done(tmp_path: Path) -> None:
    where = kept(tmp_path, node(), squeezed(1))
    assert len(run(["--cluster", where]).stdout.splitlines()) == 1
    assert "nothing is held back" in run(["--cluster", where, "--why-not"]).stdout


def test_acts_that_took_nothing_are_no_answer_to_why_nothing_was_done(tmp_path: Path) -> None:
    where = kept(tmp_path, node(), nothing_taken(1))
    assert "\nHow it st" in run(["--cluster", where]).stdout


def test_of_a_pod_that_was_only_looked_at_it_is_told_why(tmp_path: Path) -> None:
    act = squeezed(1)
    looked_at = Considered("default/web", False, "not allowed: no PodQOS, and not offline work")
    where = kept(tmp_path, node(), replace(act, candidates=(looked_at,)))
    assert "there is no pod web on this node" in run(["web", "--cluster", where]).stdout
    assert "How it st" not in run(["etl", "--cluster", where]).stdout


def test_the_document_has_the_standing_only_when_it_is_asked_for(tmp_path: Path) -> None:
    where = kept(tmp_path, node(bad=3))
    assert json.loads(run(["--cluster", where, "-o", "json"]).stdout) == {"decisions": []}
    standing = json.loads(run(["--cluster", where, "-o", "json", "--why-not"]).stdout)["standing"]
    (rule,) = standing["rules"]
    assert (standing["at"], standing["ended_at"], standing["mode"]) == ("2026-03-02T08:00:30.000Z", None, "act")
    fixed = ("policy", "rule", "state", "value", "waterline", "distance", "bad_ticks_needed", "missing_s", "error")
    assert [rule[key] for key in fixed] == ["waterline", "cpu", "idle", 0, 6000.0, 6000.0, 3, None, ""]
    assert standing["giving_back"] == {"held": [], "obstacles": []}
    assert "nothing is held back" in standing["sentences"]


def test_a_tick_of_another_version_is_said_not_to_be_understood(tmp_path: Path) -> None:
    writing = journal(tmp_path)
    view = View(node=node().cluster.view(Instant(0)).node)
    for memory, words in (
        (b"x", "another version wrote"),
        (b'{"memory":{}}', "the newest entry in the journal is the agent's farewell"),
    ):
        writing.commit(Entry(at=Wall(NOON), instant=Instant(0), sample=None, view=view, memory=memory))
        told_why = f"Why cannot be told: {words}"
        assert told_why in run(["--cluster", f"folder:{tmp_path}"]).stdout
        document = json.loads(run(["--cluster", f"folder:{tmp_path}", "--why-not", "-o", "json"]).stdout)
        assert document["standing"] is None
        assert document["standing_unknown"].startswith(words)
    writing.close()


def test_on_a_terminal_the_standing_is_a_tree(tmp_path: Path) -> None:
    kept(tmp_path, node())
    with Reader(tmp_path / ".slackwater" / "journal.db") as reader:
        last = last_tick.last_tick(reader, "")
    assert isinstance(last, LastTick)
    console = Console(file=io.StringIO(), width=200)
    told_tree.show_standing(last, BEGINNING, console)
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip("├└│─ ") for line in console.file.getvalue().splitlines()]
    assert lines == [
        "How it stands, as of 2026-03-02T08:00:30.000Z",
        "rules",
        "waterline/cpu (throttles): idle, node CPU 0 cores, 6 under its waterline of 6",
        "nothing is held back",
        "who may be touched",
        "action squeeze finds no running pod to throttle",
    ]


def test_the_same_act_that_takes_nothing_is_told_once_with_its_count_and_span(tmp_path: Path) -> None:
    where = kept(tmp_path, node(), *(nothing_taken(number) for number in range(1, 13)))
    line = run(["--cluster", where]).stdout.splitlines()[0]
    assert line.startswith(
        "2026-01-01T12:00:01.000Z throttle x 12, 12:00:01 - 12:00:12: node CPU 7.01 cores, waterline 6"
    )
    assert len(json.loads(run(["--cluster", where, "-o", "json"]).stdout)["decisions"]) == 12


def counts(*decisions: Decision) -> list[int]:
    return [fold.count for fold in folded(decisions)]


def test_an_act_that_takes_something_ends_the_fold() -> None:
    assert counts(nothing_taken(1), nothing_taken(2), squeezed(3), nothing_taken(4), nothing_taken(5)) == [2, 1, 2]


def test_two_rules_that_take_nothing_at_the_same_ticks_are_two_lines() -> None:
    both = (nothing_taken(number, rule=rule) for number in range(1, 5) for rule in ("a", "b"))
    assert counts(*both) == [4, 4]


def test_a_rule_that_was_good_in_between_begins_a_new_line() -> None:
    assert counts(nothing_taken(1), nothing_taken(2), nothing_taken(500, bad=1), nothing_taken(501, bad=2)) == [2, 2]
    assert counts(nothing_taken(1, bad=2), nothing_taken(9, bad=2)) == [1, 1]


def test_whoever_stops_for_another_reason_is_told_anew() -> None:
    braked = replace(nothing_taken(2), stopped="braked: evictionsPerHour 20")
    assert counts(nothing_taken(1), braked, nothing_taken(3)) == [2, 1]


def test_a_fold_over_midnight_names_the_days() -> None:
    (fold,) = folded([nothing_taken(1, at=NOON + 12 * 3600 - 5), nothing_taken(2, at=NOON + 12 * 3600 + 5)])
    assert told.title(fold) == "throttle x 2, 2026-01-01T23:59:55Z - 2026-01-02T00:00:05Z"


@pytest.mark.parametrize("flag", [[], ["--brief"]])
def test_what_is_told_fits_on_lines(tmp_path: Path, flag: list[str]) -> None:
    where = kept(tmp_path, node(), nothing_taken(1), nothing_taken(2))
    for line in run(["--cluster", where, "--why-not", *flag]).stdout.splitlines():
        assert "None" not in line
        assert line.strip()


def test_a_pod_that_nobody_ever_saw_is_said_to_be_unknown_and_one_that_was_looked_at_is_not(tmp_path: Path) -> None:
    looked_at = Considered("default/web", False, "not allowed: no PodQOS, and not offline work")
    where = kept(tmp_path, node(), replace(squeezed(1), candidates=(looked_at,)))
    unknown = "no pod of that name is in the journal"
    assert f"Nothing was done to nosuch; {unknown}; the newest tick" in run(["nosuch", "--cluster", where]).stdout
    assert unknown not in run(["web", "--cluster", where, "--since", "2026-10-01T00:00:00Z"]).stdout
