"""The numbers of behaviour: the part of the agent's configuration that deciding depends on."""

from msgspec import Struct

from slackwater.api.units import Seconds
from slackwater.claims.base import KubeletRules


class Settings(Struct, frozen=True, kw_only=True):
    tick: Seconds = Seconds(10)
    excess: float = 0.10  # of a gap, released beyond it
    restore_margin: float = 0.05  # of a waterline, left free when giving back
    restore_wait_max: Seconds = Seconds(3600)
    stale: Seconds = Seconds(300)
    unknown_release: Seconds = Seconds(3600)
    evictions_per_tick: int = 0  # 0: as many as the gap needs
    evictions_per_hour: int = 20
    evict_on_missing_usage: bool = False
    protected_namespaces: frozenset[str] = frozenset({"kube-system"})
    kubelet: KubeletRules = KubeletRules()
