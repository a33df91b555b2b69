"""
How the node stands with the scheduler, in a folder cluster: our taint and our condition in node.json.

Level-triggered: it is told how the node should stand and writes only where that differs from what lies there. The user's Node manifest is never changed; where it
has a taint of our key and effect already, ours is not added, for an API server allows only one.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from slackwater.api.objects import Taint
from slackwater.api.units import Wall
from slackwater.cluster.edge import Unreachable
from slackwater.cluster.ledger import Condition, NodeState, TaintNote, node_file, replace
from slackwater.decide.plan import Scheduling

OURS = "slackwater"
"""The value of a taint that says it is ours."""
CONDITION = "SlackwaterInterference"


class TaintName(Struct, frozen=True):
    key: str = "interference.crane.io"
    effect: str = "NoSchedule"


DEFAULT_TAINT = TaintName()


class Standing:
    def __init__(self, cluster: Path, name: TaintName) -> None:
        self._path = node_file(cluster)
        self._name = name
        self._state = _read(self._path)

    def look_again(self) -> None:
        """Whoever took the file away took our taint away: what stands there is what counts."""
        self._state = _read(self._path)

    @property
    def taints(self) -> tuple[Taint, ...]:
        return tuple(Taint(key=note.key, effect=note.effect, value=note.value) for note in self._state.taints)

    def set(self, wanted: Scheduling, users: Iterable[Taint], at: Wall) -> bool:
        """Whether anything was written. Raises Unreachable."""
        state = desired(self._state, wanted, self._name, taken=_has(users, self._name), at=at)
        if state == self._state:
            return False
        try:
            replace(self._path, msgspec.json.encode(state))
        except OSError as error:
            raise Unreachable(f"{self._path} could not be written: {error}") from error
        self._state = state
        return True


def desired(now: NodeState, wanted: Scheduling, name: TaintName, *, taken: bool, at: Wall) -> NodeState:
    """The state that should lie there. Our taint and our condition are ours alone; anything else in the file stays."""
    taints = tuple(taint for taint in now.taints if taint.value != OURS)
    conditions = tuple(condition for condition in now.conditions if condition.type != CONDITION)
    if not wanted.disabled:
        return NodeState(taints=taints, conditions=conditions)
    before = next((condition for condition in now.conditions if condition.type == CONDITION), None)
    condition = Condition(
        type=CONDITION,
        status="True",
        reason="WaterlineExceeded",
        message=wanted.why,
        since=before.since if before is not None else at,
    )
    ours = () if taken else (TaintNote(key=name.key, effect=name.effect, value=OURS),)
    return NodeState(taints=(*taints, *ours), conditions=(*conditions, condition))


def _has(taints: Iterable[Taint], name: TaintName) -> bool:
    return any((taint.key, taint.effect) == (name.key, name.effect) for taint in taints)


def _read(path: Path) -> NodeState:
    """Nothing where nothing lies, or what lies there is none of ours: the next write puts it right."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=NodeState)
    except (OSError, msgspec.MsgspecError):
        return NodeState()
