"""
Collectors at work: each on a thread of its own, at its interval, outside the tick.

The tick takes the newest value and never waits. A collector that fails or hangs leaves its last value to grow old, and
its metric becomes missing by that; what went wrong is told with the metric.
"""

import threading
from collections.abc import Callable

from slackwater.agent import answers
from slackwater.agent.guarding import told
from slackwater.api.units import Instant, Seconds
from slackwater.metrics.collector import Collector
from slackwater.metrics.scene import Collected


class Collecting:
    def __init__(self, collector: Collector, instant: Callable[[], Instant]) -> None:
        self.newest: Collected | None = None  # replaced as a whole, never changed
        self.fault = ""
        self._collector = collector
        self._instant = instant
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"collector {collector.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Does not wait for it: one that hangs must not hold the agent's end."""
        self._closing.set()

    def _run(self) -> None:
        wait = Seconds(0.0)
        while not self._closing.wait(wait):
            began = self._instant()
            self.once()
            wait = Seconds(max(0.0, self._collector.every - (self._instant() - began)))

    def once(self) -> None:
        at = self._instant()
        try:
            value = answers.lasting(self._collector.collect())
        except answers.Unfit as unfit:
            self.fault = f"its collector {unfit}"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code: whatever it raises is its own metric's fault
            self.fault = f"its collector raised {told(error)}"
        else:
            self.fault = ""
            self.newest = self.newest if value is None else Collected(value, at)
