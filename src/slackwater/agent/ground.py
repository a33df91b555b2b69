"""
What an agent stands on: the machine with the pods' tree on it, and the locks that keep a second agent off.

There are two locks, for two ways of getting in each other's way: one on the tree's own directory, and in a folder
cluster one on the folder where the agent keeps its files. A lab that goes down takes the first one's directory with it,
and one that comes up puts the tree elsewhere; then the agent must not go on holding what is not there any more
(`moved`).
"""

import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from slackwater.agent.configuration import Configuration
from slackwater.cluster import ledger
from slackwater.host.clock import Clock
from slackwater.host.lock import Lock
from slackwater.host.machine import Machine


def root_of(configuration: Configuration) -> str:
    """Where the pods' tree begins: as configured, else where the folder's lab has put it."""
    if configuration.host.cgroup_root or configuration.folder is None:
        return configuration.host.cgroup_root
    return ledger.lab_root(configuration.folder) or ""


class Ground:
    """Raises host.lock.Held where an agent is, NoCgroups or OSError where the machine does not permit it."""

    def __init__(self, configuration: Configuration, clock: Clock) -> None:
        self._configuration = configuration
        self._root = root_of(configuration)
        proc = configuration.host.proc
        with contextlib.ExitStack() as taken:
            if configuration.folder is not None:
                files = ledger.state_folder(configuration.folder)
                files.mkdir(exist_ok=True)
                taken.enter_context(Lock(str(files), proc))
            self.machine = Machine(clock, proc=proc, root=self._root)
            taken.callback(self.machine.close)
            taken.enter_context(Lock(self.machine.directory, proc))
            self._directory = Path(self.machine.directory).stat()
            self._taken = taken.pop_all()

    def moved(self) -> bool:
        """Whether the tree is elsewhere by now, or another one stands in its place."""
        if root_of(self._configuration) != self._root:
            return True
        try:
            return not os.path.samestat(Path(self.machine.directory).stat(), self._directory)
        except FileNotFoundError:
            # The lab is down: there is nothing to hold until it comes up again.
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken.close()
