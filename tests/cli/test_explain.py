"""`slackwater explain`: what people see, and the document that scripts are written against."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from slackwater.api.objects import Node
from slackwater.api.units import Bytes, Instant, Seconds, Wall
from slackwater.cli import told_tree
from slackwater.cli.explain import explain
from slackwater.cli.moments import since
from slackwater.cli.told import moment
from slackwater.decide.plan import ActionKind, Considered, Decision, Operation, Outcome
from slackwater.journal.edge import Entry
from slackwater.journal.store import SqliteJournal
from slackwater.snapshot.view import View

NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z


def throttled(at: float = NOON, pod: str = "batch/etl-7", preview: bool = False) -> Decision:
    return Decision(
        id=str(at),
        at=Wall(at),
        instant=Instant(at),
        action=ActionKind.THROTTLE,
        preview=preview,
        policy="waterline2",
        rule="cpu-usage",
        metric="cpu_total_usage",
        unit="millicores",
        value=6800.0,
        waterline=6000.0,
        gap=880.0,
        bad_ticks=2,
        also=("other/rule",),
        stopped="gap closed",
        candidates=(Considered(pod, True, "offline work"), Considered("web/web-1", False, "not allowed: no PodQOS")),
        operations=(
            Operation(
                pod=pod, uid="u7", container="main", knob="quota", before=None, after=520, expected=880.0, actual=850.0
            ),
            Operation(pod=pod, uid="u7", knob="weight", before=1024, after=102),
        ),
        outcome=Outcome(recovered=True, after_s=10.0),
    )


def cluster(tmp_path: Path, *decisions: Decision) -> str:
    """A folder cluster whose agent decided this."""
    path = tmp_path / ".slackwater" / "journal.db"
    journal = SqliteJournal(path, max_age=Seconds(1e12), max_bytes=Bytes(1 << 30), wall=lambda: Wall(0))
    view = View(node=Node(name="n"))
    journal.commit(Entry(at=Wall(NOON), instant=Instant(0), sample=None, view=view, memory=b"", decisions=decisions))
    journal.close()
    return f"folder:{tmp_path}"


def run(arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(explain, list(arguments), env={"SLACKWATER_CONFIG": None})


def test_the_document_has_what_scripts_rely_on(tmp_path: Path) -> None:
    result = run(["--cluster", cluster(tmp_path, throttled()), "-o", "json"])
    (told,) = json.loads(result.stdout)["decisions"]
    assert result.exit_code == 0
    fixed = {
        key: told[key]
        for key in ("at", "policy", "rule", "metric", "value", "waterline", "gap", "action", "preview", "also")
    }
    assert fixed == {
        "at": "2026-01-01T12:00:00.000Z",
        "policy": "waterline2",
        "rule": "cpu-usage",
        "metric": "cpu_total_usage",
        "value": 6800.0,
        "waterline": 6000.0,
        "gap": 880.0,
        "action": "throttle",
        "preview": False,
        "also": ["other/rule"],
    }
    assert told["sentence"].startswith("node CPU 6.8 cores, waterline 6 ")
    assert told["outcome"] == {"recovered": True, "after_s": 10.0}


def test_candidates_and_operations_are_told_in_the_metrics_unit(tmp_path: Path) -> None:
    result = run(["--cluster", cluster(tmp_path, throttled()), "-o", "json"])
    (told,) = json.loads(result.stdout)["decisions"]
    assert told["candidates"] == [
        {"pod": "batch/etl-7", "taken": True, "why": "offline work"},
        {"pod": "web/web-1", "taken": False, "why": "not allowed: no PodQOS"},
    ]
    keys = ("pod", "container", "knob", "before", "after", "expected", "actual")
    assert [tuple(operation[key] for key in keys) for operation in told["operations"]] == [
        ("batch/etl-7", "main", "quota", None, 520, 880.0, 850.0),
        ("batch/etl-7", "", "weight", 1024, 102, None, None),
    ]


def test_decisions_are_told_oldest_first(tmp_path: Path) -> None:
    where = cluster(tmp_path, throttled(NOON), throttled(NOON + 1), throttled(NOON + 2))
    told = json.loads(run(["--cluster", where, "-o", "json"]).stdout)["decisions"]
    assert [one["at"][17:19] for one in told] == ["00", "01", "02"]


@pytest.mark.parametrize(
    ("pod", "found"), [("etl-7", 1), ("batch/etl-7", 1), ("web/web-1", 2), ("other/etl-7", 0), ("etl", 0)]
)
def test_a_pod_is_named_with_or_without_its_namespace(tmp_path: Path, pod: str, found: int) -> None:
    where = cluster(tmp_path, throttled(), throttled(pod="batch/etl-8"))
    told = json.loads(run([pod, "--cluster", where, "-o", "json"]).stdout)["decisions"]
    assert len(told) == found


def test_since_leaves_out_what_is_older(tmp_path: Path) -> None:
    where = cluster(tmp_path, throttled(NOON - 60), throttled(NOON))
    for arguments, found in ((["2026-01-01T12:00:00Z"], 1), (["2026-01-01T11:59:00Z"], 2), (["36500d"], 2)):
        told = json.loads(run(["--cluster", where, "-o", "json", "--since", *arguments]).stdout)["decisions"]
        assert len(told) == found


def test_piped_a_decision_is_one_line(tmp_path: Path) -> None:
    where = cluster(tmp_path, throttled(), throttled(preview=True))
    first, second = run(["--cluster", where]).stdout.splitlines()
    assert first.startswith("2026-01-01T12:00:00.000Z throttle: node CPU 6.8 cores")
    assert second.startswith("2026-01-01T12:00:00.000Z throttle: preview, nothing is changed: node CPU")
    brief = run(["--cluster", where, "--brief"]).stdout.splitlines()[0]
    assert brief.endswith(
        "throttle: etl-7 unlimited -> 0.52 cores: node CPU 6.8 cores, waterline 6 (waterline2/cpu-usage)"
    )


def test_on_a_terminal_a_decision_is_a_tree() -> None:
    console = Console(file=io.StringIO(), width=200)
    told_tree.show([throttled()], console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[0].rstrip() == "2026-01-01T12:00:00.000Z throttle"
    assert [line[4:].strip() for line in lines[1:]] == [
        "node CPU 6.8 cores, waterline 6 (policy waterline2, rule cpu-usage, bad for 2 ticks; also other/rule); to release 0.88",
        "etl-7 unlimited -> 0.52 expected 0.88, was 0.85, yields: weight 1024 -> 102",
        "web-1 not allowed: no PodQOS",
        "stopped: gap closed",
        "back under the waterline after 10 s",
    ]


def test_nothing_done_is_said_and_is_no_failure(tmp_path: Path) -> None:
    where = cluster(tmp_path)
    result = run(["etl-7", "--cluster", where, "--since", "10m"])
    assert result.exit_code == 0
    words = (
        "Nothing was done to etl-7 in the last 10m; the newest tick in the journal is of 2026-01-01T12:00:00.000Z.\n"
    )
    assert result.stdout.startswith(words)
    assert json.loads(run(["--cluster", where, "-o", "json"]).stdout) == {"decisions": []}


def test_without_a_journal_it_says_where_it_looked(tmp_path: Path) -> None:
    result = run(["--cluster", f"folder:{tmp_path}"])
    assert result.exit_code == 1
    assert str(tmp_path / ".slackwater" / "journal.db") in result.stderr
    assert not (tmp_path / ".slackwater").exists()


def test_a_journal_can_be_named(tmp_path: Path) -> None:
    cluster(tmp_path, throttled())
    path = str(tmp_path / ".slackwater" / "journal.db")
    for flag in ("--journal", "--journal-path"):
        assert len(run([flag, path]).stdout.splitlines()) == 1


def test_a_file_that_is_no_journal_is_not_possible_to_tell_from(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no journal" * 1000)
    result = run(["--journal", str(tmp_path / "x")])
    assert result.exit_code == 3
    assert "cannot be read: file is not a database" in result.stderr


@pytest.mark.parametrize("text", ["10", "m", "10x", "-5m", "10m x", "2026-13-01T00:00:00Z"])
def test_a_span_that_is_none_is_used_wrongly(tmp_path: Path, text: str) -> None:
    result = run(["--cluster", cluster(tmp_path), f"--since={text}"])
    assert result.exit_code == 2
    assert "neither a span" in result.stderr


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("10m", 600),
        ("1h30m", 5400),
        ("90s", 90),
        ("1.5d", 129600),
        ("2026-01-01T11:00:00Z", 3600),
        ("2026-01-01T13:00:00+01:00", 0),
    ],
)
def test_spans_and_moments(text: str, back: float) -> None:
    assert since(text, Wall(NOON)) == Wall(NOON - back)
    assert moment(Wall(NOON)) == "2026-01-01T12:00:00.000Z"
