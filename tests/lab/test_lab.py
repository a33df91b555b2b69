"""The lab on this machine's own cgroups, v1 or v2: what kubelet would do is done, and nothing is left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from slackwater.api.units import Seconds, Shares, Wall
from slackwater.cluster.ledger import EvictionNote, RunningPod, evictions_folder, replace
from slackwater.host.layout import Style
from slackwater.lab import trees
from slackwater.lab.containers import logs_folder
from slackwater.lab.folder import Lab
from slackwater.lab.roots import default_root
from slackwater.lab.status import status

pytestmark = pytest.mark.host

SLEEP = ["sleep", "1000"]
STUBBORN = ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"]


def manifest(name: str, command: list[str] | None = None, **spec: Any) -> str:
    container = {"name": "main", "command": command or SLEEP, "resources": spec.pop("resources", {})}
    body = {"terminationGracePeriodSeconds": 1, "containers": [container], **spec}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body})


def resources(cpu: str = "", limit: str = "", memory: str = "") -> dict[str, dict[str, str]]:
    asked = {"cpu": cpu, "memory": memory} if memory else {"cpu": cpu}
    return (
        {"requests": asked, "limits": {"cpu": limit, "memory": memory} if memory else {"cpu": limit}}
        if limit
        else {"requests": asked}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    Lab(tmp_path).down(at_once=True)
    assert not left(tmp_path)


def write(folder: Path, name: str, *arguments: Any, **spec: Any) -> None:
    replace(folder / f"{name}.json", manifest(name, *arguments, **spec).encode())


def left(folder: Path) -> list[Path]:
    return [mount / default_root(folder) for mount in trees.look().roots() if (mount / default_root(folder)).exists()]


def pod(folder: Path, name: str) -> RunningPod | None:
    return next((pod for pod in Lab(folder).pods() if pod.name == name), None)


def there(folder: Path, name: str) -> RunningPod:
    found = pod(folder, name)
    assert found is not None
    return found


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def group(folder: Path, name: str) -> Path:
    return Path(there(folder, name).containers[0].cgroups["cpu"])


def quota(folder: Path) -> int | None:
    """Microseconds in 100 ms."""
    if trees.look().version > 1:
        value = (folder / "cpu.max").read_text().split()[0]
        return None if value == "max" else int(value)
    read = int((folder / "cpu.cfs_quota_us").read_text())
    return None if read < 0 else read


def cpu_weight(folder: Path) -> int:
    return int((folder / ("cpu.weight" if trees.look().version > 1 else "cpu.shares")).read_text())


def weight_of(shares: int) -> int:
    return trees.weight(Shares(shares)) if trees.look().version > 1 else shares


def evict(folder: Path, name: str, grace: float = 0.3) -> EvictionNote:
    one = there(folder, name)
    note = EvictionNote(
        namespace=one.namespace, name=name, uid=one.uid, grace=Seconds(grace), at=Wall(0), why="for the test"
    )
    replace(evictions_folder(folder) / f"{one.uid}.json", msgspec.json.encode(note))
    return note


def test_a_process_is_in_its_containers_group_in_every_hierarchy(folder: Path) -> None:
    write(folder, "web", resources=resources("250m", "500m"))
    Lab(folder).up()
    container = there(folder, "web").containers[0]
    for controller, path in container.cgroups.items():
        assert str(container.pid) in Path(path, "cgroup.procs").read_text().split(), controller
    assert "unified" in container.cgroups or trees.look().version == 1


def test_the_groups_hold_what_kubelet_would_have_set(folder: Path) -> None:
    write(folder, "web", resources=resources("250m", "500m"))
    write(folder, "idle")
    write(folder, "fixed", resources=resources("1", "1", "64Mi"))
    Lab(folder).up()
    web, idle, fixed = (group(folder, name) for name in ("web", "idle", "fixed"))
    assert [quota(path) for path in (web, web.parent, idle, idle.parent, fixed)] == [
        50_000,
        50_000,
        None,
        None,
        100_000,
    ]
    assert [cpu_weight(path) for path in (web, web.parent, web.parent.parent)] == [weight_of(256)] * 3
    assert [cpu_weight(path) for path in (idle, idle.parent, idle.parent.parent)] == [weight_of(2)] * 3
    assert fixed.parent.parent.name == "kubepods"


def test_the_systemd_form_has_slices_and_scopes(folder: Path) -> None:
    write(folder, "web", resources=resources("250m"))
    Lab(folder, style=Style.SYSTEMD).up()
    scope = group(folder, "web")
    assert scope.name.startswith("cri-containerd-")
    assert scope.name.endswith(".scope")
    assert scope.parent.parent.name == "kubepods-burstable.slice"


def test_a_quota_binds_the_process_from_its_first_moment(folder: Path) -> None:
    write(folder, "hog", ["sh", "-c", "while :; do :; done"], resources=resources("100m", "100m"))
    Lab(folder).up()
    until(lambda: "nr_throttled 0\n" not in (group(folder, "hog") / "cpu.stat").read_text())


def test_the_burstable_levels_weight_follows_its_pods(folder: Path) -> None:
    write(folder, "one", resources=resources("250m"))
    write(folder, "two", resources=resources("500m"))
    Lab(folder).up()
    level = group(folder, "one").parent.parent
    assert cpu_weight(level) == weight_of(768)
    (folder / "two.json").unlink()
    until(lambda: cpu_weight(level) == weight_of(256))


def test_variables_and_arguments_reach_the_process_and_its_words_the_log(folder: Path) -> None:
    container = {
        "name": "main",
        "command": ["sh", "-c"],
        "args": ["echo hello $(WHO); exec sleep 1000"],
        "env": [{"name": "WHO", "value": "you"}],
    }
    write(folder, "talker", containers=[container])
    Lab(folder).up()
    until(lambda: (logs_folder(folder) / "default_talker_main.log").read_text() == "hello you\n")


def test_a_new_manifest_starts_and_a_removed_one_ends(folder: Path) -> None:
    Lab(folder).up()
    write(folder, "web")
    assert Lab(folder).up() is False
    pid = there(folder, "web").containers[0].pid
    (folder / "web.json").unlink()
    until(lambda: pod(folder, "web") is None)
    assert not alive(pid)


def test_a_changed_command_is_a_new_start_and_a_changed_limit_is_not(folder: Path) -> None:
    write(folder, "web", resources=resources("250m", "500m"))
    Lab(folder).up()
    first = there(folder, "web").containers[0]
    write(folder, "web", resources=resources("250m", "700m"))
    until(lambda: quota(group(folder, "web")) == 70_000)
    assert there(folder, "web").containers[0] == first
    write(folder, "web", ["sleep", "999"], resources=resources("250m", "700m"))
    Lab(folder).up()
    second = there(folder, "web").containers[0]
    assert second.id != first.id
    assert not alive(first.pid)


def test_a_container_that_dies_comes_back_in_a_new_group_of_the_same_pod(folder: Path) -> None:
    write(folder, "web")
    Lab(folder).up()
    before, path = there(folder, "web").containers[0], group(folder, "web")
    os.kill(before.pid, signal.SIGKILL)
    until(lambda: there(folder, "web").containers[0].id != before.id and there(folder, "web").containers[0].running)
    assert group(folder, "web").parent == path.parent
    assert not path.exists()


@pytest.mark.parametrize(("code", "expected"), [(0, "Succeeded"), (3, "Failed")])
def test_a_pod_that_is_never_restarted_ends_as_its_container_did(folder: Path, code: int, expected: str) -> None:
    write(folder, "job", ["sh", "-c", f"exit {code}"], restartPolicy="Never")
    Lab(folder).up()
    until(lambda: there(folder, "job").phase == expected)
    until(
        lambda: not list((trees.look().mounts["cpu"] / default_root(folder) / "kubepods" / "besteffort").glob("pod*"))
    )


def test_what_a_container_left_behind_ends_with_it(folder: Path) -> None:
    write(
        folder,
        "parent",
        ["sh", "-c", f"setsid sleep 1000 & echo $! > {folder}/orphan; sleep 0.2"],
        restartPolicy="Never",
    )
    Lab(folder).up()
    until(lambda: there(folder, "parent").phase == "Succeeded")
    until(lambda: not alive(int((folder / "orphan").read_text())))


def test_a_command_that_is_not_there_fails_and_says_why(folder: Path) -> None:
    write(folder, "web", ["no-such-program"])
    Lab(folder).up()
    one = there(folder, "web")
    assert one.phase == "Pending"
    assert "no-such-program: No such file" in one.reason


def test_an_evicted_pod_ends_within_its_grace_and_stays_away(folder: Path) -> None:
    write(folder, "hog", STUBBORN)
    write(folder, "web")
    Lab(folder).up()
    pid, web = there(folder, "hog").containers[0].pid, there(folder, "web")
    evict(folder, "hog")
    until(lambda: there(folder, "hog").deleted_at is not None)
    until(lambda: there(folder, "hog").phase == "Failed")
    assert there(folder, "hog").reason == "Evicted"
    until(lambda: not alive(pid))
    assert Lab(folder).up() is False
    assert there(folder, "hog").phase == "Failed"
    assert there(folder, "web") == web


def test_a_container_that_ends_when_asked_does_not_come_back_within_the_grace(folder: Path) -> None:
    write(folder, "hog")
    Lab(folder).up()
    before = there(folder, "hog").containers[0]
    evict(folder, "hog", grace=60)
    until(lambda: there(folder, "hog").phase == "Failed")
    assert there(folder, "hog").containers[0].id == before.id


def test_an_eviction_is_told_once_and_forgets_nothing_of_the_pod(folder: Path) -> None:
    write(folder, "hog")
    Lab(folder).up()
    started = there(folder, "hog").started_at
    evict(folder, "hog")
    until(lambda: there(folder, "hog").phase == "Failed")
    time.sleep(0.5)  # some passes more
    assert there(folder, "hog").started_at == started
    assert [event.reason for event in status(folder).events].count("Evicted") == 1


def test_an_evicted_pod_starts_again_when_its_note_is_gone(folder: Path) -> None:
    write(folder, "hog")
    Lab(folder).up()
    note = evict(folder, "hog")
    until(lambda: there(folder, "hog").phase == "Failed")
    (evictions_folder(folder) / f"{note.uid}.json").unlink()
    until(lambda: (found := pod(folder, "hog")) is not None and found.phase == "Running")


def test_going_down_grants_each_pod_its_grace_and_leaves_only_the_users_files(folder: Path) -> None:
    write(folder, "polite", ["sh", "-c", f"trap 'echo bye > {folder}/bye; exit' TERM; while :; do sleep 0.05; done"])
    write(folder, "stubborn", STUBBORN)
    Lab(folder).up()
    pids = [one.containers[0].pid for one in Lab(folder).pods()]
    time.sleep(0.3)  # the shells set their traps
    Lab(folder).down()
    assert (folder / "bye").exists()
    assert not any(map(alive, pids))
    assert sorted(file.name for file in folder.iterdir()) == ["bye", "polite.json", "stubborn.json"]
    assert not left(folder)
    Lab(folder).down()


def test_what_the_agent_wrote_stays_when_the_lab_goes(folder: Path) -> None:
    Lab(folder).up()
    (folder / ".slackwater" / "journal.db").touch()
    Lab(folder).down()
    assert [file.name for file in (folder / ".slackwater").iterdir()] == ["journal.db"]


def test_a_supervisor_killed_by_force_leaves_its_pods_running_and_the_next_one_starts_anew(folder: Path) -> None:
    write(folder, "web")
    lab = Lab(folder)
    lab.up()
    pid = there(folder, "web").containers[0].pid
    os.kill(lab.pid or 0, signal.SIGKILL)
    until(lambda: lab.pid is None)
    assert alive(pid)
    assert lab.up() is True
    assert not alive(pid)
    assert there(folder, "web").containers[0].pid != pid


def test_a_new_root_does_not_forget_what_runs_below_the_old_one(folder: Path) -> None:
    write(folder, "web")
    lab = Lab(folder, root=f"{default_root(folder)}-old")
    lab.up()
    pid = there(folder, "web").containers[0].pid
    os.kill(lab.pid or 0, signal.SIGKILL)
    until(lambda: lab.pid is None)
    assert Lab(folder).up() is True
    assert not alive(pid)
    assert lab.root == default_root(folder)
    assert not (trees.look().mounts["cpu"] / f"{default_root(folder)}-old").exists()


def test_a_supervisor_killed_by_force_is_cleaned_up_after(folder: Path) -> None:
    write(folder, "web")
    lab = Lab(folder)
    lab.up()
    pid = there(folder, "web").containers[0].pid
    os.kill(lab.pid or 0, signal.SIGKILL)
    until(lambda: lab.pid is None)
    lab.down()
    assert not alive(pid)
    assert not left(folder)


def supervisors(folder: Path) -> list[str]:
    """The processes of any lab in this folder, however far they have come."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words = file.read_bytes().split(b"\0")
            if b"slackwater.lab.daemon" in words and os.fsencode(folder) in words:
                found.append(file.parent.name)
    return found


