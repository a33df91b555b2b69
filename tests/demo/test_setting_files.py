"""What was before must be seen to be again, down to the last file."""

import os
from pathlib import Path

from slackwater.demo.setting_files import settings_below


def test_every_quota_weight_and_mark_below_a_root_is_seen(tmp_path: Path) -> None:
    pod = tmp_path / "kubepods" / "pod1"
    pod.mkdir(parents=True)
    (pod / "cpu.shares").write_text("409\n")
    (pod / "cpu.cfs_quota_us").write_text("-1\n")
    (pod / "cpu.stat").write_text("nr_periods 7\n")
    assert settings_below(tmp_path) == {"kubepods/pod1/cpu.cfs_quota_us": "-1", "kubepods/pod1/cpu.shares": "409"}


def test_a_mark_that_was_left_is_a_difference(tmp_path: Path) -> None:
    before = settings_below(tmp_path)
    os.setxattr(tmp_path, "user.slackwater", b"{}")
    assert settings_below(tmp_path) != before


def test_a_root_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert settings_below(tmp_path / "gone") == {}
