"""From the operator's configuration to the numbers that deciding depends on."""

from slackwater.agent.configuration import Configuration
from slackwater.claims.base import KubeletRules
from slackwater.decide.settings import Settings
from slackwater.judge.states import Patience


def settings_of(configuration: Configuration) -> Settings:
    return Settings(
        tick=configuration.tick_seconds,
        excess=configuration.excess / 100,
        restore_margin=configuration.restore_margin / 100,
        restore_wait_max=configuration.restore_wait_max_seconds,
        stale=configuration.stale_seconds,
        unknown_release=configuration.unknown_release_seconds,
        evictions_per_tick=configuration.evictions_per_tick,
        evictions_per_hour=configuration.evictions_per_hour,
        evict_on_missing_usage=configuration.evict_on_missing_usage,
        protected_namespaces=frozenset(configuration.protected_namespaces),
        kubelet=KubeletRules(
            cfs_quota=configuration.kubelet.cpu_cfs_quota,
            cfs_period=configuration.kubelet.cpu_cfs_quota_period,
        ),
    )


def patience_of(configuration: Configuration) -> Patience:
    return Patience(configuration.stale_seconds, configuration.unknown_release_seconds)
