"""Time that a benchmark moves itself, so that ten thousand ticks of ten seconds need not take a day."""

import time

TICK_SECONDS = 10.0


class SteppedTime:
    """Begins a while from now, so that no file counts as just written."""

    def __init__(self) -> None:
        self._now = time.time() + 3600.0

    def __call__(self) -> float:
        return self._now

    def step(self) -> None:
        self._now += TICK_SECONDS
