"""
What packages bring to one run of the agent: the catalogue with their metrics, their collectors' threads, and the
watchdog that ends the agent where one of them hangs a tick.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from slackwater.agent import packages
from slackwater.agent.clock import AgentClock
from slackwater.agent.configuration import Configuration
from slackwater.agent.guarding import Guard
from slackwater.agent.hanging import Hangs
from slackwater.agent.packages import Packages
from slackwater.agent.watchdog import Watchdog
from slackwater.metrics.metric import Catalogue


class Plugged(Struct, frozen=True):
    """What packages bring to this life of the agent, and who ends it if they hang."""

    catalogue: Catalogue
    packages: Packages
    watchdog: Watchdog


@contextmanager
def ready(configuration: Configuration, clock: AgentClock) -> Iterator[Plugged]:
    found = packages.entries()
    hangs = Hangs(configuration.journal_file)
    left_out = hangs.settle(clock.wall()) if found else {}
    watchdog = Watchdog(time.monotonic, hangs.trace)
    watchdog.start()
    try:
        guard = Guard(hangs.says, time.monotonic)
        with watchdog.watched():
            loaded = packages.load(found, guard, left_out, hangs.says)
        hangs.readmit(loaded.readmitted(left_out), left_out)
        plugged = Packages(loaded, guard, clock.instant)
        plugged.start()
        yield Plugged(loaded.catalogue, plugged, watchdog)
        plugged.close()
    finally:
        watchdog.close()
    hangs.close()
