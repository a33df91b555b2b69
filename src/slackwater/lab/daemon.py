"""
The process that a lab runs in: making its groups, leaving its caller behind, and one pass after the other until it is told to end.

Run by `lab.folder`, which gives it the folder's lock for its life. It detaches only once it has its groups, so its caller learns at once, by exit code and a sentence, what does
not work. Its signals are blocked and waited for: that is both its sleep and its wake-up, and no handler ever runs between two lines. Pods outlive its death by force, as they
outlive kubelet's; the next one ends what it finds and starts anew.
"""

import argparse
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from slackwater.api.objects import QosClass
from slackwater.api.units import Bytes, Millicores, Seconds
from slackwater.host.layout import RUNTIMES, Layout, Style
from slackwater.lab import trees
from slackwater.lab.ground import Clock, Events, Ground
from slackwater.lab.limits import Capacity
from slackwater.lab.manifests import Manifests
from slackwater.lab.presence import output_file, said, say, sign, stands
from slackwater.lab.roots import claim, default_root, refuse_foreign
from slackwater.lab.supervisor import Supervisor, level, state_of
from slackwater.lab.trees import NotPermitted

DETACHED, NOT_PERMITTED = 0, 3
GRACEFULLY, AT_ONCE = signal.SIGTERM, signal.SIGINT
_WATCHED = (GRACEFULLY, AT_ONCE, signal.SIGHUP, signal.SIGCHLD)
_PASS, _LONGEST_PASS = 0.15, 1.0
_PATIENCE = Seconds(5)  # from being killed to being gone
_SPARING = 20.0  # a folder so large that looking costs something is looked at less often


def prepare(ground: Ground) -> None:
    """Clears away what an earlier supervisor left behind, and makes the levels. Raises NotPermitted."""
    try:
        clear(ground.trees, ground.root, ground.cluster)
        ground.trees.make(ground.root)
        claim(ground.trees, ground.root, ground.cluster)
        for qos_class in QosClass:
            ground.trees.make(level(ground, qos_class))
    except OSError as failure:
        with contextlib.suppress(OSError):  # the first failure is the one to tell
            sweep(ground.trees, ground.root)
        raise NotPermitted(
            f"cgroups cannot be made here: {failure.filename or ground.root}: {failure.strerror}; the lab must run as root, with cgroups mounted writable"
        ) from failure


def clear(hierarchies: trees.Trees, root: str, cluster: Path) -> None:
    """Ends what this folder's earlier lab left below a root. Raises NotPermitted and OSError."""
    refuse_foreign(hierarchies, root, cluster)
    if not sweep(hierarchies, root):
        raise NotPermitted(f"processes below {root} do not end although they were killed")


def sweep(hierarchies: trees.Trees, root: str, patience: Seconds = _PATIENCE) -> bool:
    """Kills whoever is below our own root and takes the root away; False: somebody would not die in time. Raises OSError."""
    until = time.monotonic() + patience
    while True:
        hierarchies.send(root, signal.SIGKILL)
        if hierarchies.remove(root):
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.02)


def run(supervisor: Supervisor, is_found: Callable[[], bool]) -> None:
    """
    Passes until it is told to close and everything is gone. A supervisor whose lock nobody can find any more (its folder
    was taken away) can be told nothing, and closes by itself.
    """
    failure = ""
    while not supervisor.finished:
        if not is_found():
            supervisor.close(Seconds(0))
        began = time.monotonic()
        try:
            supervisor.step()
            failed = ""
        except OSError as problem:  # a full disk, say: pods go on, and so does this loop
            failed = f"a pass failed: {problem}"
        if failed and failed != failure:
            sys.stderr.write(f"{failed}\n")
        failure = failed
        pause = min(max(_PASS, (time.monotonic() - began) * _SPARING), _LONGEST_PASS)
        received = signal.sigtimedwait(_WATCHED, pause)
        if received is not None and received.si_signo in {GRACEFULLY, AT_ONCE}:
            supervisor.close(Seconds(0) if received.si_signo == AT_ONCE else None)


def ground_of(cluster: Path, root: str, style: Style) -> Ground:
    """Raises NotPermitted and OSError."""
    node = Manifests(cluster).wanted().node
    clock = Clock()
    return Ground(
        cluster=cluster,
        trees=trees.look(),
        layout=Layout(style=style, runtime=RUNTIMES[style][0]),
        root=root,
        capacity=Capacity(
            node.cpu if node and node.cpu else Millicores((os.cpu_count() or 1) * 1000),
            node.memory if node and node.memory else _memory(),
        ),
        events=Events(cluster, clock),
        clock=clock,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="slackwater-lab")
    parser.add_argument("cluster", type=Path)
    parser.add_argument("--lock", type=int, required=True, help="a descriptor that holds the folder's lock")
    parser.add_argument("--cgroup-root", default="")
    parser.add_argument("--layout", type=Style, default=Style.CGROUPFS)
    asked = parser.parse_args(arguments)
    try:
        return _start(asked.lock, asked.cluster.resolve(), asked.cgroup_root, asked.layout)
    except (NotPermitted, OSError) as failure:
        sys.stderr.write(f"{failure}\n")
        return NOT_PERMITTED


def _start(lock: int, cluster: Path, root: str, style: Style) -> int:
    os.set_inheritable(lock, False)  # it must end with this process, and not with its pods
    ground = ground_of(cluster, root or default_root(cluster), style)
    earlier = said(cluster)
    if earlier is not None and earlier.root != ground.root:
        clear(ground.trees, earlier.root, cluster)
    prepare(ground)
    say(cluster, state_of(ground))  # what an earlier supervisor saw counts no more, before anybody looks
    # Blocked before the fork: a signal to the child waits until its first pause.
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    if os.fork():
        return DETACHED
    os.setsid()
    _settle(cluster)
    sign(lock)
    say(cluster, state_of(ground))
    run(Supervisor(ground), lambda: stands(lock, cluster))
    sweep(ground.trees, ground.root)
    return DETACHED


def _settle(cluster: Path) -> None:
    """Lets go of the caller's terminal and pipes."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(output_file(cluster), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.chdir("/")


def _memory() -> Bytes:
    return Bytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


if __name__ == "__main__":
    sys.exit(main())
