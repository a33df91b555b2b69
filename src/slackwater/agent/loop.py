"""
The loop: a tick by the timer or by a wake-up, until it is told to end.

A tick that fails is logged with its reason, and the next one comes. A late tick is not made up for: the timer goes on
from now. Waking and ending write a byte to a pipe, which a signal handler may do at any moment where it may not take a
lock.
"""

import logging
import os
import select
import signal
from collections.abc import Callable
from types import FrameType

from slackwater.api.units import Seconds

log = logging.getLogger(__name__)

PIPE_HOLDS = 4096


class Loop:
    """`wake` may be called from any thread or signal handler; `stop` too."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._stop = False
        self._hears, self._calls = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def wake(self) -> None:
        try:
            os.write(self._calls, b"!")
        except BlockingIOError:
            return  # the pipe is full of wake-ups that nobody has heard yet: one more says nothing new

    def stop(self, number: int = 0, frame: FrameType | None = None) -> None:  # noqa: ARG002 - a signal handler's signature
        self._stop = True
        self.wake()

    def on_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.stop)

    def run(self, tick: Callable[[bool], None], every: Callable[[], Seconds], ticks: int | None = None) -> None:
        """`tick` is told whether it is the timer's; so many of the timer's ticks, or until `stop`."""
        due, done = self._monotonic(), 0
        while not self._told_to_stop() and (ticks is None or done < ticks):
            self._wait(max(0.0, due - self._monotonic()))
            if self._told_to_stop():
                return
            by_timer = self._monotonic() >= due
            self._one(tick, by_timer=by_timer)
            if by_timer:
                done += 1
                due = max(due + every(), self._monotonic())

    def _told_to_stop(self) -> bool:
        return self._stop

    def _wait(self, seconds: float) -> None:
        heard, _, _ = select.select([self._hears], [], [], seconds)
        if heard:
            os.read(self._hears, PIPE_HOLDS)

    def _one(self, tick: Callable[[bool], None], *, by_timer: bool) -> None:
        try:
            tick(by_timer)
        except Exception:
            # Whatever it was, pods are held by claims that only the next tick can keep right or give back.
            log.exception("this tick failed; the next one comes")
