"""
A lab in a folder, as its user handles it: up, down, and who is there.

    with Lab(folder) as lab:
        lab.up()
        ...

The pods themselves belong to a process of their own (`lab.daemon`), which goes on when this one ends without `down`; leaving the `with` block is a `down`. Whatever interrupts
`up`, either the lab runs after it or nothing of it is left.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from slackwater.api.units import Seconds
from slackwater.cluster.ledger import RunningPod, evictions_folder, pods_file, running_pods, state_folder
from slackwater.host.layout import Style
from slackwater.lab import presence, trees
from slackwater.lab.containers import logs_folder
from slackwater.lab.daemon import AT_ONCE, DETACHED, GRACEFULLY, sweep
from slackwater.lab.ground import events_file
from slackwater.lab.manifests import fingerprint
from slackwater.lab.pods import End
from slackwater.lab.roots import default_root, refuse_foreign
from slackwater.lab.trees import NotPermitted

_GLANCE = 0.03
_START = Seconds(30)
_SLACK = Seconds(10)  # what a supervisor may take beyond the longest grace


class LabFailed(Exception):
    """The lab itself did not do what was asked; the message says what and where to look."""


class Lab:
    def __init__(self, directory: Path | str, *, root: str = "", style: Style = Style.CGROUPFS) -> None:
        self.directory = Path(directory).resolve()
        self._root = root
        self._style = style

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down(at_once=True)

    @property
    def root(self) -> str:
        """The lab's own root below every hierarchy. An agent on the folder looks it up by itself."""
        said = presence.said(self.directory)
        return said.root if said else self._root or default_root(self.directory)

    @property
    def pid(self) -> int | None:
        """The supervisor's; None: no lab runs here."""
        return presence.holder(self.directory)

    def pods(self) -> tuple[RunningPod, ...]:
        return running_pods(self.directory)

    def up(self, timeout: Seconds = _START) -> bool:
        """Starts the lab, or has a running one take up what changed, and waits until every pod runs or has failed. False: it ran already. Raises NotPermitted and LabFailed."""
        before = self.pid is not None
        try:
            started = self._start()
            self._await_pods(timeout)
        except NotPermitted:
            raise
        except BaseException:  # an interrupt is no Exception, and must not leave half a lab either
            if not before:
                self.down(at_once=True)
            raise
        return started

    def down(self, *, at_once: bool = False) -> None:
        """Ends every pod (with its grace, or at once), takes away all groups and all that the lab wrote. Does nothing where nothing is. Raises NotPermitted and LabFailed."""
        said = presence.said(self.directory)
        if not state_folder(self.directory).is_dir():
            return
        self._end(AT_ONCE if at_once else GRACEFULLY)
        with self._locked():
            self._sweep(said.root if said else self._root or default_root(self.directory))
            self._take_away()

    def _start(self) -> bool:
        command = [sys.executable, "-m", "slackwater.lab.daemon", str(self.directory), "--layout", self._style.value]
        if self._root:
            command += ["--cgroup-root", self._root]
        try:
            lock = presence.acquire(self.directory)
        except presence.Held:
            return False
        except OSError as failure:
            raise self._not_ours(failure) from failure
        # The new process is born with the lock: there is no moment at which it lives and `down` would not wait for it.
        # It has a session of its own, so that an interrupt at the terminal is for us alone.
        try:
            answer = subprocess.run(
                [*command, "--lock", str(lock)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                start_new_session=True,
                pass_fds=(lock,),
                check=False,
            )
        finally:
            os.close(lock)
        if answer.returncode != DETACHED:
            with self._locked():
                self._take_away()
            raise NotPermitted(answer.stderr.strip() or f"the lab's process ended with {answer.returncode}")
        return True

    def _not_ours(self, failure: OSError) -> NotPermitted:
        return NotPermitted(f"the lab cannot write in {state_folder(self.directory)}: {failure.strerror}")

    def _await_pods(self, timeout: Seconds) -> None:
        until = time.monotonic() + timeout
        while not self._complete():
            if self.pid is None:
                raise LabFailed(f"the lab's process has ended; {presence.output_file(self.directory)} may say why")
            if time.monotonic() > until:
                return
            time.sleep(_GLANCE)

    def _complete(self) -> bool:
        """The supervisor has acted on the manifests as they are now, and no pod is on its way."""
        said = presence.said(self.directory)
        if said is None or said.seen != fingerprint(self.directory):
            return False
        return not any(_on_its_way(pod) for pod in self.pods())

    def _end(self, how: signal.Signals) -> None:
        pid = self.pid
        if pid is None:
            return
        if pid:
            self._signal(pid, how)
        graces = [pod.grace or 30.0 for pod in self.pods()]
        until = time.monotonic() + (0 if how == AT_ONCE else max(graces, default=0)) + _SLACK
        while (now := self.pid) is not None:
            if now and not pid:  # it was just starting when we looked
                self._signal(now, how)
                pid = now
            if time.monotonic() > until:
                if not now:
                    raise LabFailed(
                        f"{presence.lock_file(self.directory)} is held by a process that does not say who it is"
                    )
                self._signal(now, signal.SIGKILL)
                until += _SLACK
            time.sleep(_GLANCE)

    def _signal(self, pid: int, number: signal.Signals) -> None:
        try:
            if pid:
                os.kill(pid, number)
        except ProcessLookupError:
            return
        except PermissionError as refusal:
            raise NotPermitted(
                f"the lab in {self.directory} belongs to another user (its process is {pid})"
            ) from refusal

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """So that no other lab begins here while this one is taken away; the lock's file goes with it."""
        try:
            handle = presence.acquire(self.directory)
        except presence.Held as held:
            raise LabFailed(f"{held}: somebody has just started it again") from held
        except OSError as failure:
            raise self._not_ours(failure) from failure
        try:
            yield
        finally:
            os.close(handle)

    def _sweep(self, root: str) -> None:
        try:
            hierarchies = trees.look()
            refuse_foreign(hierarchies, root, self.directory)
            if not sweep(hierarchies, root):
                raise LabFailed(f"processes below {root} do not end although they were killed")
        except OSError as failure:
            raise NotPermitted(f"the groups of {root} cannot be taken away: {failure}") from failure

    def _take_away(self) -> None:
        """What the lab wrote, and nothing else: the journal and what the agent wrote stay."""
        folder = self.directory
        for tree in (evictions_folder(folder), logs_folder(folder)):
            shutil.rmtree(tree, ignore_errors=True)
        for file in (
            pods_file(folder),
            events_file(folder),
            presence.output_file(folder),
            presence.state_file(folder),
            presence.lock_file(folder),
        ):
            file.unlink(missing_ok=True)
        _remove_if_empty(state_folder(folder))


def _on_its_way(pod: RunningPod) -> bool:
    return (pod.phase == "Pending" and not pod.reason) or pod.reason == End.REPLACED.value


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError:
        # Somebody's files are in it: not ours to judge. Any other reason leaves an empty folder, which harms nobody.
        return
