"""Files as documents: values, lines, and a mistake that hurts its own document only."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slackwater.api import documents
from slackwater.api.documents import Document
from slackwater.api.paths import Path
from slackwater.api.problems import Problem


def read(text: str, file: str = "a.yaml") -> list[Document]:
    return list(documents.read(text, file))


def values(text: str) -> list[Any]:
    return [document.value for document in read(text)]


def only_problem(text: str, file: str = "a.yaml") -> Problem:
    (document,) = read(text, file)
    assert document.problem is not None
    return document.problem


def test_each_document_of_a_file_is_read() -> None:
    assert values("a: 1\n---\n# only a comment\n---\nb: 2\n...\n---\nc: 3\n") == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_a_syntax_error_hurts_only_its_own_document() -> None:
    first, second, third = read("a: 1\n---\nb: c: d\n---\ne: 2\n")
    assert (first.value, third.value) == ({"a": 1}, {"e": 2})
    assert second.problem is not None
    assert (second.index, second.problem.line) == (1, 3)


def test_dashes_inside_a_text_do_not_end_the_document() -> None:
    assert values("a: |\n  x\n  ---\n  y\nb: ---x\n") == [{"a": "x\n---\ny\n", "b": "---x"}]


def test_a_value_may_follow_the_dashes() -> None:
    assert values("--- {a: 1}\n--- # a remark\nb: 2\n") == [{"a": 1}, {"b": 2}]


def test_windows_line_ends_and_a_byte_order_mark_are_no_obstacle() -> None:
    text = documents.decode(b"\xef\xbb\xbfa: 1\r\n---\r\nb: 2\r\n", "a.yaml")
    assert isinstance(text, str)
    assert values(text) == [{"a": 1}, {"b": 2}]


def test_call_outs_are_comments() -> None:
    assert values("a: 4000 #(1)\nb: x #(2) \n") == [{"a": 4000, "b": "x"}]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("y", "y"), ("n", "n"), ("on", "on"), ("Off", "Off"), ("yes", "yes"), ("22:00", "22:00"), ("1:30", "1:30"), ("2024-05-01", "2024-05-01"),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("None", "None"),
        ("17", 17), ("0o17", 15), ("017", 15), ("089", 89.0), ("0x1F", 31), ("0b101", 5), ("1_000", 1000), ("-3", -3), ("+4", 4), ("0", 0),
        ("0.5", 0.5), (".5", 0.5), ("1e3", 1000.0), ("1.", 1.0), (".inf", ".inf"), ("1e", "1e"), ("6Gi", "6Gi"), ("-", [None]), ("9" * 70, "9" * 70),
        ('"17"', "17"), ("'true'", "true"), ("!!str 17", "17"), ("! 17", "17"), ("!!int 17", 17),
    ],
)  # fmt: skip
def test_words_are_read_as_manifests_mean_them(written: str, meant: Any) -> None:
    assert values(f"a: {written}\n" if written != "-" else "a:\n  -\n") == [{"a": meant}]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 2),
        (("a", "b"), 3),
        (("a", "b", 1), 5),
        (("a", "b", 1, "c"), 6),
        (("a", "b", 1, "nothing"), 5),
        (("nothing",), 2),
        ((), 2),
    ],
)
def test_every_field_has_its_line(path: Path, line: int) -> None:
    (document,) = read("# first\na:\n  b:\n  - x\n  - d: 1\n    c:\n      2\n")
    assert document.line_of(path) == line


def test_lines_are_those_of_the_file_in_later_documents_too() -> None:
    assert read("a: 1\n---\n\nb: 2\n")[1].line_of(("b",)) == 4


def test_a_key_that_stands_twice_is_an_error() -> None:
    problem = only_problem("a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert (problem.line, problem.field, problem.value) == (4, "a.b", "b")
    assert "twice" in problem.message


def test_aliases_and_merged_mappings_are_followed() -> None:
    assert values("base: &b {x: 1, y: 2}\na: *b\nc: {<<: *b, y: 3}\nd: {<<: [*b]}\n") == [
        {"base": {"x": 1, "y": 2}, "a": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}, "d": {"x": 1, "y": 2}}
    ]


def test_an_alias_may_stand_for_a_single_word() -> None:
    assert values("a: &n 5\nb: [*n, *n]\n") == [{"a": 5, "b": [5, 5]}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested deeper"),
        ("- " * 100_000, "nested deeper"),
        ("a: &a [*a]", "refers to what it stands in"),
        ("a: *b", "no such anchor"),
        ("a: !secret x", "tags"),
        ("[1, 2]: x", "key must be a text"),
        ("a: {<<: 3}", "<<"),
        ("a: \x07", "character"),
        ("a: [1", "not YAML"),
        ("\tb: 1", "not YAML"),
    ],
)
def test_what_cannot_be_read_is_one_clear_problem(text: str, message: str) -> None:
    assert message in only_problem(text).message


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than" in only_problem("\n".join(lines)).message


def test_json_is_read_with_its_lines() -> None:
    (document,) = read('{\n\t"a": {\n\t\t"b": [1,\n\t\t\t"on"]}}', "a.json")
    assert document.value == {"a": {"b": [1, "on"]}}
    assert document.line_of(("a", "b", 1)) == 4


def test_json_without_its_suffix_is_json_all_the_same() -> None:
    assert values('{"a": "\\ud83d\\ude00", "b":\t1}') == [{"a": "\U0001f600", "b": 1}]


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": NaN}', '{"a": 1, "a": 2}', "{a: 1}", "[" * 100_000])
def test_json_that_is_none_is_an_error(text: str) -> None:
    assert only_problem(text, "a.json").line == 1


@pytest.mark.parametrize(("raw", "message"), [(b"\x7fELF\0\0", "not text"), (b"\xff\xfea", "UTF-8")])
def test_a_binary_file_is_one_problem(raw: bytes, message: str) -> None:
    problem = documents.decode(raw, "core")
    assert isinstance(problem, Problem)
    assert message in problem.message


def test_a_file_that_is_far_too_large_is_not_parsed() -> None:
    problem = documents.decode(b"a" * (documents.LARGEST_FILE + 1), "huge.yaml")
    assert isinstance(problem, Problem)
    assert "larger" in problem.message


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text("abcé \"'#:-{}[]0\n", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc01-", min_size=1, max_size=4).filter(lambda key: key != "<<"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), plain, min_size=1, max_size=3))
def test_what_is_dumped_is_read_back(value: dict[str, Any]) -> None:
    assert values(yaml.safe_dump(value)) == [value]
    assert [document.value for document in read(json.dumps(value, indent="\t"), "a.json")] == [value]


@given(st.text(max_size=60))
def test_no_text_ever_raises(text: str) -> None:
    read(text)
    read(text, "a.json")
