"""What is asked wrongly is said before anything runs, and what was measured is never lost."""

from pathlib import Path

import pytest
from click import BadParameter
from click.testing import CliRunner

from slackwater.cli import demo as command
from slackwater.cli.demo import demo
from slackwater.demo import machine, report

QUICK = ["--simulated", "--rounds", "1", "--seconds", "1"]


@pytest.mark.parametrize("option", ["--report", "--picture"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(command, "_performed")
    result = CliRunner().invoke(demo, [*QUICK, option, str(tmp_path / "nowhere" / "x")])
    assert result.exit_code == BadParameter.exit_code == 2
    assert "is no folder" in result.stderr


def test_a_folder_to_keep_that_cannot_be_made_is_refused_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    result = CliRunner().invoke(demo, [*QUICK, "--keep", str(file / "below")])
    assert result.exit_code == 2
    assert "no folder that can be written" in result.stderr


def test_a_result_that_cannot_be_written_is_still_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "html", full)
    result = CliRunner().invoke(demo, [*QUICK, "--report", str(tmp_path / "r.html")], standalone_mode=False)
    assert result.return_value == 3
    assert "No space left" in result.stderr
    assert "What was done, and why" in result.stdout


def test_beside_another_agent_that_squeezes_it_plays_on_the_simulated_node_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "permitted_trees", lambda: None)
    monkeypatch.setattr(machine, "other_agents", lambda: ("crane-agent (pid 5)",))
    result = CliRunner().invoke(demo, [*QUICK[1:], "-o", "json"], standalone_mode=False)
    assert result.return_value == 0
    assert "crane-agent (pid 5) squeezes pods on this node too" in result.stderr
    assert '"backend": "simulated"' in result.stdout
