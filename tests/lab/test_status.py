"""What a folder's cluster holds, put together from what everybody wrote there."""

import json
from pathlib import Path

import msgspec

from slackwater.api.units import Wall
from slackwater.cluster.edge import Event
from slackwater.cluster.ledger import (
    Condition,
    NodeState,
    RunningContainer,
    RunningPod,
    TaintNote,
    events_file,
    node_file,
    pods_file,
    replace,
)
from slackwater.lab import ground
from slackwater.lab.status import as_json, status

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: here}
spec: {taints: [{key: mine, effect: NoSchedule, value: x}]}
"""


def event(at: float, reason: str) -> bytes:
    return msgspec.json.encode(Event(at=Wall(at), reason=reason, message="m", object="Pod/default/a")) + b"\n"


def test_a_folder_where_nobody_was_yet_is_a_node_without_pods(tmp_path: Path) -> None:
    found = json.loads(as_json(status(tmp_path)))
    assert found["node"]["name"]
    assert (found["node"]["taints"], found["node"]["conditions"], found["pods"], found["events"]) == ([], [], [], [])
    assert found["lab"]["pid"] is None


def test_taints_are_the_users_and_the_agents(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text(NODE)
    condition = Condition(type="Interference", status="True", reason="Cpu", message="m", since=Wall(0))
    state = NodeState(taints=(TaintNote(key="ours", effect="NoSchedule", value="slackwater"),), conditions=(condition,))
    replace(node_file(tmp_path), msgspec.json.encode(state))
    node = json.loads(as_json(status(tmp_path)))["node"]
    assert node["name"] == "here"
    assert [taint["key"] for taint in node["taints"]] == ["mine", "ours"]
    assert node["conditions"][0]["since"] == "1970-01-01T00:00:00.000Z"


def test_pods_have_the_names_that_scripts_read(tmp_path: Path) -> None:
    container = RunningContainer(name="main", id="ab", pid=7, cgroups={"cpu": "/cg/cpu/x"})
    pod = RunningPod(
        namespace="default", name="a", uid="u", phase="Running", qos_class="Burstable", containers=(container,)
    )
    replace(pods_file(tmp_path), msgspec.json.encode([pod]))
    (found,) = json.loads(as_json(status(tmp_path)))["pods"]
    assert {key: found[key] for key in ("namespace", "name", "uid", "phase", "qosClass")} == {
        "namespace": "default",
        "name": "a",
        "uid": "u",
        "phase": "Running",
        "qosClass": "Burstable",
    }
    assert found["containers"][0]["cgroups"] == {"cpu": "/cg/cpu/x"}
    assert found["containers"][0]["pid"] == 7


def test_the_labs_events_and_the_agents_are_one_story(tmp_path: Path) -> None:
    replace(events_file(tmp_path), event(1, "First") + event(3, "Third"))
    replace(ground.events_file(tmp_path), event(2, "Second"))
    found = json.loads(as_json(status(tmp_path)))["events"]
    assert [one["reason"] for one in found] == ["First", "Second", "Third"]
