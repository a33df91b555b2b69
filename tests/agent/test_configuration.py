"""What can be set, where, and what is said when it cannot be used."""

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.agent.configuration import Configuration, Mode
from slackwater.agent.configuration_file import Misconfigured
from slackwater.agent.configuration_keys import KEYS, Unfit, parsed, shown
from slackwater.agent.configuration_layers import for_node, load, origins
from slackwater.agent.configuration_printing import printed, table
from slackwater.api.units import Seconds
from slackwater.cli.settings import configured


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def written(file: Path, text: str) -> Path:
    file.write_text(dedent(text))
    return file


def complaints(file: Path, text: str) -> list[str]:
    with pytest.raises(Misconfigured) as caught:
        load(written(file, text), {})
    return [str(problem) for problem in caught.value.problems]


def test_with_nothing_said_the_defaults_are_in_force() -> None:
    assert load(None, {}) == Configuration()


def test_a_flag_stands_over_the_environment_and_the_environment_over_the_file(file: Path) -> None:
    written(file, "tickSeconds: 1\nexcess: 1\nrestoreMargin: 1\n")
    said = {"SLACKWATER_EXCESS": "2", "SLACKWATER_RESTORE_MARGIN": "2"}
    found = load(file, said, {"restoreMargin": "3"})
    assert [found.tick_seconds, found.excess, found.restore_margin] == [1, 2, 3]


def test_a_node_layer_stands_over_the_file_where_its_selector_matches_and_under_the_environment(file: Path) -> None:
    written(
        file,
        """
        excess: 1
        host: {cgroupRoot: pods}
        nodes:
        - selector: {matchLabels: {pool: batch}}
          config: {excess: 2, tickSeconds: 2}
        - selector: {matchExpressions: [{key: pool, operator: Exists}]}
          config: {excess: 3}
        """,
    )
    everywhere = load(file, {"SLACKWATER_TICK_SECONDS": "5"})
    batch = for_node(everywhere, {"pool": "batch"})
    other = for_node(everywhere, {"pool": "web"})
    assert [float(one.excess) for one in (everywhere, batch, other)] == [1, 3, 3]
    assert batch.tick_seconds == Seconds(5)
    assert batch.host.cgroup_root == "pods"
    assert for_node(batch, {}) == everywhere


def test_where_no_layer_matches_the_configuration_is_the_same_object() -> None:
    found = load(None, {})
    assert for_node(found, {"pool": "batch"}) is found


def test_every_value_remembers_who_set_it(file: Path) -> None:
    written(file, "tickSeconds: 1\nnodes:\n- selector: {}\n  config:\n    staleSeconds: 9\n")
    found = origins(load(file, {"SLACKWATER_MODE": "preview"}, {"host.proc": "/p"}), {})
    assert found["tickSeconds"] == f"{file}:1"
    assert found["staleSeconds"] == f"{file}:5 (node layer)"
    assert found["mode"] == "environment SLACKWATER_MODE"
    assert found["host.proc"] == "flag --host-proc"
    assert found["excess"] == "default"


def test_what_is_printed_can_be_used_as_a_file_again(file: Path, tmp_path: Path) -> None:
    flags = {
        "mode": "off",
        "nodeName": "123",
        "protectedNamespaces": "a,b",
        "host.cgroupRoot": "a: b # c",
        "journal.maxBytes": "1Gi",
    }
    before = load(None, {}, {**flags, "journal.path": str(tmp_path / "j.db")})
    after = load(written(file, printed(before, {})), {})
    assert [getattr(after, name) for name in ("mode", "node_name", "host", "journal")] == [
        getattr(before, name) for name in ("mode", "node_name", "host", "journal")
    ]
    assert after.protected_namespaces == ("a", "b")


def test_mode_off_is_a_mode_and_not_false(file: Path) -> None:
    assert load(written(file, "mode: off\n"), {}).mode is Mode.OFF


def test_an_error_names_file_line_key_value_and_remedy(file: Path) -> None:
    said = complaints(file, "mode: act\ntickSeconds: 0\n")
    assert said == [f"{file}:2: tickSeconds: cannot be used (found 0); write a number from 0.1 to 3600"]


