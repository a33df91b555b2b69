"""A folder of manifests as a cluster: what it shows, what it keeps, what it writes and what it never touches."""

import json
import os
import threading
from pathlib import Path

import msgspec
import pytest
from cluster_folders import MACHINE, Hands, node, pod, policy, rule, running, values

from slackwater.api.objects import QosClass
from slackwater.api.units import Instant, Millicores, Seconds, Wall
from slackwater.cluster import watching
from slackwater.cluster.edge import Event, Unreachable
from slackwater.cluster.events import KEPT
from slackwater.cluster.files import KEPT_PROBLEMS
from slackwater.cluster.ledger import (
    EvictionNote,
    NodeState,
    RunningPod,
    events_file,
    evictions_folder,
    node_file,
    pods_file,
    replace,
    status_file,
)
from slackwater.decide.plan import Scheduling

BROKEN = "kind: [NodeQOS\n"
SHUT = Scheduling(disabled=True, why="node CPU over its waterline")


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return Hands(tmp_path)


def told(hands: Hands) -> str:
    return "\n".join(map(str, hands.view().problems))


# what it shows


def test_a_view_is_complete_once_everything_was_read(hands: Hands) -> None:
    assert not hands.cluster._view.complete
    assert hands.view().complete


def test_a_folder_that_cannot_be_listed_is_never_taken_for_an_empty_one(tmp_path: Path) -> None:
    hands = Hands(tmp_path / "none")
    assert not hands.view().complete
    assert "cannot be listed" in told(hands)


