"""How every command begins and ends."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from slackwater.cli import exits, main


def answering(monkeypatch: pytest.MonkeyPatch, error: BaseException | int) -> None:
    """From now on `slackwater check` ends like this."""

    @click.command("check")
    @click.pass_context
    def check(context: click.Context) -> None:
        if isinstance(error, int):
            context.exit(error)
        raise error

    monkeypatch.setattr(main.LazyGroup, "get_command", lambda *_: check)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (0, exits.DONE),
        (1, exits.DOES_NOT_HOLD),
        (3, exits.NOT_POSSIBLE),
        (click.UsageError("no"), exits.USED_WRONGLY),
        (click.ClickException("no"), exits.DOES_NOT_HOLD),
        (click.Abort(), exits.NOT_POSSIBLE),
        (KeyError("pods"), exits.NOT_POSSIBLE),
    ],
)
def test_every_end_of_a_command_is_one_of_the_documented_codes(
    monkeypatch: pytest.MonkeyPatch, end: BaseException | int, code: int
) -> None:
    answering(monkeypatch, end)
    assert main.run(["check"]) == code


def test_an_unexpected_error_is_one_line_that_says_how_to_see_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, KeyError("pods"))
    main.run(["check"])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "KeyError" in said
    assert "SLACKWATER_DEBUG=1" in said


def test_with_debug_the_traceback_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answering(monkeypatch, KeyError("pods"))
    monkeypatch.setenv(main.DEBUG, "1")
    main.run(["check"])
    assert "Traceback" in capsys.readouterr().err


def test_a_command_that_does_not_exist_is_used_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["chekc"]) == exits.USED_WRONGLY
    assert "chekc" in capsys.readouterr().err


def test_the_overview_tells_how_to_begin_and_what_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == exits.DONE
    said = capsys.readouterr().out
    assert "slackwater demo" in said
    assert "Exit codes" in said


def test_the_agents_command_brings_nothing_that_only_people_look_at() -> None:
    program = (
        "import sys; import slackwater.cli.main, slackwater.cli.agent; "
        "print([m for m in sys.modules if m.split('.')[0] == 'rich' or m.startswith(('slackwater.lab', 'slackwater.demo', 'slackwater.sim'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_print_config_shows_what_is_in_force_on_this_node_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    (folder / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {pool: batch}}\n")
    config = tmp_path / "config.yaml"
    config.write_text("nodes:\n- selector: {matchLabels: {pool: batch}}\n  config:\n    excess: 20\n")
    code = main.run(
        ["agent", "--print-config", "--config", str(config), "--cluster", f"folder:{folder}", "--mode", "preview"]
    )
    said = capsys.readouterr().out.splitlines()
    assert code == exits.DONE
    assert f"excess: 20  # {config}:4 (node layer)" in said
    assert "mode: preview  # flag --mode" in said
    assert [path.name for path in folder.iterdir()] == ["node.yaml"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--cluster", "kube"], "not served yet"),
        (["--cluster", "folder:/there/is/none"], "there is no folder"),
        (["--config", "/there/is/none"], "is not there"),
        (["--tick-seconds", "soon"], "command line: --tick-seconds: cannot be used (found soon)"),
        (["--ticks", "0"], "--ticks"),
    ],
)
def test_an_agent_that_cannot_be_started_so_says_why_and_ends_with_two(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["agent", *arguments]) == exits.USED_WRONGLY
    assert part in capsys.readouterr().err
