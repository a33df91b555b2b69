"""
The loop: a tick by the timer or by a wake-up, until it is told to end.

A tick that fails is logged with its reason, and the next one comes. A late tick is not made up for: the timer goes on
from now.
"""

import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType

from slackwater.api.units import Seconds

log = logging.getLogger(__name__)


class Loop:
    """`wake` may be called from any thread or signal handler; `stop` too."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._changed = threading.Event()
        self._stop = threading.Event()

    def wake(self) -> None:
        self._changed.set()

    def stop(self, number: int = 0, frame: FrameType | None = None) -> None:  # noqa: ARG002 - a signal handler's signature
        self._stop.set()
        self._changed.set()

    def on_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def run(self, tick: Callable[[bool], None], every: Callable[[], Seconds], ticks: int | None = None) -> None:
        """`tick` is told whether it is the timer's; so many of the timer's ticks, or until `stop`."""
        due, done = self._monotonic(), 0
        while not self._stop.is_set() and (ticks is None or done < ticks):
            self._changed.wait(max(0.0, due - self._monotonic()))
            if self._stop.is_set():
                return
            self._changed.clear()
            by_timer = self._monotonic() >= due
            self._one(tick, by_timer=by_timer)
            if by_timer:
                done += 1
                due = max(due + every(), self._monotonic())

    def _one(self, tick: Callable[[bool], None], *, by_timer: bool) -> None:
        try:
            tick(by_timer)
        except Exception:
            # Whatever it was, pods are held by claims that only the next tick can keep right or give back.
            log.exception("this tick failed; the next one comes")
