"""What every cluster promises, asked of the folder and of its twin in memory."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_folders import Hands, node, pod

from slackwater.api.objects import Node, Pod, Taint
from slackwater.api.units import Instant, Seconds, Wall
from slackwater.cluster.edge import Cluster, Event, Unreachable
from slackwater.cluster.twin import TwinCluster
from slackwater.decide.plan import Answer, Scheduling
from slackwater.snapshot.view import View

Made = Callable[..., Cluster]
OURS = Taint(key="interference.crane.io", effect="NoSchedule", value="slackwater")
USERS = Taint(key="interference.crane.io", effect="NoSchedule", value="maintenance")
SHUT = Scheduling(disabled=True, why="node CPU over its waterline")
OPEN = Scheduling(disabled=False)


@pytest.fixture(params=["folder", "twin"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """A cluster with one pod; the node tainted by its user or not."""

    def folder(*, tainted: bool = False) -> Cluster:
        hands = Hands(tmp_path)
        hands.write("pod.yaml", pod("etl", uid="u1"))
        if tainted:
            taint = f"{{key: {USERS.key}, effect: {USERS.effect}, value: {USERS.value}}}"
            hands.write("node.yaml", node("n", f"spec: {{taints: [{taint}]}}"))
        hands.view()
        return hands.cluster

    def twin(*, tainted: bool = False) -> Cluster:
        pods = (Pod(namespace="default", name="etl", uid="u1", grace=Seconds(30)),)
        return TwinCluster(
            View(complete=True, node=Node(name="n", taints=(USERS,) if tainted else ()), pods=pods),
            wall=lambda: Wall(1000.0),
        )

    return {"folder": folder, "twin": twin}[request.param]


def seen(cluster: Cluster) -> View:
    return cluster.view(Instant(0))


def test_while_nothing_changes_the_view_is_the_same_object(made: Made) -> None:
    cluster = made()
    assert seen(cluster) is seen(cluster)


def test_disabled_scheduling_shows_as_our_taint_and_goes_without_a_trace(made: Made) -> None:
    cluster = made()
    before = seen(cluster)
    cluster.set_scheduling(SHUT)
    shut = seen(cluster)
    cluster.set_scheduling(OPEN)
    assert shut.node.taints == (OURS,)
    assert shut.generation > before.generation
    assert seen(cluster).node == before.node


def test_a_users_own_taint_of_that_key_and_effect_stays_alone_and_stays(made: Made) -> None:
    cluster = made(tainted=True)
    cluster.set_scheduling(SHUT)
    assert seen(cluster).node.taints == (USERS,)
    cluster.set_scheduling(OPEN)
    assert seen(cluster).node.taints == (USERS,)


def test_an_evicted_pod_is_terminating_at_once_with_the_grace_it_was_given(made: Made) -> None:
    cluster = made()
    (etl,) = seen(cluster).pods
    assert cluster.evict(etl, Seconds(7), "node CPU").answer is Answer.ACCEPTED
    (after,) = seen(cluster).pods
    assert (after.deleted_at, after.grace) == (Wall(1000.0), Seconds(7))


def test_an_eviction_without_a_grace_leaves_the_pods_own(made: Made) -> None:
    cluster = made()
    (etl,) = seen(cluster).pods
    cluster.evict(etl, None, "node CPU")
    assert seen(cluster).pods[0].grace == Seconds(30)


def test_a_pod_asked_for_twice_is_evicted_once(made: Made) -> None:
    cluster = made()
    (etl,) = seen(cluster).pods
    cluster.evict(etl, Seconds(7), "node CPU")
    after = seen(cluster)
    assert cluster.evict(etl, Seconds(1), "again").answer is Answer.ACCEPTED
    assert seen(cluster) == after


def test_a_pod_that_is_not_there_is_gone(made: Made) -> None:
    cluster = made()
    other = Pod(namespace="default", name="etl", uid="another")
    assert cluster.evict(other, None, "node CPU").answer is Answer.GONE


def test_an_event_is_never_refused(made: Made) -> None:
    made().emit(Event(at=Wall(1.0), reason="Throttled", message="etl", object="Pod/default/etl"))


def test_a_twin_refuses_and_fails_when_it_is_told_to() -> None:
    twin = TwinCluster(View(node=Node(name="n"), pods=(Pod(namespace="default", name="etl", uid="u1"),)))
    (etl,) = seen(twin).pods
    twin.refuse_evictions("u1")
    assert twin.evict(etl, None, "node CPU").answer is Answer.REFUSED
    assert seen(twin).pods[0].deleted_at is None
    twin.unreachable = True
    assert twin.evict(etl, None, "node CPU").answer is Answer.FAILED
    with pytest.raises(Unreachable):
        twin.set_scheduling(SHUT)
    with pytest.raises(Unreachable):
        twin.publish(b"{}")
    assert seen(twin).node.taints == ()


def test_a_twin_wakes_who_listens_when_its_view_changes() -> None:
    woken: list[str] = []
    twin = TwinCluster(View(node=Node(name="n")))
    twin.on_change(lambda: woken.append("now"))
    twin.set_view(View(node=Node(name="n")))
    assert woken == []
    twin.set_view(View(node=Node(name="m")))
    assert woken == ["now"]
