"""`slackwater status` as a person reads it."""

from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner, Result

from slackwater.cli.lines import folded
from slackwater.cli.status import status
from slackwater.cluster.ledger import replace, status_file

RULE = {
    "policy": "waterline2",
    "rule": "cpu",
    "metric": "cpu_total_usage",
    "unit": "millicores",
    "preview": False,
    "state": "active",
    "value": 2000.0,
    "waterline": 800.0,
    "badTicks": 19,
    "needed": 2,
    "missing": False,
    "error": "",
}


def run(folder: Path) -> Result:
    return CliRunner().invoke(status, ["--cluster", f"folder:{folder}"])


def told(folder: Path, mode: str = "act", **rule: Any) -> str:
    """What is said of one rule."""
    said = {
        "mode": mode,
        "modeWhy": "as configured",
        "backend": "cgroup1",
        "schedulingDisabled": False,
        "rules": [{**RULE, **rule}],
        "claims": [],
        "knobs": [],
        "lastAction": None,
        "problems": [],
    }
    replace(status_file(folder), msgspec.json.encode({"metadata": {"name": "node"}, "status": said}))
    return run(folder).stdout.splitlines()[2].strip().removeprefix("rule waterline2/cpu: ")


def test_a_value_stands_beside_its_waterline_and_bad_ticks_beside_what_is_needed(tmp_path: Path) -> None:
    assert told(tmp_path) == "active, 2 cores, waterline 0.8; bad for 19 ticks (acts at 2)"
    assert told(tmp_path, state="idle", badTicks=0) == "idle, 2 cores, waterline 0.8"
    assert told(tmp_path, badTicks=1, preview=True).endswith("; bad for 1 tick (acts at 2) (preview)")


def test_a_rule_that_nobody_judges_has_no_missing_metric(tmp_path: Path) -> None:
    assert told(tmp_path, "off", state="off", value=None) == "not judged"
    assert told(tmp_path, "off", state="error", error="no action") == "plays no part: no action"
    assert told(tmp_path, state="idle", value=None, missing=True) == "idle, cpu_total_usage is missing"


def test_after_the_agents_end_a_rule_is_told_as_it_was(tmp_path: Path) -> None:
    assert told(tmp_path, "off", badTicks=0) == "not judged (at the last tick: active, 2 cores, waterline 0.8)"


def test_a_full_node_is_full_and_not_more(tmp_path: Path) -> None:
    full: dict[str, Any] = {
        "metric": "cpu_total_utilization",
        "unit": "percent",
        "value": 100.4,
        "waterline": 85.0,
        "badTicks": 0,
    }
    assert told(tmp_path, **full) == "active, 100 %, waterline 85"


def test_without_a_status_the_path_is_said_once(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"there is no status at {status_file(tmp_path)}; has an agent run here?\n"


def test_a_status_that_is_none_of_ours_is_said_to_be_illegible(tmp_path: Path) -> None:
    replace(status_file(tmp_path), b"[")
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr


def test_a_line_goes_on_below_between_words_and_further_in() -> None:
    line = "  rule waterline2/cpu-usage: active, 2 cores, waterline 0.8"
    assert folded(line, 44).splitlines() == [
        "  rule waterline2/cpu-usage: active, 2",
        "      cores, waterline 0.8",
    ]


def test_a_name_wider_than_the_terminal_stays_whole() -> None:
    path = "/var/lib/" + "x" * 60
    assert path in folded(f"problem: {path} is gone", 40).splitlines()[1]
