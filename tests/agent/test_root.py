"""Where the agent finds the pods' tree."""

from pathlib import Path

from slackwater.agent.configuration import Configuration, HostKeys
from slackwater.agent.ground import root_of
from slackwater.cluster.ledger import lab_file, replace


def test_beside_a_lab_the_root_is_the_labs_unless_another_is_set(tmp_path: Path) -> None:
    here = Configuration(cluster=f"folder:{tmp_path}")
    assert root_of(here) == ""
    replace(lab_file(tmp_path), b'{"root": "slackwater-lab-1"}')
    assert root_of(here) == "slackwater-lab-1"
    assert root_of(Configuration(cluster=f"folder:{tmp_path}", host=HostKeys(cgroup_root="mine"))) == "mine"
