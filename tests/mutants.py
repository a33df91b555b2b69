"""
Seeded mistakes in the engine, each of which must be seen by a test: `make mutants`.

Each is a small change to a copy of the source. One that no test sees means that a promise has lost its test; one whose
text is no longer there must be given a new text, for it tests nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[1]
TESTS = ("tests/decide", "tests/judge", "tests/claims", "tests/metrics", "tests/agent/test_reconcile.py")


class Mistake(Struct, frozen=True):
    name: str
    file: str
    right: str
    wrong: str


MISTAKES = (
    Mistake(
        "at its waterline is bad", "judge/verdicts.py", "value > rule.rule.value else", "value >= rule.rule.value else"
    ),
    Mistake(
        "protected namespaces are touched",
        "decide/eligibility.py",
        "if pod.namespace in settings.protected_namespaces:",
        "if False:",
    ),
    Mistake("DaemonSets are evicted", "decide/eligibility.py", "if evicts and is_daemon(pod):", "if False:"),
    Mistake("the excess is forgotten", "decide/situation.py", "* (1 + self.settings.excess)", "* 1"),
    Mistake(
        "in flight counts twice",
        "decide/situation.py",
        "(usage - self._in_flight(metric) - waterline)",
        "(usage - waterline)",
    ),
    Mistake(
        "whoever does not count is counted",
        "decide/situation.py",
        "for pod in here if pod is not None and metric.concerns(pod)",
        "for pod in here if pod is not None",
    ),
    Mistake(
        "the last step is taken whole",
        "decide/ladder.py",
        "if open_gap <= 0 or rounds >= ladder.height:",
        "if rounds >= ladder.height:",
    ),
    Mistake("all comes back up to the waterline", "decide/room.py", "(1 - situation.settings.restore_margin)", "1"),
    Mistake(
        "an arming rule lets go", "decide/waiting.py", "verdict.state.phase is Phase.IDLE", "not verdict.state.engaged"
    ),
    Mistake("a rest of rounding evicts", "decide/evict.py", "return left <= ROUNDED or", "return left <= 0 or"),
    Mistake("the hour's brake is off", "decide/evict.py", "settings.evictions_per_hour and chosen", "False and chosen"),
    Mistake(
        "all groups step at once",
        "decide/throttle.py",
        "return one_step(next((group for group in groups if group), []))",
        "return one_step([ladder for group in groups for ladder in group])",
    ),
    Mistake("who is squeezed presses", "metrics/pressure.py", " if pod.uid not in scene.squeezed", ""),
    Mistake("no mark before the write", "agent/reconcile.py", "if act.mark is not None:", "if False:"),
    Mistake(
        "a crash makes ours another's", "claims/writing.py", "found in {mark.before, mark.after}", "found == mark.after"
    ),
)


def is_seen(mistake: Mistake, tree: Path) -> bool:
    file = tree / "src" / "slackwater" / mistake.file
    right = file.read_text()
    if right.count(mistake.right) != 1:
        sys.exit(
            f"{mistake.name}: its text stands {right.count(mistake.right)} times in {mistake.file}; give it a new one"
        )
    file.write_text(right.replace(mistake.right, mistake.wrong))
    try:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "--tb=no",
            "-m",
            "not host",
            "-p",
            "no:cacheprovider",
            *TESTS,
        ]
        environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    finally:
        file.write_text(right)
    return run.returncode == 1


def main() -> int:
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for name in ("src", "tests", "pyproject.toml", "docs", "examples"):
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            tree.mkdir(exist_ok=True)
            copy(source, tree / name)
        for mistake in MISTAKES:
            seen = is_seen(mistake, tree)
            sys.stdout.write(f"{'seen  ' if seen else 'MISSED'} {mistake.name}\n")
            sys.stdout.flush()
            missed += [] if seen else [mistake.name]
    sys.stdout.write(f"{len(MISTAKES) - len(missed)} passed, {len(missed)} failed\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
