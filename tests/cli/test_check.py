"""`slackwater check` as a script sees it: what it reads, what it says, and how it ends."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from slackwater.cli.check import check

ACTION = "apiVersion: ensurance.crane.io/v1alpha1\nkind: AvoidanceAction\nmetadata: {name: close}\nspec: {}\n"
POLICY = """apiVersion: ensurance.crane.io/v1alpha1
kind: NodeQOS
metadata: {name: w}
spec:
  rules:
  - name: r
    actionName: close
    metricRule: {name: cpu_total_usage, value: 4000}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "action.yaml").write_text(ACTION)
    (tmp_path / "policy.yml").write_text(POLICY)
    return tmp_path


def run(*arguments: str | Path, given: bytes = b"") -> Result:
    return CliRunner().invoke(check, [str(argument) for argument in arguments], input=given)


def told(*arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(run(*arguments, "-o", "json").stdout)
    return found


def test_a_folder_that_is_right_is_done(folder: Path) -> None:
    result = run(folder)
    assert (result.exit_code, result.stdout) == (0, "2 documents, 0 errors, 0 warnings\n")


def test_an_error_exits_with_one_and_stands_on_one_line(folder: Path) -> None:
    (folder / "policy.yml").write_text(POLICY.replace("4000", "six"))
    result = run(folder)
    first, summary = result.stdout.splitlines()
    assert result.exit_code == 1
    assert first.startswith(
        f"error: {folder}/policy.yml:8: spec.rules[0].metricRule.value: is not a quantity (found six); write"
    )
    assert summary == "2 documents, 1 error, 0 warnings"


def test_a_warning_is_said_and_let_pass(folder: Path) -> None:
    (folder / "policy.yml").write_text(POLICY + "  - nothing\n".replace("- nothing", "extra: 1"))
    result = run(folder)
    assert result.exit_code == 0
    assert result.stdout.startswith("warning: ")


def test_json_has_the_fields_that_scripts_rely_on(folder: Path) -> None:
    (folder / "policy.yml").write_text(
        POLICY.replace("cpu_total_usage, value: 4000", "cpu_total_utilization, value: 600")
    )
    (folder / "broken.json").write_text('{\n"a": 1,}')
    found = told(folder)
    assert found["documents"] == 3
    assert [{**problem, "message": "", "remedy": ""} for problem in found["errors"]] == [
        {"file": f"{folder}/broken.json", "line": 2, "field": "", "value": "", "message": "", "remedy": ""}
    ]
    assert [(problem["line"], problem["field"], problem["value"]) for problem in found["warnings"]] == [
        (8, "spec.rules[0].metricRule.value", "600")
    ]
    assert all(problem["message"] and problem["remedy"] for problem in found["errors"] + found["warnings"])


def test_used_wrongly_is_two(tmp_path: Path) -> None:
    assert run().exit_code == 2
    assert run(tmp_path / "nothing.yaml").exit_code == 2
    assert run(tmp_path, "-o", "xml").exit_code == 2
    assert run("--cluster", "kube").exit_code == 2
    assert run("--cluster", f"folder:{tmp_path}/nothing").exit_code == 2


def test_folders_in_a_folder_are_read_when_asked_for(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "bad.yaml").write_text("a: b: c")
    (folder / ".slackwater").mkdir()
    (folder / ".slackwater" / "pods.json").write_text("[")
    assert run(folder).exit_code == 0
    assert [problem["file"] for problem in told("-R", folder)["errors"]] == [f"{folder}/more/bad.yaml"]


def test_other_files_of_a_folder_are_not_read(folder: Path) -> None:
    (folder / "notes.txt").write_text("a: b: c")
    (folder / ".hidden.yaml").write_text("a: b: c")
    assert told(folder)["documents"] == 2


def test_what_an_agent_would_refuse_exits_with_one(folder: Path) -> None:
    (folder / "policy.yml").write_text(POLICY.replace("4000", "6"))
    result = run(folder)
    assert result.exit_code == 1
    assert "is under 1 % of the node's" in result.stdout
    assert result.stdout.endswith("2 documents, 1 error, 0 warnings\n")


def test_a_folder_without_manifests_is_said_to_be_one_and_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a: b")
    result = run(tmp_path)
    assert (result.exit_code, result.stdout) == (0, "0 documents, 0 errors, 0 warnings\n")
    assert result.stderr == f"no manifests in {tmp_path}\n"


def test_the_standard_input_can_be_checked() -> None:
    result = run("-", given=b"a: b: c")
    assert result.exit_code == 1
    assert result.stdout.startswith("error: -:1: ")


def test_a_policy_alone_is_warned_of_its_action_and_a_folder_is_refused(folder: Path) -> None:
    (folder / "action.yaml").unlink()
    assert run(folder / "policy.yml").exit_code == 0
    assert run(folder).exit_code == 1


def test_a_file_is_checked_against_what_a_cluster_holds(folder: Path, tmp_path: Path) -> None:
    new = tmp_path / "elsewhere"
    new.mkdir()
    (new / "good.yaml").write_text(POLICY)
    (new / "bad.yaml").write_text(POLICY.replace("close", "clsoe").replace("{name: w}", "{name: other}"))
    cluster = f"folder:{folder}"
    assert told("--cluster", cluster, new / "good.yaml") == {"documents": 1, "errors": [], "warnings": []}
    assert [problem["remedy"] for problem in told("--cluster", cluster, new / "bad.yaml")["errors"]] == [
        "did you mean close?"
    ]
    assert told("--cluster", cluster)["documents"] == 2


def test_what_is_no_text_is_one_error_and_the_rest_is_checked(folder: Path) -> None:
    (folder / "core.yaml").write_bytes(b"\x7fELF\0\0" * 1000)
    (folder / "latin.yaml").write_bytes(b"a: \xe4\n")
    with (folder / "huge.yaml").open("wb") as huge:
        huge.truncate(1 << 40)
    found = told(folder)
    assert found["documents"] == 2
    assert [Path(problem["file"]).name for problem in found["errors"]] == ["core.yaml", "huge.yaml", "latin.yaml"]


def test_a_pipe_is_no_file_and_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    assert ["no file" in problem["message"] for problem in told(folder)["errors"]] == [True]


def test_ten_thousand_bad_files_are_ten_thousand_errors(tmp_path: Path) -> None:
    bad = ("a: b: c", "{", "kind: Pod", "\0", "- " * 2000)
    for number in range(10_000):
        (tmp_path / f"{number}.yaml").write_text(bad[number % len(bad)])
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "8000 documents, 10000 errors, 0 warnings"