@pytest.mark.parametrize("after", [0.0, 0.1, 0.15, 0.2, 0.3, 0.5])
def test_an_interrupted_start_leaves_all_or_nothing(folder: Path, after: float) -> None:
    write(folder, "web", ["no-such-program"])
    write(folder, "slow")
    code = f"from pathlib import Path\nfrom slackwater.lab.folder import Lab\nLab(Path({str(folder)!r})).up()"
    starter = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    time.sleep(after)
    starter.send_signal(signal.SIGINT)
    completed = starter.wait(30) == 0
    # The interrupt may also come when `up` is done and Python is on its way out: then the lab runs, and stays.
    runs = Lab(folder).pid is not None
    assert runs or not completed
    if not runs:
        assert not supervisors(folder)
        assert not left(folder)


def test_an_interrupt_right_after_the_fork_still_finds_the_new_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def interrupted(command: list[str], *, pass_fds: tuple[int, ...] = (), **_: Any) -> None:
        started.append(subprocess.Popen(command, pass_fds=pass_fds, start_new_session=True))
        raise KeyboardInterrupt

    monkeypatch.setattr("slackwater.lab.folder.subprocess.run", interrupted)
    write(folder, "web")
    with pytest.raises(KeyboardInterrupt):
        Lab(folder).up()
    started[0].wait(30)
    assert not supervisors(folder)
    assert not left(folder)


def test_two_who_start_at_once_start_one(folder: Path) -> None:
    write(folder, "web")
    code = f"from pathlib import Path\nfrom slackwater.lab.folder import Lab\nprint(Lab(Path({str(folder)!r})).up())"
    starters = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = sorted(starter.communicate(timeout=30)[0].strip() for starter in starters)
    assert answers == ["False", "False", "True"]


def test_leaving_the_block_ends_the_lab(tmp_path: Path) -> None:
    write(tmp_path, "web", STUBBORN)
    with contextlib.suppress(KeyError), Lab(tmp_path) as lab:
        lab.up()
        raise KeyError
    assert Lab(tmp_path).pid is None
    assert not left(tmp_path)


def test_a_root_that_is_another_folders_is_not_taken(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write(folder, "web")
    Lab(folder).up()
    other = tmp_path_factory.mktemp("other")
    with pytest.raises(trees.NotPermitted, match="belong to the lab in"):
        Lab(other, root=default_root(folder)).up()
    assert alive(there(folder, "web").containers[0].pid)


def test_a_root_that_is_no_labs_is_never_swept(tmp_path: Path) -> None:
    with pytest.raises(trees.NotPermitted, match="must begin with slackwater"):
        Lab(tmp_path, root="system.slice").up()