def test_a_number_in_quotes_is_said_to_be_a_text(file: Path) -> None:
    said = complaints(file, 'excess: "20"\n')
    assert said == [f'{file}:1: excess: cannot be used (found the text "20"); write a number from 0 to 100']


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("tickSecond: 1", "did you mean tickSeconds?"),
        ("cgroupRoot: x", "did you mean host.cgroupRoot?"),  # a nested key at the top
        ("host: {cgrouproot: x}", "did you mean host.cgroupRoot?"),
        ('tickSeconds: "1"', "write a number"),  # quoted: a text
        ("tickSeconds: [1]", "write a number"),
        ("evictionsPerHour: 1.5", "write a whole number"),
        ("evictOnMissingUsage: 1", "write true or false"),
        ("protectedNamespaces: kube-system", "write a list of names"),
        ("cluster: folder", "write kube or folder:DIR"),
        ("kubelet: {cpuCFSQuotaPeriod: 2s}", "from 1ms to 1000ms"),
        ("journal: {maxBytes: 12Qi}", "write a quantity"),
        ("journal: 7", "must hold keys"),
        ("- mode", "must hold keys"),
        ("mode: act\nmode: act", "twice"),
        ("mode: [", "YAML"),
        ("mode: act\n---\nmode: act", "one document"),
        ("nodes: {}", "must be a list"),
        ("nodes: [{config: {}}]", "has no selector"),
        ("nodes: [{selector: {}, config: {cluster: kube}}]", "cannot differ by node"),
        ("nodes: [{selector: {}, config: {excess: -1}}]", "from 0 to 100"),
        ("nodes: [{selector: {matchExpressions: [{key: a, operator: Near}]}}]", "NotIn"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_write(file: Path, text: str, part: str) -> None:
    (first, *_) = complaints(file, text)
    assert part in first


def test_everything_that_is_wrong_is_said_at_once(file: Path) -> None:
    written(file, "mode: loud\nexces: 1\n")
    with pytest.raises(Misconfigured) as caught:
        load(file, {"SLACKWATER_TICK_SECONDS": "soon"}, {"log.level": "loud"})
    said = str(caught.value)
    assert [word in said for word in ("mode", "exces", "SLACKWATER_TICK_SECONDS", "--log-level")] == [True] * 4


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="is not there"):
        load(tmp_path / "none.yaml", {})


def test_an_empty_file_and_a_key_without_a_value_say_nothing(file: Path) -> None:
    assert load(written(file, ""), {}) == Configuration()
    assert load(written(file, "tickSeconds:\njournal:\n"), {}) == Configuration()


def test_the_journal_of_a_folder_cluster_lies_in_its_folder() -> None:
    assert load(None, {}, {"cluster": "folder:/pods"}).journal_file == Path("/pods/.slackwater/journal.db")
    assert load(None, {}).journal_file == Path("/var/lib/slackwater/journal.db")
    assert load(None, {}, {"journal.path": "/j.db", "cluster": "folder:/pods"}).journal_file == Path("/j.db")


@pytest.mark.parametrize(
    ("path", "flag", "variable"),
    [
        ("tickSeconds", "--tick-seconds", "SLACKWATER_TICK_SECONDS"),
        ("host.cgroupRoot", "--host-cgroup-root", "SLACKWATER_HOST_CGROUP_ROOT"),
        ("kubelet.cpuCFSQuota", "--kubelet-cpu-cfs-quota", "SLACKWATER_KUBELET_CPU_CFS_QUOTA"),
    ],
)
def test_a_key_is_a_flag_and_a_variable_too(path: str, flag: str, variable: str) -> None:
    assert (KEYS[path].flag, KEYS[path].variable) == (flag, variable)


def test_no_two_keys_share_a_flag() -> None:
    assert len({key.flag for key in KEYS.values()}) == len(KEYS)


@pytest.mark.parametrize("key", KEYS.values(), ids=lambda key: key.path)
def test_every_default_is_in_its_own_range(key: object) -> None:
    found = next(k for k in KEYS.values() if k is key)
    if found.default not in ("", ("kube-system",)):
        assert parsed(found, shown(found, found.default)) == found.default
    assert found.summary.endswith(".")


@given(st.sampled_from(sorted(KEYS)), st.text(max_size=12))
def test_any_text_is_a_value_in_range_or_refused(path: str, text: str) -> None:
    key = KEYS[path]
    try:
        value = parsed(key, text)
    except Unfit:
        return
    assert isinstance(value, key.kind)


def test_a_command_may_take_only_the_keys_it_needs() -> None:
    @configured("cluster")
    def command(*, configuration: Configuration) -> Configuration:
        return configuration

    found = command(config=None, key_cluster="folder:/pods")
    assert found.folder == Path("/pods")


def test_the_document_lists_every_key_as_it_is() -> None:
    assert table() in (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
