"""`slackwater simulate` as its users see it: what it prints, how it ends, and that its documentation shows what it really prints."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from slackwater.cli.simulate import simulate

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "scenarios"
DOCS = ROOT / "docs" / "simulate.md"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(simulate, [str(argument) for argument in arguments])


def told(*arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(run(*arguments, "-o", "json").stdout)
    return found


def test_a_scenario_is_told_as_a_timeline_and_a_table() -> None:
    result = run(EXAMPLES / "precise-throttle.yaml")
    assert result.exit_code == 0
    assert "0:05:20  throttle: etl-0 unlimited -> 0.4 cores" in result.stdout
    assert re.search(r"promises broken +0\n", result.stdout)


def test_json_is_one_object_with_the_fixed_names() -> None:
    found = told(EXAMPLES / "precise-throttle.yaml")
    assert found["ticks"] == 90
    assert found["released"]["cpu_total_usage"]["ratio"] == 1.0
    assert found["promises_broken"] == []


def test_the_same_seed_prints_the_same_bytes_and_another_one_others() -> None:
    file = EXAMPLES / "two-spikes.yaml"
    outputs = [run(file, "-o", "json", *more).stdout for more in ((), (), ("--seed", "9"))]
    assert outputs[0] == outputs[1] != outputs[2]


def test_several_policies_stand_side_by_side() -> None:
    policies = [EXAMPLES / "waterline.yaml", EXAMPLES / "evicting.yaml"]
    arguments = [argument for one in policies for argument in ("--policies", one)]
    runs = told(EXAMPLES / "two-spikes.yaml", *arguments)["runs"]
    assert [one["policies"] for one in runs] == [str(one) for one in policies]
    assert runs[0]["workloads"]["etl"]["wanted"] == pytest.approx(runs[1]["workloads"]["etl"]["wanted"])
    table = run(EXAMPLES / "two-spikes.yaml", *arguments).stdout
    assert re.search(r"pods evicted +0 +\d", table)


def test_a_scenario_that_is_wrong_exits_with_one_and_a_line_for_each_mistake(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text((EXAMPLES / "two-spikes.yaml").read_text().replace("cpu: 1.4", "cpu: much"))
    result = run(file)
    assert result.exit_code == 1
    assert not result.stdout
    assert "spec.workloads[1].cpu: is not a quantity (found much)" in result.stderr
    assert "spec.policies[0]: the file is not there" in result.stderr
    assert len(result.stderr.splitlines()) == 2


def test_a_scenario_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    result = run(tmp_path / "none.yaml")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "is not there" in result.stderr


def test_without_a_scenario_it_was_used_wrongly() -> None:
    assert run().exit_code == 2


def test_a_rule_that_can_play_no_part_is_warned_of_and_hurts_itself_alone(tmp_path: Path) -> None:
    policies = tmp_path / "p.yaml"
    policies.write_text((EXAMPLES / "waterline.yaml").read_text().replace("cpu_total_usage", "cpu_total_use"))
    result = run(EXAMPLES / "two-spikes.yaml", "--policies", policies)
    assert result.exit_code == 0
    assert "warning: " in result.stderr
    assert "did you mean cpu_total_usage?" in result.stderr


def test_the_kinds_of_fault_are_listed_with_their_fields() -> None:
    lines = run("--faults").stdout.splitlines()
    assert any(re.match(r"missing-usage +pod \[for\]", line) for line in lines)
    kinds = {one["kind"]: one for one in told("--faults")["faults"]}
    assert kinds["policy-changed"]["fields"] == ["at", "policy", "to"]
    assert kinds["agent-away"]["optional"] == ["for"]


def test_the_report_is_one_page_that_needs_nothing_else(tmp_path: Path) -> None:
    report = tmp_path / "r.html"
    assert run(EXAMPLES / "two-spikes.yaml", "--report", report).exit_code == 0
    page = report.read_text()
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert [ET.fromstring(one).tag for one in pictures] == ["{http://www.w3.org/2000/svg}svg"]  # noqa: S314 - our own
    assert "src=" not in page
    assert "href=" not in page


def test_the_picture_alone_may_be_had(tmp_path: Path) -> None:
    picture = tmp_path / "r.svg"
    assert run(EXAMPLES / "two-spikes.yaml", "--report", picture).exit_code == 0
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")  # noqa: S314 - our own


def test_a_report_that_cannot_be_written_is_told_so(tmp_path: Path) -> None:
    result = run(EXAMPLES / "precise-throttle.yaml", "--report", tmp_path / "none" / "r.html")
    assert result.exit_code == 1
    assert "could not be written" in result.stderr


def shown() -> list[tuple[str, str]]:
    """The commands in the documentation, each with what it is said to print."""
    blocks: list[str] = re.findall(r"```console\n(.*?)```", DOCS.read_text(), re.DOTALL)
    parts = [block.removeprefix("$ ").partition("\n") for block in blocks]
    return [(command, output) for command, _, output in parts]


@pytest.mark.parametrize(("command", "output"), shown())
def test_the_documentation_shows_what_is_really_printed(
    command: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    program, name, *arguments = command.split()
    assert (program, name) == ("slackwater", "simulate")
    assert run(*arguments).stdout == output


def test_every_example_is_in_the_documentation() -> None:
    policies = {"waterline.yaml", "evicting.yaml"}
    named = set(re.findall(r"examples/scenarios/([a-z-]+\.yaml)", DOCS.read_text()))
    assert {file.name for file in EXAMPLES.glob("*.yaml")} - policies <= named
