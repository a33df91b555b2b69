"""
The latency-critical service of the demonstration, with its own load.

Requests arrive at random times (open loop, Poisson) whether or not the one before is done, and each costs the same CPU time. Latency counts from when a request was
meant to start, so a stalled service cannot hide its stall by asking less. Beside it stands what the kernel says this process waited for a CPU: what the machine's own
host steals is in the latency but not in the wait. It stores nothing and judges nothing: one small record a request goes to a file, and the demonstration cuts phases from
it by time. It runs for itself (`python -m slackwater.demo.service RATE TURNS FILE`) and imports little, so that it is up at once.
"""

import os
import random
import struct
import sys
import time

RECORD = struct.Struct("<ddd")
"""When the request was due (monotonic clock), its latency in ms, and the process's wait for a CPU in ms since it began."""


def spin(turns: int) -> int:
    """The work of a request. `calibration` measures how many turns a millisecond holds."""
    total = 0
    for turn in range(turns):
        total += turn
    return total


def waited_ms(schedstat: int) -> float:
    """Run-queue delay so far, from a kept-open /proc/self/schedstat."""
    return int(os.pread(schedstat, 64, 0).split()[1]) / 1e6


def serve(rate: float, turns: int, out: int, schedstat: int) -> None:
    draw = random.Random(1)  # noqa: S311 - arrivals, not secrets; the same ones in every run
    due = time.monotonic()
    while True:
        due += draw.expovariate(rate)
        early = due - time.monotonic()
        if early > 0:
            time.sleep(early)
        spin(turns)
        os.write(out, RECORD.pack(due, (time.monotonic() - due) * 1000, waited_ms(schedstat)))


def main(arguments: list[str]) -> None:
    rate, turns, file = float(arguments[0]), int(arguments[1]), arguments[2]
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    serve(rate, turns, out, os.open("/proc/self/schedstat", os.O_RDONLY))


if __name__ == "__main__":
    main(sys.argv[1:])
