"""Other agents on this node are found by what they are called."""

import subprocess
from pathlib import Path

from slackwater.host.neighbours import other_agents


def process(proc: Path, pid: int, comm: str, *arguments: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "comm").write_text(f"{comm}\n")
    (proc / str(pid) / "cmdline").write_text("".join(f"{argument}\0" for argument in arguments))


def test_crane_agent_and_koordlet_are_other_agents(tmp_path: Path) -> None:
    process(tmp_path, 12, "koordlet", "/usr/bin/koordlet", "--v=4")
    process(tmp_path, 7, "agent", "/opt/crane-agent")
    assert other_agents(str(tmp_path)) == ("crane-agent (pid 7)", "koordlet (pid 12)")


def test_speaking_of_one_is_not_being_one(tmp_path: Path) -> None:
    process(tmp_path, 3, "grep", "grep", "crane-agent")
    process(tmp_path, 4, "kthreadd")
    (tmp_path / "5").mkdir()  # gone while it was looked at
    (tmp_path / "self").mkdir()
    assert other_agents(str(tmp_path)) == ()


def test_a_running_one_is_seen() -> None:
    with subprocess.Popen(["koordlet", "60"], executable="/bin/sleep") as rival:
        # A program that has just been started is for a moment without its arguments.
        seen = any(f"koordlet (pid {rival.pid})" in other_agents() for _ in range(1000))
        rival.kill()
    assert seen
