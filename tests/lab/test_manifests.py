"""The folder as the lab reads it: what is wanted, and what a slip in an editor does not end."""

import os
from pathlib import Path

from slackwater.lab.manifests import Manifests

POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: {0}}}\nspec: {{containers: [{{name: main, command: [sleep, '9']}}]}}\n"


def write(file: Path, *names: str, also: str = "") -> None:
    file.write_text("---\n".join([*map(POD.format, names), *([also] if also else [])]))
    # Two writes within one tick of the file system's clock would look alike.
    os.utime(file, ns=(0, hash((names, also)) % 10**9))


def wanted(manifests: Manifests) -> list[str]:
    return sorted(pod.name for pod in manifests.wanted().pods)


def test_files_that_come_change_and_go_are_taken_up(tmp_path: Path) -> None:
    manifests = Manifests(tmp_path)
    assert wanted(manifests) == []
    write(tmp_path / "a.yaml", "one", "two")
    write(tmp_path / "b.yml", "three")
    assert wanted(manifests) == ["one", "three", "two"]
    write(tmp_path / "a.yaml", "two")
    (tmp_path / "b.yml").unlink()
    assert wanted(manifests) == ["two"]


def test_nothing_is_read_again_where_nothing_changed(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "one")
    manifests = Manifests(tmp_path)
    assert manifests.wanted() is manifests.wanted()


def test_a_document_that_stops_parsing_keeps_its_pod(tmp_path: Path) -> None:
    manifests = Manifests(tmp_path)
    write(tmp_path / "a.yaml", "one", "two")
    assert wanted(manifests) == ["one", "two"]
    write(tmp_path / "a.yaml", "one", also="apiVersion: v1\nkind: Pod\nmetadata: {name: two\n")
    assert wanted(manifests) == ["one", "two"]
    assert manifests.wanted().problems


def test_a_pod_taken_out_beside_another_broken_document_is_gone(tmp_path: Path) -> None:
    manifests = Manifests(tmp_path)
    write(tmp_path / "a.yaml", "one", "two")
    assert wanted(manifests) == ["one", "two"]
    write(
        tmp_path / "a.yaml", "one", also="apiVersion: v1\nkind: Pod\nmetadata: {name: three}\nspec: {containers: 7}\n"
    )
    assert wanted(manifests) == ["one"]


def test_a_pod_of_another_node_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: here}\n")
    for node in ("here", "there"):
        text = f"{POD.format(node)}".replace("spec: {", f"spec: {{nodeName: {node}, ")
        (tmp_path / f"{node}.yaml").write_text(text)
    assert wanted(Manifests(tmp_path)) == ["here"]


def test_what_is_no_text_at_all_is_reported_and_hurts_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(os.urandom(4096))
    (tmp_path / "broken.json").symlink_to(tmp_path / "nowhere")
    write(tmp_path / "b.yaml", "one")
    found = Manifests(tmp_path).wanted()
    assert [pod.name for pod in found.pods] == ["one"]
    assert found.problems
