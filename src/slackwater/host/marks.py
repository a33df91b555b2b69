"""
The mark on a group: an extended attribute of its directory, which lives and dies with the group and needs no file of ours.

`user.slackwater` is preferred; where the kernel keeps user attributes off cgroups, `trusted.slackwater` takes its place (root alone sees it). What cannot be read as a mark
is a mark of nothing: it says that the group was ours, and nothing of what to do about it.
"""

import errno
import logging
import os

import msgspec

from slackwater.snapshot.knobs import Mark

NAMES = ("user.slackwater", "trusted.slackwater")
_ABSENT = errno.ENODATA
NOT_HERE = frozenset({errno.EOPNOTSUPP, errno.EPERM, errno.EACCES})
"""How a kernel says that it keeps no such attributes on cgroups, or not for us."""
_log = logging.getLogger(__name__)


def read(directory: str) -> Mark | None:
    """Raises OSError when the directory is gone."""
    for name in NAMES:
        text = _attribute(directory, name)
        if text is not None:
            return decode(text, directory)
    return None


def write(directory: str, mark: Mark) -> None:
    """Raises OSError when no name is taken, or the directory is gone."""
    text = msgspec.json.encode(mark)
    try:
        os.setxattr(directory, NAMES[0], text)
    except OSError as refusal:
        if refusal.errno not in NOT_HERE:
            raise
        os.setxattr(directory, NAMES[1], text)


def remove(directory: str) -> None:
    """Both names: the mark may be older than this kernel. Raises OSError when the directory is gone."""
    for name in NAMES:
        if _attribute(directory, name) is not None:
            os.removexattr(directory, name)


def decode(text: bytes, where: str) -> Mark:
    try:
        return msgspec.json.decode(text, type=Mark)
    except msgspec.DecodeError as error:
        _log.warning("the mark on %s cannot be read (%s): nothing is restored by it", where, error)
        return Mark()


def _attribute(directory: str, name: str) -> bytes | None:
    try:
        return os.getxattr(directory, name)
    except OSError as failure:
        if failure.errno == _ABSENT or failure.errno in NOT_HERE:
            return None
        raise
