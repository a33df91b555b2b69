"""
The root below which all groups of one lab lie: its name, and whose it is.

Whatever is below a lab's root is killed when the lab goes, so nothing but a lab's own root may ever be taken for one: its name begins as ours do, and where the kernel has
extended attributes it says which folder it belongs to.
"""

import errno
import hashlib
import os
import re
from pathlib import Path

from slackwater.lab.trees import NotPermitted, Trees

_NAME = re.compile(r"slackwater[0-9A-Za-z_.-]*")
_OWNER = "user.slackwater.lab"
_NO_ATTRIBUTES = {errno.ENOTSUP, errno.EPERM, errno.EACCES}


def default_root(cluster: Path) -> str:
    """One root a folder, so that two labs never meet."""
    return f"slackwater-lab-{hashlib.sha256(os.fsencode(cluster.resolve())).hexdigest()[:8]}"


def fault(root: str) -> str | None:
    """Why this name cannot be a lab's root; None: it can."""
    if _NAME.fullmatch(root):
        return None
    return f"{root!r} cannot be a lab's root: everything below it is killed when the lab goes, so its name must begin with slackwater and have no slash"


def claim(trees: Trees, root: str, cluster: Path) -> None:
    """Writes on a root whose it is."""
    try:
        os.setxattr(trees.mounts["cpu"] / root, _OWNER, os.fsencode(cluster))
    except OSError as refusal:
        if refusal.errno not in _NO_ATTRIBUTES:
            raise


def refuse_foreign(trees: Trees, root: str, cluster: Path) -> None:
    """Raises NotPermitted where the root is another folder's; one whose folder is gone is nobody's."""
    wrong = fault(root)
    if wrong:
        raise NotPermitted(wrong)
    owner = _owner(trees.mounts["cpu"] / root)
    if owner is not None and owner != cluster and owner.is_dir():
        raise NotPermitted(f"the groups below {root} belong to the lab in {owner}: end it, or choose another root")


def _owner(folder: Path) -> Path | None:
    try:
        return Path(os.fsdecode(os.getxattr(folder, _OWNER)))
    except OSError as refusal:
        if refusal.errno in {errno.ENODATA, errno.ENOENT, *_NO_ATTRIBUTES}:
            return None
        raise
