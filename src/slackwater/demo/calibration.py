"""
The size of everything, measured on this machine: how much work a request is, how many come, how many batch workers, and where the waterline lies.

A strong machine must show something and a weak one must not stall, so nothing is guessed: the loop is timed, the service takes about a quarter of one CPU, there are two
workers for every CPU, and the waterline is derived from what service and workers really reach together, which under a host that steals is less than the
machine seems to have. The arithmetic is here; `scenario` runs the short bursts and hands over what they gave.
"""

import time
from collections.abc import Callable

from msgspec import Struct

from slackwater.api.units import Millicores, Seconds
from slackwater.demo.service import spin

SERVICE_SHARE = 0.25  # of one CPU: enough to be hurt, and its queue stays short when it is alone
REQUESTS_A_PHASE = 4000
USUAL_RATE, HIGHEST_RATE = 250.0, 500.0  # requests a second; above, timers are what is measured
WORKERS_A_CPU = 2
MOST_PODS = 64  # kubelet's own limit is 110
WATERLINE_SHARE = 0.85  # of what service and workers reach together
BUSY_SHARE = 0.15  # of the machine, by others: above, the figures are not ours alone
LITTLE = 0.5  # cores by all workers: less is hardly worth squeezing
TRIAL_TURNS = 50_000
TRIALS = 25


class Load(Struct, frozen=True, kw_only=True):
    """What the service is to do."""

    rate: float  # requests a second
    turns: int  # of its loop, per request
    cpu_ms: float  # what these turns cost when nobody disturbs


class Workers(Struct, frozen=True, kw_only=True):
    """The batch side: so many pods, with so many workers each."""

    pods: int
    per_pod: int

    @property
    def count(self) -> int:
        return self.pods * self.per_pod


class Reached(Struct, frozen=True, kw_only=True):
    """What the two short bursts gave, in cores."""

    quiet: float  # the machine with the service alone
    service: float  # the service itself in that time
    full: float  # the machine with service and workers
    steal: float  # taken by the machine's host in the second burst

    @property
    def others(self) -> float:
        """Used in the first burst by whoever is neither service nor workers."""
        return max(0.0, self.quiet - self.service)


class Calibration(Struct, frozen=True, kw_only=True):
    cpus: int
    load: Load
    workers: Workers
    request: Millicores  # of the service and of every worker
    reached: Reached
    waterline: Millicores
    warnings: tuple[str, ...] = ()


def turns_per_ms(clock: Callable[[], float] = time.process_time, work: Callable[[int], int] = spin) -> float:
    """The best of many trials: a disturbed one only makes the loop look slower than it is."""
    best = float("inf")
    for _ in range(TRIALS):
        before = clock()
        work(TRIAL_TURNS)
        best = min(best, clock() - before)
    return TRIAL_TURNS / (best * 1000)


def load_for(turns_a_ms: float, measured: Seconds) -> Load:
    """A quarter of one CPU, in so many requests that `measured` seconds in all give enough of them where that is possible."""
    needed = REQUESTS_A_PHASE * 1.1 / measured  # a tenth more: arrivals are random
    rate = min(HIGHEST_RATE, max(USUAL_RATE, needed))
    cpu_ms = SERVICE_SHARE / rate * 1000
    return Load(rate=rate, turns=max(1, round(cpu_ms * turns_a_ms)), cpu_ms=cpu_ms)


def workers_for(cpus: int) -> Workers:
    wanted = cpus * WORKERS_A_CPU
    per_pod = -(-wanted // MOST_PODS)
    return Workers(pods=-(-wanted // per_pod), per_pod=per_pod)


def request_for(cpus: int, workers: Workers, *, guaranteed: bool) -> Millicores:
    """
    What the service and every worker ask for; the same, so that the kernel has no reason to prefer the service.

    Together they ask for no more than the machine has. A Guaranteed service is limited to its request, and must not be throttled by that limit: it gets a whole CPU, and
    the node is then promised more than once, as oversold nodes are.
    """
    return Millicores(1000 if guaranteed else max(10, cpus * 1000 // (workers.count + 1) // 50 * 50))


def waterline_for(reached: Reached) -> Millicores:
    return Millicores(round(reached.full * 1000 * WATERLINE_SHARE / 10) * 10)


def warnings_for(cpus: int, load: Load, reached: Reached, measured: Seconds) -> tuple[str, ...]:
    beside = max(0.0, reached.full - reached.quiet)
    expected = load.rate * measured
    cases = (
        (
            reached.steal > 0.1 * cpus,
            f"this machine's host steals {reached.steal:.2f} cores under load; judge by the wait, p99 is falsified",
        ),
        (
            beside < LITTLE,
            f"this machine reaches only {beside:.2f} cores more with the batch workers than without: there is little to squeeze",
        ),
        (
            expected < REQUESTS_A_PHASE,
            f"about {expected:.0f} requests a phase are fewer than {REQUESTS_A_PHASE}: p99 is an indication only (--seconds, --rounds)",
        ),
    )
    return tuple(text for holds, text in cases if holds)


def calibrated(cpus: int, load: Load, request: Millicores, reached: Reached, measured: Seconds) -> Calibration:
    return Calibration(
        cpus=cpus,
        load=load,
        workers=workers_for(cpus),
        request=request,
        reached=reached,
        waterline=waterline_for(reached),
        warnings=warnings_for(cpus, load, reached, measured),
    )
