"""`slackwater lab` as a script meets it: what it prints, and how it ends."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slackwater.cli.lab import lab
from slackwater.lab import presence
from slackwater.lab.folder import Lab

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}


# Nobody may read everything here, as the checkout and its Python may lie where only root comes; write it may nothing.
NOBODY = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(lab, [str(argument) for argument in arguments])


def write(folder: Path, *command: str) -> None:
    container = {"name": "main", "command": command}
    (folder / "web.json").write_text(json.dumps({**POD, "spec": {"containers": [container]}}))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    Lab(tmp_path).down(at_once=True)


def test_a_folder_that_is_not_there_is_used_wrongly(tmp_path: Path) -> None:
    assert run("up", "-f", tmp_path / "nowhere").exit_code == 2


def test_a_root_that_is_no_labs_is_used_wrongly(tmp_path: Path) -> None:
    assert run("up", "-f", tmp_path, "--cgroup-root", "../system.slice").exit_code == 2


def test_files_that_are_not_ours_end_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".slackwater").mkdir()
    (tmp_path / ".slackwater" / "pods.json").write_text("[")
    found = run("status", "-f", tmp_path)
    assert found.exit_code == 1
    assert "cannot be read" in found.output


def test_a_folder_without_manifests_is_said_to_be_one(tmp_path: Path) -> None:
    found = run("status", "-f", tmp_path)
    assert f"no manifests in {tmp_path}" in found.output
    assert "CONTAINER" not in found.output


@pytest.mark.host
def test_up_status_and_down_are_a_round_trip(folder: Path) -> None:
    write(folder, "sleep", "1000")
    assert run("up", "-f", folder).exit_code == 0
    again = run("up", "-f", folder)
    assert again.exit_code == 0
    assert "ran already" in again.output
    assert f"slackwater agent --cluster folder:{folder}\n" in again.output
    found = json.loads(run("status", "-f", folder, "-o", "json").output)
    assert found["pods"][0]["phase"] == "Running"
    assert found["lab"]["pid"]
    assert "default/web" in run("status", "-f", folder).output
    assert run("down", "-f", folder, "--now").exit_code == 0
    assert run("down", "-f", folder).exit_code == 0


@pytest.mark.host
def test_a_pod_that_cannot_start_is_said_and_the_code_is_one(folder: Path) -> None:
    write(folder, "no-such-program")
    found = run("up", "-f", folder)
    assert found.exit_code == 1
    assert "no-such-program: No such file" in found.output
    assert "Started" not in found.output


@pytest.mark.host
@pytest.mark.parametrize("what", ["up", "down"])
def test_a_folder_that_another_user_has_used_is_not_permitted_and_says_where(what: str) -> None:
    command = [*NOBODY, sys.executable, "-c", "from slackwater.cli.main import main; main()"]
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        os.close(presence.acquire(Path(name)))
        found = subprocess.run([*command, "lab", what, "-f", name], capture_output=True, text=True, check=False)
        assert found.returncode == 3
        assert found.stderr == f"slackwater lab: the lab cannot write in {name}/.slackwater: Permission denied\n"


@pytest.mark.host
def test_without_rights_it_says_so_and_the_code_is_three() -> None:
    command = [*NOBODY, sys.executable, "-c", "from slackwater.cli.main import main; main()"]
    with tempfile.TemporaryDirectory() as name:  # pytest's own lies where nobody comes
        os.chown(name, 65534, 65534)
        found = subprocess.run([*command, "lab", "up", "-f", name], capture_output=True, text=True, check=False)
        assert found.returncode == 3
        assert "must run as root" in found.stderr
        assert not any(Path(name).iterdir())
