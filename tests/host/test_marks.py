"""Marks as attributes, on kernels that have one kind, the other or none."""

import errno
import os
from pathlib import Path

import pytest

from slackwater.host import marks
from slackwater.snapshot.knobs import Knob, KnobMark, Mark

MARK = Mark({Knob.QUOTA: KnobMark(base=None, remembered=True, before=90_000, after=50_000, cause="node/over cpu")})


class Attributes:
    """A kernel's extended attributes, of which some names are refused."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refused: dict[str, int]) -> None:
        self.refused = refused
        self.kept: dict[str, bytes] = {}
        for name in ("getxattr", "setxattr", "removexattr"):
            monkeypatch.setattr(os, name, getattr(self, name))

    def getxattr(self, _: str, name: str) -> bytes:
        self._answer(name)
        if name not in self.kept:
            raise OSError(errno.ENODATA, "no such attribute")
        return self.kept[name]

    def setxattr(self, _: str, name: str, value: bytes) -> None:
        self._answer(name)
        self.kept[name] = value

    def removexattr(self, _: str, name: str) -> None:
        del self.kept[name]

    def _answer(self, name: str) -> None:
        if name in self.refused:
            raise OSError(self.refused[name], "refused")


@pytest.mark.parametrize("refused", [{}, {"user.slackwater": errno.EOPNOTSUPP}, {"trusted.slackwater": errno.EPERM}])
def test_a_mark_is_kept_under_whichever_name_the_kernel_takes(
    monkeypatch: pytest.MonkeyPatch, refused: dict[str, int]
) -> None:
    attributes = Attributes(monkeypatch, refused)
    marks.write("/group", MARK)
    assert len(attributes.kept) == 1
    assert marks.read("/group") == MARK
    marks.remove("/group")
    assert marks.read("/group") is None
    assert attributes.kept == {}


def test_a_kernel_that_takes_neither_name_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    Attributes(monkeypatch, dict.fromkeys(marks.NAMES, errno.EOPNOTSUPP))
    with pytest.raises(OSError, match="refused") as refused:
        marks.write("/group", MARK)
    assert refused.value.errno == errno.EOPNOTSUPP
    assert marks.read("/group") is None


def test_a_mark_under_the_older_name_is_taken_away_too(monkeypatch: pytest.MonkeyPatch) -> None:
    attributes = Attributes(monkeypatch, {})
    attributes.kept = dict.fromkeys(marks.NAMES, b'{"knobs":{}}')
    marks.remove("/group")
    assert attributes.kept == {}


@pytest.mark.parametrize("text", [b"", b"\xff\x00", b"[]", b'{"knobs":{"warp":{"base":1}}}', b'{"knobs":{"quota":{}}}'])
def test_what_cannot_be_read_as_a_mark_is_a_mark_of_nothing(text: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert marks.decode(text, "/group") == Mark()
    assert "/group" in caplog.text


def test_a_group_that_is_gone_has_no_mark_to_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        marks.read(str(tmp_path / "gone"))
