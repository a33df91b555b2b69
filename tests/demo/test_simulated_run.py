"""The whole story on a computed machine, told by the real agent."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slackwater.cli.demo import demo


def run(*arguments: str) -> Result:
    return CliRunner().invoke(
        demo, ["--simulated", "--rounds", "2", "--seconds", "3", *arguments], standalone_mode=False
    )


@pytest.fixture(scope="module")
def result() -> Result:
    return run("-o", "json")


@pytest.fixture(scope="module")
def shown(result: Result) -> dict[str, object]:
    assert result.return_value == 0, result.stderr
    made: dict[str, object] = json.loads(result.stdout)
    return made


def phase(shown: dict[str, object], name: str) -> dict[str, dict[str, float]]:
    phases = shown["phases"]
    assert isinstance(phases, list)
    found: dict[str, dict[str, float]] = next(one for one in phases if one["name"] == name)
    return found


def test_the_service_hurts_beside_batch_and_is_well_again_with_slackwater(shown: dict[str, object]) -> None:
    alone, off, on = (phase(shown, name)["service"] for name in ("alone", "unmanaged", "slackwater"))
    assert alone["wait_ms"] < 0.01
    assert on["wait_ms"] <= off["wait_ms"] / 5
    assert on["p90_ms"] <= off["p90_ms"] / 2


def test_batch_keeps_most_of_its_work(shown: dict[str, object]) -> None:
    assert phase(shown, "slackwater")["batch"]["work"] > 0.75 * phase(shown, "unmanaged")["batch"]["work"]


def test_the_node_is_held_under_its_waterline(shown: dict[str, object]) -> None:
    waterline = shown["waterline_millicores"]
    assert isinstance(waterline, int)
    assert phase(shown, "slackwater")["node"]["cpu_cores"] * 1000 <= waterline
    assert phase(shown, "unmanaged")["node"]["cpu_cores"] * 1000 > waterline


def test_no_more_is_released_than_the_gap_asks_for(shown: dict[str, object]) -> None:
    gap, released, actual = (shown[f"{name}_millicores"] for name in ("gap", "released", "actual"))
    assert isinstance(gap, float)
    assert isinstance(released, float)
    assert isinstance(actual, float)
    assert released <= gap * 1.05
    assert actual == pytest.approx(released, rel=0.15)


def test_everything_comes_back_and_it_is_said_what_was_done(shown: dict[str, object]) -> None:
    assert shown["restored"] is True
    assert shown["backend"] == "simulated"
    actions = shown["actions"]
    assert isinstance(actions, list)
    assert {action["action"] for action in actions} == {"throttle", "restore"}
    assert "node CPU" in actions[0]["sentence"]


def test_a_guaranteed_service_is_lifted() -> None:
    result = run("-o", "json", "--service", "guaranteed")
    shown = json.loads(result.stdout)
    off, on = (phase(shown, name)["service"] for name in ("unmanaged", "slackwater"))
    assert on["wait_ms"] <= off["wait_ms"] / 5
    weights = [
        operation
        for action in shown["actions"]
        for operation in action["operations"]
        if operation["pod"] == "demo/service" and operation["knob"] == "weight"
    ]
    assert weights[0]["after"] > weights[0]["before"]


def test_the_same_run_gives_the_same_figures(shown: dict[str, object]) -> None:
    again = json.loads(run("-o", "json").stdout)
    assert again["phases"] == shown["phases"]


def test_standard_output_is_only_json_and_progress_is_not_on_it(result: Result) -> None:
    assert result.stdout.startswith("{")
    assert "measuring this machine" in result.stderr


def test_a_table_and_the_reasons_end_a_run_for_people(tmp_path: Path) -> None:
    result = run("--report", str(tmp_path / "r.html"), "--keep", str(tmp_path / "kept"))
    assert "What was done, and why" in result.stdout
    assert "SIMULATED" in result.stdout
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "kept" / "cluster" / ".slackwater" / "journal.db").exists()


def test_without_root_it_says_so_and_shows_the_same_on_a_simulated_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    result = CliRunner().invoke(demo, ["--rounds", "1", "--seconds", "1", "-o", "json"], standalone_mode=False)
    assert result.return_value == 0
    assert "only root may make cgroups" in result.stderr
    assert json.loads(result.stdout)["backend"] == "simulated"
