"""
What becomes of a pod, as arithmetic: whether a container that ended starts again, when, and which phase all of it adds up to.

Pure; `lab.pods` asks and acts. The rules are kubelet's: the first restart is immediate, the next ones wait twice as long each time, and a container that went on for
long enough is forgiven.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from slackwater.api.objects import Container
from slackwater.api.units import Seconds

DEFAULT_GRACE = Seconds(30)
_VARIABLE = re.compile(r"\$\$|\$\((\w+)\)")


class BackOff(Struct, frozen=True, kw_only=True):
    first: Seconds = Seconds(10)
    longest: Seconds = Seconds(300)
    forgiven_after: Seconds = Seconds(600)

    def wait(self, restarts: int) -> Seconds:
        """Before the next start of a container that was restarted so often already."""
        if not restarts:
            return Seconds(0)
        return Seconds(min(self.first * 2.0 ** min(restarts - 1, 16), self.longest))


class Outcome(Struct, frozen=True, kw_only=True):
    """Where one container stands."""

    sidecar: bool = False
    started: bool = False  # at least once
    running: bool = False
    exit_code: int | None = None  # of its last run, once that has ended
    starts_again: bool = False


def starts_again(policy: str, container: Container, exit_code: int) -> bool:
    """A sidecar always does, whatever the pod's policy."""
    return container.sidecar or policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def phase(outcomes: Iterable[Outcome]) -> str:
    """Sidecars neither hold a pod back from being done nor decide how it ended."""
    mains = [outcome for outcome in outcomes if not outcome.sidecar]
    if not all(outcome.started for outcome in mains):
        return "Pending"
    if any(outcome.running or outcome.starts_again for outcome in mains):
        return "Running"
    return "Failed" if any(outcome.exit_code for outcome in mains) else "Succeeded"


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` is replaced in command and args, `$$` is a dollar, and a name that nobody defined stays as it is."""

    def replacement(match: re.Match[str]) -> str:
        name = match.group(1)
        return "$" if name is None else variables.get(name, match.group(0))

    return _VARIABLE.sub(replacement, text)