def test_a_folder_that_goes_away_leaves_what_it_last_said(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl"))
    hands.view()
    hands.directory.rename(hands.directory.with_name("elsewhere"))
    assert hands.names() == ["etl"]
    assert hands.view().complete


def test_a_changed_file_is_seen_at_the_next_view_and_nothing_else_makes_a_new_one(hands: Hands) -> None:
    hands.write("policy.yaml", policy("waterline", rule("cpu", "4000")))
    before = hands.view()
    hands.write("notes.txt", "not a manifest")
    hands.write("policy.yaml", policy("waterline", rule("cpu", "4000")) + "# only a remark\n")
    assert hands.view() is before
    hands.write("policy.yaml", policy("waterline", rule("cpu", "5000")))
    after = hands.view()
    assert list(values(after)) == [("waterline/cpu", 5000.0)]
    assert after.generation == before.generation + 1


def test_a_file_changed_in_place_within_the_clocks_grain_is_seen_all_the_same(hands: Hands) -> None:
    path = hands.directory / "policy.yaml"
    for value in ("4000", "5000"):
        path.write_text(policy("waterline", rule("cpu", value)))
        facts = path.stat()
        os.utime(path, ns=(facts.st_atime_ns, 1_000_000_000_000))  # the hands' own second 1000
        found = list(values(hands.view()))
    assert found == [("waterline/cpu", 5000.0)]


def test_a_file_that_is_deleted_is_a_deletion(hands: Hands) -> None:
    hands.write("policy.yaml", policy("waterline", rule("cpu")))
    hands.view()
    (hands.directory / "policy.yaml").unlink()
    assert hands.view().policies == ()
    hands.restart()
    assert hands.view().policies == ()


def test_of_one_object_in_two_files_the_first_counts_and_that_is_said(hands: Hands) -> None:
    hands.write("a.yaml", policy("waterline", rule("cpu", "4000")))
    hands.write("b.yaml", policy("waterline", rule("cpu", "5000")))
    assert list(values(hands.view())) == [("waterline/cpu", 4000.0)]
    assert "b.yaml:1: NodeQOS waterline is there twice" in told(hands)


# pods, the lab and the node


def test_a_pod_is_what_its_manifest_says_with_what_the_lab_reports(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl", cpu="2"))
    (pending,) = hands.view().pods
    hands.report(running(pending))
    (found,) = hands.view().pods
    assert (pending.phase, found.phase, found.started_at) == ("Pending", "Running", Wall(900.0))
    (container,) = found.containers
    assert container.running
    assert container.id is not None
    assert len(container.id) == 64
    assert container.requests.cpu == Millicores(2000)


def test_a_pod_whose_manifest_is_gone_stays_until_the_lab_lets_go_of_it(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl", cpu="2"))
    (etl,) = hands.view().pods
    hands.report(running(etl))
    hands.view()
    (hands.directory / "pod.yaml").unlink()
    (leaving,) = hands.view().pods
    assert leaving.containers[0].requests.cpu == Millicores(2000)
    assert hands.names() == ["etl"]  # and still at the next look
    hands.report()
    assert hands.names() == []


def test_after_a_restart_a_leaving_pod_is_known_from_the_lab_alone(hands: Hands) -> None:
    hands.report(RunningPod(namespace="default", name="etl", uid="u1", phase="Running", qos_class="Burstable"))
    (found,) = hands.view().pods
    assert (found.key, found.qos_class) == ("default/etl", QosClass.BURSTABLE)


def test_a_report_that_is_none_leaves_the_one_before(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl"))
    hands.report(running(hands.view().pods[0]))
    hands.view()
    replace(pods_file(hands.directory), b"{")
    assert hands.view().pods[0].phase == "Running"
    assert "no list of running pods" in told(hands)


def test_without_a_node_manifest_the_node_is_the_machine(hands: Hands) -> None:
    found = hands.view().node
    assert (found.name, found.cpu, found.memory) == (MACHINE.name, MACHINE.cpu, MACHINE.memory)


def test_the_only_node_manifest_is_this_node_whatever_its_name(hands: Hands) -> None:
    hands.write("node.yaml", node("worker-1"))
    found = hands.view().node
    assert (found.name, found.labels, found.cpu) == ("worker-1", {"pool": "batch"}, MACHINE.cpu)


def test_of_several_nodes_the_named_one_counts_and_only_its_pods_are_shown(tmp_path: Path) -> None:
    hands = Hands(tmp_path, node_name="b")
    hands.write("nodes.yaml", node("a"), node("b"))
    hands.write("pods.yaml", pod("on-a", node="a"), pod("on-b", node="b"), pod("anywhere"))
    assert hands.view().node.name == "b"
    assert hands.names() == ["on-b", "anywhere"]


def test_a_change_on_another_node_leaves_the_view_as_it_is(tmp_path: Path) -> None:
    hands = Hands(tmp_path, node_name="b")
    hands.write("pods.yaml", pod("on-a", node="a", cpu="1"), pod("on-b", node="b"))
    before = hands.view()
    hands.write("pods.yaml", pod("on-a", node="a", cpu="2"), pod("on-b", node="b"))
    assert hands.view() is before


# what stops making sense


@pytest.mark.parametrize("again", ["in the same run", "after a restart"])
def test_a_document_that_stops_parsing_keeps_its_last_good_version(hands: Hands, again: str) -> None:
    hands.write("policy.yaml", policy("waterline", rule("cpu", "4000")))
    hands.view()
    hands.write("policy.yaml", BROKEN)
    if again == "after a restart":
        hands.restart()
    assert list(values(hands.view())) == [("waterline/cpu", 4000.0)]
    assert "policy.yaml:" in told(hands)


def test_beside_a_broken_document_the_others_are_taken_as_they_are_now(hands: Hands) -> None:
    hands.write("all.yaml", policy("one", rule("cpu", "4000")), policy("two", rule("cpu", "4000")))
    hands.view()
    hands.write("all.yaml", policy("one", rule("cpu", "5000")), BROKEN)
    assert sorted(values(hands.view())) == [("one/cpu", 5000.0), ("two/cpu", 4000.0)]


def test_a_document_that_can_still_be_named_keeps_only_itself(hands: Hands) -> None:
    hands.write("all.yaml", policy("one", rule("cpu")), policy("two", rule("cpu")))
    hands.view()
    hands.write("all.yaml", policy("one", rule("cpu")).partition("spec:")[0] + "spec: 7\n")
    assert list(values(hands.view())) == [("one/cpu", 4000.0)]


def test_a_rule_that_stops_making_sense_keeps_its_last_good_version_and_the_others_change(hands: Hands) -> None:
    hands.write("policy.yaml", policy("waterline", rule("a"), rule("b"), rule("c")))
    hands.view()
    hands.write("policy.yaml", policy("waterline", rule("a", "much"), rule("b", "5000"), rule("c")))
    assert sorted(values(hands.view())) == [("waterline/a", 4000.0), ("waterline/b", 5000.0), ("waterline/c", 4000.0)]


def test_a_rule_that_is_taken_out_of_a_sound_policy_is_gone(hands: Hands) -> None:
    hands.write("policy.yaml", policy("waterline", rule("a"), rule("b")))
    hands.view()
    hands.write("policy.yaml", policy("waterline", rule("b")))
    assert list(values(hands.view())) == [("waterline/b", 4000.0)]


def test_a_file_emptied_a_moment_ago_is_being_written_and_not_deleted(hands: Hands) -> None:
    path = hands.directory / "policy.yaml"
    hands.write("policy.yaml", policy("waterline", rule("cpu")))
    hands.view()
    path.write_text("")
    os.utime(path, ns=(0, 999_000_000_000))
    assert len(hands.view().policies) == 1
    hands.now += 5
    assert hands.view().policies == ()


def test_what_was_deleted_leaves_no_copy_behind(hands: Hands) -> None:
    hands.write("policy.yaml", policy("waterline", rule("cpu")))
    hands.view()
    (hands.directory / "policy.yaml").unlink()
    hands.view()
    assert list((hands.directory / ".slackwater" / "lastgood").iterdir()) == []


@pytest.mark.parametrize("content", [b"\0\1\2", b"\xff\xfe\xfd", b"a: " + b"x" * (5 << 20), b"{" * 100_000])
def test_a_file_that_is_no_manifest_is_a_problem_and_hurts_nothing_else(hands: Hands, content: bytes) -> None:
    hands.write("pod.yaml", pod("etl"))
    (hands.directory / "a.yaml").write_bytes(content)
    assert hands.names() == ["etl"]
    assert "a.yaml" in told(hands)


def test_what_is_no_file_is_passed_over(hands: Hands) -> None:
    os.mkfifo(hands.directory / "pipe.yaml")
    (hands.directory / "folder.yaml").mkdir()
    (hands.directory / "nowhere.yaml").symlink_to("gone.yaml")
    hands.write("pod.yaml", pod("etl"))
    assert hands.names() == ["etl"]
    assert hands.view().problems == ()


def test_of_thousands_of_problems_a_hundred_are_kept_and_the_rest_counted(hands: Hands) -> None:
    for number in range(300):
        hands.write(f"bad-{number:03}.yaml", BROKEN)
    hands.write("pod.yaml", pod("etl"))
    problems = hands.view().problems
    assert hands.names() == ["etl"]
    assert len(problems) == KEPT_PROBLEMS + 1
    assert "200 more problems" in problems[-1].message


def test_unchanged_bad_files_are_not_read_again(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    hands.write("bad.yaml", BROKEN)
    before = hands.view()
    monkeypatch.setattr("slackwater.cluster.files.understood", lambda *_: pytest.fail("read again"))
    assert hands.view() is before


def test_a_look_that_takes_too_long_goes_on_at_the_next_view_and_is_not_complete_before(hands: Hands) -> None:
    for number in range(5):
        hands.write(f"pod-{number}.yaml", pod(f"etl-{number}"))

    def slow(*_: object) -> Instant:
        hands.now += 1.0
        return Instant(hands.now)

    hands.cluster._files._clock = slow
    first = hands.view()
    assert not first.complete
    assert 0 < len(first.pods) < 5
    hands.view()
    last = hands.view()
    assert last.complete
    assert len(last.pods) == 5


# what it writes


def test_the_users_files_are_never_written(hands: Hands) -> None:
    hands.write("all.yaml", pod("etl"), node("n"), policy("waterline", rule("cpu")))
    before = (hands.directory / "all.yaml").read_bytes(), (hands.directory / "all.yaml").stat().st_mtime_ns
    (etl,) = hands.view().pods
    hands.cluster.set_scheduling(SHUT)
    hands.cluster.evict(etl, None, "node CPU")
    hands.cluster.publish(b"{}")
    hands.cluster.emit(Event(at=Wall(1.0), reason="Evicted", message="etl", object="Pod/default/etl"))
    hands.restart()
    hands.view()
    assert ((hands.directory / "all.yaml").read_bytes(), (hands.directory / "all.yaml").stat().st_mtime_ns) == before
    assert sorted(path.name for path in hands.directory.iterdir()) == [".slackwater", "all.yaml"]


def test_scheduling_is_written_only_when_it_changes(hands: Hands) -> None:
    hands.view()
    hands.cluster.set_scheduling(Scheduling(disabled=False))
    assert not node_file(hands.directory).exists()
    hands.cluster.set_scheduling(SHUT)
    first = node_file(hands.directory).stat().st_ino
    hands.now += 10
    hands.cluster.set_scheduling(SHUT)
    assert node_file(hands.directory).stat().st_ino == first


def test_a_disabled_node_has_a_condition_that_says_why_and_since_when(hands: Hands) -> None:
    hands.view()
    hands.cluster.set_scheduling(SHUT)
    hands.now += 10
    hands.cluster.set_scheduling(Scheduling(disabled=True, why="and worse"))
    (condition,) = msgspec.json.decode(node_file(hands.directory).read_bytes(), type=NodeState).conditions
    assert (condition.status, condition.message, condition.since) == ("True", "and worse", Wall(1000.0))


def test_a_taint_left_by_a_crashed_agent_is_known_as_ours_and_taken_away(hands: Hands) -> None:
    hands.view()
    hands.cluster.set_scheduling(SHUT)
    hands.restart()
    assert len(hands.view().node.taints) == 1
    hands.cluster.set_scheduling(Scheduling(disabled=False))
    assert hands.view().node.taints == ()


def test_a_taint_that_somebody_took_away_comes_back(hands: Hands) -> None:
    hands.view()
    hands.cluster.set_scheduling(SHUT)
    node_file(hands.directory).unlink()
    assert hands.view().node.taints == ()
    hands.cluster.set_scheduling(SHUT)
    assert len(hands.view().node.taints) == 1


def test_an_eviction_is_a_note_for_whoever_runs_the_pods(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl", uid="u1"))
    hands.cluster.evict(hands.view().pods[0], Seconds(5), "node CPU")
    note = msgspec.json.decode((evictions_folder(hands.directory) / "u1.json").read_bytes(), type=EvictionNote)
    assert note == EvictionNote(
        namespace="default", name="etl", uid="u1", grace=Seconds(5), at=Wall(1000.0), why="node CPU"
    )


def test_an_eviction_outlives_the_agent_and_goes_with_the_pod(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl", uid="u1"))
    hands.cluster.evict(hands.view().pods[0], None, "node CPU")
    hands.restart()
    assert hands.view().pods[0].deleted_at == Wall(1000.0)
    (hands.directory / "pod.yaml").unlink()
    hands.view()
    assert list(evictions_folder(hands.directory).iterdir()) == []


def test_a_note_that_was_taken_away_lets_the_pod_live(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl", uid="u1"))
    hands.cluster.evict(hands.view().pods[0], None, "node CPU")
    hands.view()
    (evictions_folder(hands.directory) / "u1.json").unlink()
    assert hands.view().pods[0].deleted_at is None


def test_the_status_is_written_when_it_changes(hands: Hands) -> None:
    hands.cluster.publish(b'{"mode": "act"}')
    first = status_file(hands.directory).stat().st_ino
    hands.cluster.publish(b'{"mode": "act"}')
    assert status_file(hands.directory).stat().st_ino == first
    hands.cluster.publish(b'{"mode": "off"}')
    assert json.loads(status_file(hands.directory).read_bytes()) == {"mode": "off"}


def test_where_nothing_can_be_written_the_cluster_is_unreachable_and_goes_on_being_read(hands: Hands) -> None:
    hands.write("pod.yaml", pod("etl"))
    (hands.directory / ".slackwater").write_text("a file where the folder should be")
    assert hands.names() == ["etl"]
    with pytest.raises(Unreachable):
        hands.cluster.set_scheduling(SHUT)
    with pytest.raises(Unreachable):
        hands.cluster.publish(b"{}")
    assert hands.cluster.evict(hands.view().pods[0], None, "node CPU").answer.value == "failed"
    hands.cluster.emit(event("etl"))
    assert hands.cluster._events.failures == 1


# events


def event(message: str, at: float = 0.0) -> Event:
    return Event(at=Wall(at), reason="Throttled", message=message, object="Pod/default/etl")


def messages(hands: Hands) -> list[str]:
    hands.cluster.close()
    lines = events_file(hands.directory).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Event).message for line in lines]


def test_what_was_said_a_moment_ago_is_not_said_again(hands: Hands) -> None:
    for at in (0.0, 10.0, 299.0, 301.0):
        hands.cluster.emit(event("etl gives 0.5 cores", at))
    assert len(messages(hands)) == 2


def test_a_calendar_that_jumps_back_silences_nothing(hands: Hands) -> None:
    hands.cluster.emit(event("etl", 7200.0))
    hands.cluster.emit(event("etl", 3600.0))
    assert len(messages(hands)) == 2


def test_only_the_newest_events_are_kept_across_restarts_too(hands: Hands) -> None:
    for number in range(KEPT):
        hands.cluster.emit(event(f"{number}"))
    hands.restart()
    for number in range(KEPT, KEPT + 10):
        hands.cluster.emit(event(f"{number}"))
    assert messages(hands) == [str(number) for number in range(10, KEPT + 10)]


def test_a_burst_of_events_is_written_once_and_in_full_by_the_next_view(hands: Hands) -> None:
    hands.cluster.emit(event("first"))
    first = events_file(hands.directory).stat().st_ino
    for number in range(20):
        hands.cluster.emit(event(str(number)))
    assert events_file(hands.directory).stat().st_ino == first
    hands.view()
    assert len(events_file(hands.directory).read_bytes().splitlines()) == 21


# waking


@pytest.mark.parametrize("told_by", ["the kernel", "comparing"])
def test_a_changed_manifest_wakes_and_our_own_writing_does_not(
    hands: Hands, told_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if told_by == "comparing":
        monkeypatch.setattr(watching, "_inotify", lambda _: None)
        monkeypatch.setattr(watching, "LOOKING", 0.05)
    woken = threading.Event()
    hands.cluster.on_change(woken.set)
    hands.cluster.publish(b"{}")
    hands.write("notes.txt", "not a manifest")
    assert not woken.wait(0.3)
    hands.write("pod.yaml", pod("etl"))
    assert woken.wait(10)
    hands.cluster.close()
