"""
The objects the agent works with, after all dialects are one: pods and nodes as slim as we read them, policies, actions and who may be touched.

Whatever a user wrote (either generation of Crane's names, with or without defaults) becomes one of these values in `api.manifests`; nothing after
that knows that there are dialects. All are frozen: a tick holds the newest and nobody changes it under its feet.
"""

from enum import Enum, IntEnum

from msgspec import Struct

from slackwater.api.selectors import LabelSelector
from slackwater.api.units import Bytes, Millicores, Seconds, Wall


class QosClass(IntEnum):
    """Kubernetes' classes, in the order in which they are acted on."""

    BEST_EFFORT = 0
    BURSTABLE = 1
    GUARANTEED = 2

    @property
    def title(self) -> str:
        return ("BestEffort", "Burstable", "Guaranteed")[self]


class Resources(Struct, frozen=True, kw_only=True):
    """One side (requests or limits) of what a container or a pod asks for; None is: not said."""

    cpu: Millicores | None = None
    memory: Bytes | None = None
    elastic_cpu: Millicores | None = None  # gocrane.io/cpu
    elastic_memory: Bytes | None = None  # gocrane.io/memory


NOTHING = Resources()


class Container(Struct, frozen=True, kw_only=True):
    name: str
    requests: Resources = NOTHING
    limits: Resources = NOTHING
    id: str | None = None  # as the runtime says it, without its scheme; None: not started yet
    running: bool = True
    started_at: Wall | None = None
    sidecar: bool = False  # an init container that goes on running
    command: tuple[str, ...] = ()  # read by the lab only
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


class Owner(Struct, frozen=True):
    kind: str
    name: str


class Pod(Struct, frozen=True, kw_only=True):
    namespace: str
    name: str
    uid: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_name: str | None = None
    priority: int | None = None
    qos_class: QosClass = QosClass.BEST_EFFORT
    requests: Resources = NOTHING  # of the pod as such (spec.resources)
    limits: Resources = NOTHING
    containers: tuple[Container, ...] = ()  # sidecars among them, init containers that end not
    owner: Owner | None = None  # its controller
    phase: str = "Pending"
    started_at: Wall | None = None
    deleted_at: Wall | None = None  # when its deletion was asked for
    grace: Seconds | None = None  # what that deletion grants; before one, what the pod itself asks for
    restart_policy: str = "Always"

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class Taint(Struct, frozen=True, kw_only=True):
    key: str
    effect: str
    value: str = ""


class Node(Struct, frozen=True, kw_only=True):
    name: str
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()  # the users' and ours
    cpu: Millicores | None = None  # capacity; None: what the machine has
    memory: Bytes | None = None
    elastic_cpu: Millicores | None = None  # of gocrane.io/cpu, what may be requested


class Strategy(Enum):
    NONE = "None"
    PREVIEW = "Preview"


class Origin(Struct, frozen=True):
    """Where a document stands: for messages only."""

    file: str
    line: int


class Rule(Struct, frozen=True, kw_only=True):
    """One objective of a policy: either a metric with a waterline or a text in Rego."""

    name: str
    action: str
    metric: str | None = None
    value: float | None = None  # in the metric's unit
    selector: LabelSelector | None = None
    text: str | None = None
    avoidance_threshold: int = 1
    restore_threshold: int = 1
    strategy: Strategy = Strategy.NONE
    line: int = 0
    field: str = ""  # where it stands in its document, for messages only: spec.rules[0]


class Policy(Struct, frozen=True, kw_only=True):
    """A NodeQOS, a NodeQOSEnsurancePolicy or (namespace given) a PodQOSEnsurancePolicy with objectives."""

    kind: str
    name: str
    namespace: str | None = None
    selector: LabelSelector | None = None  # of nodes; None: every node
    rules: tuple[Rule, ...] = ()
    cache_ttl: Seconds | None = None  # nodeLocalGet.localCacheTTLSeconds
    not_served: tuple[str, ...] = ()  # fields that are understood and that nothing acts on yet
    origin: Origin = Origin("", 0)


class Weight(Enum):
    YIELD = "yield"
    KEEP = "keep"


class CpuThrottle(Struct, frozen=True, kw_only=True):
    min_ratio: int = 10  # percent of the reference; 0 and absent are 10
    step_ratio: int = 10
    weight: Weight = Weight.YIELD


class MemoryThrottle(Struct, frozen=True, kw_only=True):
    force_gc: bool = False


class Eviction(Struct, frozen=True, kw_only=True):
    grace: Seconds | None = None  # None: the pod's own
    keep_schedulable: bool = False


class AvoidanceAction(Struct, frozen=True, kw_only=True):
    """What to do. With neither throttle nor eviction it disables scheduling."""

    name: str
    cool_down: Seconds = Seconds(300)
    cpu_throttle: CpuThrottle | None = None
    memory_throttle: MemoryThrottle | None = None
    eviction: Eviction | None = None
    description: str = ""
    origin: Origin = Origin("", 0)

    @property
    def throttles(self) -> bool:
        return self.cpu_throttle is not None or self.memory_throttle is not None

    @property
    def throttles_cpu(self) -> bool:
        return self.cpu_throttle is not None


class Scope(Struct, frozen=True):
    """One requirement of a PodQOS on what is not a label."""

    name: str  # QOSClass | Priority | Namespace
    negated: bool
    values: frozenset[str]


class PodQos(Struct, frozen=True, kw_only=True):
    """Which pods may be touched, and by which actions."""

    kind: str
    name: str
    namespace: str | None = None
    selector: LabelSelector | None = None
    scopes: tuple[Scope, ...] = ()
    allowed_actions: frozenset[str] | None = None  # None: it does not speak of actions at all
    origin: Origin = Origin("", 0)
