"""
What a run came to: time above a waterline, work done, and reversals.

A reversal is what steady load must never cause: a pod's throttle raised, and lowered again within the wait. It is counted from the throttles as they stand after each tick, so
whatever made them swing is seen.
"""

from slackwater.api.units import Millicores, Seconds
from slackwater.claims.claim import Throttled
from slackwater.sim.world import Simulation

Where = tuple[str, str]


class Account:
    """Looks at a simulation after each of its ticks."""

    def __init__(self, waterline: Millicores, wait: Seconds) -> None:
        self.seconds_above = 0.0
        self.highest = Millicores(0)
        self.reversals = 0
        self._waterline = waterline
        self._wait = wait
        self._quotas: dict[Where, Millicores] = {}
        self._raised: dict[Where, tuple[float, Seconds]] = {}  # when last, and the wait that held then

    def look(self, simulation: Simulation) -> None:
        if simulation.usage > self._waterline:
            self.seconds_above += simulation.configuration.tick_seconds
        self.highest = max(self.highest, simulation.usage)
        self._compare(simulation.throttled, simulation.clock.elapsed, self._wait_now(simulation))

    def _wait_now(self, simulation: Simulation) -> Seconds:
        waits = simulation.held.memory.waits.values() if simulation.held else ()
        return Seconds(max((wait.seconds for wait in waits), default=0.0) or self._wait)

    def _compare(self, throttled: tuple[Throttled, ...], now: Seconds, wait: Seconds) -> None:
        quotas = {one.where: one.quota for one in throttled}
        for where, quota in quotas.items():
            before = self._quotas.get(where)
            lowered = before is None or quota < before
            raised_at, held = self._raised.get(where, (float("-inf"), wait))
            if lowered and now - raised_at <= held:
                self.reversals += 1
        for where, before in self._quotas.items():
            after = quotas.get(where)
            if after is None or after > before:
                self._raised[where] = (now, wait)
        self._quotas = quotas


def work(simulation: Simulation, priority_below: int = 0) -> float:
    """Core seconds that pods of a lower priority got so far."""
    return sum(
        simulation.node.placed(pod.uid).got for pod in simulation.node.pods if (pod.priority or 0) < priority_below
    )
