"""What the lab reports of a folder's pods: kubelet's side of their status."""

from pathlib import Path

import msgspec

from slackwater.api.problems import Problem, Severity
from slackwater.cluster.ledger import RunningPod, pods_file, running_pods


class Reports:
    """The last report. A file that is no report leaves the one before."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stamp: tuple[int, int, int] | None = None
        self._said: tuple[RunningPod, ...] = ()
        self.problems: tuple[Problem, ...] = ()

    def look(self) -> tuple[RunningPod, ...]:
        stamp = self._current()
        if stamp == self._stamp:
            return self._said
        try:
            self._said, self.problems = running_pods(self._directory), ()
        except (OSError, msgspec.MsgspecError) as error:
            self.problems = (
                _problem(
                    str(pods_file(self._directory)),
                    f"is no list of running pods: {error}",
                    "slackwater lab up writes it anew",
                ),
            )
        self._stamp = stamp
        return self._said

    def _current(self) -> tuple[int, int, int] | None:
        try:
            facts = pods_file(self._directory).stat()
        except OSError:
            return None
        return facts.st_mtime_ns, facts.st_size, facts.st_ino


def _problem(file: str, message: str, remedy: str, line: int = 0) -> Problem:
    return Problem(severity=Severity.ERROR, file=file, line=line, field="", value="", message=message, remedy=remedy)
