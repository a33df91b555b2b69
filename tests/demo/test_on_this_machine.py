"""The demonstration as its user runs it: in real cgroups, and ended in the middle of whatever it is doing."""

import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slackwater.lab.folder import Lab

pytestmark = [pytest.mark.host, pytest.mark.timeout(400)]

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "slackwater"), "demo", "--seconds", "2", "--rounds", "1"]


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def started(temporary: Path, *more: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        [*COMMAND, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def processes_that_name(folder: Path) -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(folder) in command:
            yield command


def groups_of(cluster: Path) -> list[Path]:
    mounted, root = Path("/sys/fs/cgroup"), Lab(cluster).root
    return [*mounted.glob(root), *mounted.glob(f"*/{root}")]


def line_with(process: "subprocess.Popen[str]", said: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if said in line:
            return
    pytest.fail(f"it ended without ever saying {said!r}")


@pytest.mark.native
def test_a_short_run_shows_the_squeeze_and_leaves_nothing(temporary: Path, tmp_path: Path) -> None:
    report, picture = tmp_path / "report.html", tmp_path / "picture.svg"
    process = started(temporary, "-o", "json", "--report", str(report), "--picture", str(picture))
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert [phase["name"] for phase in result["phases"]] == ["alone", "unmanaged", "slackwater"]
    assert all(phase["service"]["requests"] > 200 for phase in result["phases"])
    assert result["backend"] in {"cgroup1", "cgroup2"}
    assert result["restored"] is True
    assert result["actions"][0]["action"] == "throttle"
    assert result["released_millicores"] <= result["gap_millicores"] * 1.05
    assert "</svg>" in report.read_text()
    assert picture.read_text().startswith("<svg")
    assert not list(temporary.iterdir())
    assert not list(processes_that_name(temporary))


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("starting the pods", signal.SIGINT),
        ("everything at once", signal.SIGTERM),
        ("Slackwater has started", signal.SIGINT),
        ("Slackwater on", signal.SIGTERM),
    ],
)
def test_an_interrupt_leaves_no_process_no_group_and_no_file(
    temporary: Path, moment: str, number: signal.Signals
) -> None:
    process = started(temporary)
    line_with(process, moment)
    folders = list(temporary.iterdir())
    time.sleep(0.1)
    process.send_signal(number)
    process.send_signal(number)  # impatience must not stop the tidying
    process.communicate(timeout=200)
    assert process.returncode == 3
    assert not list(temporary.iterdir())
    assert not list(processes_that_name(temporary))
    assert not [group for folder in folders for group in groups_of(folder / "cluster")]
