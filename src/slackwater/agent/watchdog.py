"""
The end of an agent that hangs: a tick that takes more than half a minute is ended with its process.

A hanging tick holds every pod as it is, and nothing inside the process can be trusted to end it; a new agent puts all
right from the marks and the journal. Two nets: a thread that logs why, writes where everything stood and ends the
process; and, for code that lets no other thread run, the interpreter's own timer behind it, which needs none.
"""

import faulthandler
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from slackwater.api.units import Seconds

log = logging.getLogger(__name__)

LONGEST_TICK = Seconds(30.0)
BEHIND = Seconds(5.0)
ENDED_BY_WATCHDOG = 3


class Watchdog:
    def __init__(
        self,
        monotonic: Callable[[], float],
        trace: int | None = None,
        *,
        longest: Seconds = LONGEST_TICK,
        end: Callable[[int], object] = os._exit,
    ) -> None:
        """`trace` is the file to which stacks are written; None: nobody wants them, and there is one net only."""
        self._monotonic = monotonic
        self._trace = trace
        self._longest = longest
        self._end = end
        self._deadline: float | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """What runs inside has so long, and no longer."""
        if self._trace is not None:
            faulthandler.dump_traceback_later(self._longest + BEHIND, exit=True, file=self._trace)
        self._deadline = self._monotonic() + self._longest
        try:
            yield
        finally:
            self._deadline = None
            if self._trace is not None:
                faulthandler.cancel_dump_traceback_later()

    def _watch(self) -> None:
        # Nobody wakes this thread: a deadline set while it waits lies no nearer than the end of its wait.
        while not self._closing.wait(self._left()):
            if self._left() <= 0:
                self._bite()
                return

    def _left(self) -> float:
        deadline = self._deadline
        return self._longest if deadline is None else max(0.0, deadline - self._monotonic())

    def _bite(self) -> None:
        """The stacks first: who waits for a log line may wait for ever."""
        if self._trace is not None:
            faulthandler.dump_traceback(file=self._trace)
        log.critical("this tick has taken more than %g s: the agent ends, and is to be started again", self._longest)
        self._end(ENDED_BY_WATCHDOG)
