"""
What an operator may set, as one frozen value: every key with its type, its default, its range and the one line that documentation and `--help` print.

A key exists because it stands here and for no other reason: the YAML file, the environment, the flags, `--print-config` and docs/configuration.md are all derived
from these structs (`configuration_keys`). Nothing here reads anything; `configuration_layers` does, and what it gives is whole and in range, so nobody who holds a
`Configuration` checks it again.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from slackwater.api.selectors import LabelSelector
from slackwater.api.units import Bytes, Microseconds, Percent, Seconds

DEFAULT_FILE = Path("/etc/slackwater/config.yaml")
DEFAULT_JOURNAL = Path("/var/lib/slackwater/journal.db")
FOLDER_CLUSTER = "folder:"


class Mode(StrEnum):
    OFF = "off"  # judges nothing
    PREVIEW = "preview"  # decides and tells, and touches nothing
    ACT = "act"


class TaintEffect(StrEnum):
    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"


class LogFormat(StrEnum):
    AUTO = "auto"  # text on a terminal, else JSON
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _key(summary: str, *, fixed: bool = False, unit: str = "") -> Meta:
    """`fixed`: read once at start, so it cannot differ from node to node; `unit` is for people."""
    return Meta(description=summary, extra={"fixed": fixed, "unit": unit})


class JournalKeys(Struct, frozen=True, kw_only=True):
    path: Annotated[
        str,
        _key(
            "Where the journal lies. Empty: DIR/.slackwater/journal.db with a folder cluster, else /var/lib/slackwater/journal.db.",
            fixed=True,
        ),
    ] = ""
    max_age_hours: Annotated[float, _key("How long the journal remembers.", unit="hours"), Meta(gt=0, le=87600)] = 168.0
    max_bytes: Annotated[Bytes, _key("How large the journal may become.", unit="bytes"), Meta(ge=1 << 20)] = Bytes(
        256 << 20
    )


class HostKeys(Struct, frozen=True, kw_only=True):
    cgroup_root: Annotated[
        str,
        _key(
            "A group below each controller's root under which the pods' tree lies. Empty: where the folder's lab has put it, else at the root itself.",
            fixed=True,
        ),
    ] = ""
    proc: Annotated[str, _key("Where the host's /proc is mounted.", fixed=True)] = "/proc"


class KubeletKeys(Struct, frozen=True, kw_only=True):
    cpu_cfs_quota: Annotated[bool, _key("Whether kubelet sets quotas for CPU limits (its own key of that name).")] = (
        True
    )
    cpu_cfs_quota_period: Annotated[
        Microseconds,
        _key("The period of those quotas (its own key of that name).", unit="duration"),
        Meta(ge=1_000, le=1_000_000),
    ] = Microseconds(100_000)


class SchedulingKeys(Struct, frozen=True, kw_only=True):
    taint_key: Annotated[str, _key("The taint that disables scheduling: its key.", fixed=True), Meta(min_length=1)] = (
        "interference.crane.io"
    )
    taint_effect: Annotated[TaintEffect, _key("The taint that disables scheduling: its effect.", fixed=True)] = (
        TaintEffect.NO_SCHEDULE
    )


class LogKeys(Struct, frozen=True, kw_only=True):
    format: Annotated[
        LogFormat, _key("How log lines look; auto is text on a terminal and JSON elsewhere.", fixed=True)
    ] = LogFormat.AUTO
    level: Annotated[LogLevel, _key("Below which level nothing is logged.", fixed=True)] = LogLevel.INFO


class Setting(Struct, frozen=True):
    """One key that somebody set: its value as it is used, and where that stands."""

    path: str  # as in the file: host.cgroupRoot
    value: object
    where: str  # config.yaml:3, environment SLACKWATER_MODE, flag --mode


class NodeLayer(Struct, frozen=True):
    """What a file says for the nodes that a selector matches."""

    selector: LabelSelector
    settings: tuple[Setting, ...]


class Layers(Struct, frozen=True, kw_only=True):
    """All that was said, the weakest first; `configuration_layers.for_node` lays them over the defaults."""

    file: tuple[Setting, ...] = ()
    nodes: tuple[NodeLayer, ...] = ()
    environment: tuple[Setting, ...] = ()
    flags: tuple[Setting, ...] = ()


class Configuration(Struct, frozen=True, kw_only=True):
    mode: Annotated[
        Mode, _key("What the agent may do: act, preview (decide and tell, touch nothing) or off (judge nothing).")
    ] = Mode.ACT
    tick_seconds: Annotated[
        Seconds, _key("How often the node is looked at.", unit="seconds"), Meta(ge=0.1, le=3600)
    ] = Seconds(10.0)
    excess: Annotated[
        Percent,
        _key(
            "How much more than the gap is released, so that the node does not hover at its waterline.", unit="percent"
        ),
        Meta(ge=0, le=100),
    ] = Percent(10.0)
    restore_margin: Annotated[
        Percent, _key("How far below the waterline giving back stops.", unit="percent"), Meta(ge=0, le=100)
    ] = Percent(5.0)
    restore_wait_max_seconds: Annotated[
        Seconds, _key("The longest that the wait before giving back may grow to.", unit="seconds"), Meta(ge=0)
    ] = Seconds(3600.0)
    stale_seconds: Annotated[
        Seconds, _key("After how long without its metric a rule is reported.", unit="seconds"), Meta(ge=0)
    ] = Seconds(300.0)
    unknown_release_seconds: Annotated[
        Seconds,
        _key("After how long without its metric an active rule ends; 0 holds for ever.", unit="seconds"),
        Meta(ge=0),
    ] = Seconds(3600.0)
    evictions_per_tick: Annotated[int, _key("The most pods evicted in one tick; 0 is no limit."), Meta(ge=0)] = 0
    evictions_per_hour: Annotated[int, _key("The most pods evicted in any hour; 0 is no limit."), Meta(ge=0)] = 20
    evict_on_missing_usage: Annotated[
        bool, _key("Whether a pod may be evicted for a metric that has gone missing since its rule became active.")
    ] = False
    protected_namespaces: Annotated[tuple[str, ...], _key("Namespaces from whose pods nothing is ever taken.")] = (
        "kube-system",
    )
    cluster: Annotated[
        str,
        _key("Where pods and policies come from: kube, or folder:DIR for a folder of manifests.", fixed=True),
        Meta(pattern="^(kube|folder:.+)$"),
    ] = "kube"
    node_name: Annotated[
        str, _key("This node's name. Empty: the host's name, or the folder's only Node.", fixed=True)
    ] = ""
    journal: JournalKeys = JournalKeys()
    host: HostKeys = HostKeys()
    kubelet: KubeletKeys = KubeletKeys()
    scheduling: SchedulingKeys = SchedulingKeys()
    log: LogKeys = LogKeys()
    layers: Layers = Layers()  # where all of it came from; no key

    @property
    def folder(self) -> Path | None:
        """The folder that stands for a cluster; None: an API server does."""
        return Path(self.cluster.removeprefix(FOLDER_CLUSTER)) if self.cluster.startswith(FOLDER_CLUSTER) else None

    @property
    def journal_file(self) -> Path:
        if self.journal.path:
            return Path(self.journal.path)
        return self.folder / ".slackwater" / "journal.db" if self.folder else DEFAULT_JOURNAL
