"""
How a run ends when it is told to: by an exception where it stands, once, and never in the middle of tidying up.

A signal raises `Interrupted` in whatever is going on; from then on, or from the moment the tidying begins, further signals are ignored: somebody who presses Ctrl-C twice must not
get half a clean-up for it. No Exception, so that nothing on the way takes it for a failure it knows.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked us to end."""


class Interrupts:
    def __init__(self) -> None:
        self._armed = True

    @contextmanager
    def watched(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._received) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def disarm(self) -> None:
        self._armed = False

    def _received(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signal module's
        if self._armed:
            self._armed = False
            raise Interrupted


@contextmanager
def delayed() -> Iterator[None]:
    """Signals come after the block: between a process's start and the line that remembers it there must be nothing."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def deliver_all() -> None:
    """For a child: what its parent delayed is not delayed for it."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
