"""
A small model of a fair CPU scheduler, for the demonstration where there is no machine to use.

It knows what the story turns on and nothing else: CPUs, tasks with a weight, slices, quotas per period. The task that ran least for its weight runs next; a task that wakes waits
for the slice that is running, unless it weighs so much more that the running one has lost its right to go on. So equal weights make a service wait for a millisecond or two,
a low weight of its neighbours hardly at all, and a quota in between, as kernels do. Time goes in steps of a quarter of a millisecond; the same input gives the same output.
"""

from collections.abc import Sequence

from msgspec import Struct

STEP_MS = 0.25
SLICE_MS = 3.0
OVERWEIGHT = 4.0  # a waking task that weighs so many times the running one is let through at once


class Task(Struct, eq=False):
    """One thread. What it wants is in `backlog_ms`; the model keeps the rest."""

    weight: float
    quota_ms: float | None = None  # CPU time per period; None: unlimited
    endless: bool = False  # wants all it can get, while it is `awake`
    awake: bool = True
    backlog_ms: float = 0.0
    ran_ms: float = 0.0
    waited_ms: float = 0.0
    periods: int = 0
    throttled: int = 0
    virtual_ms: float = 0.0  # run time by weight
    in_period_ms: float = 0.0
    ran_out: bool = False
    slice_left_ms: float = 0.0

    @property
    def wants(self) -> bool:
        return (self.endless and self.awake) or self.backlog_ms > 0

    @property
    def runnable(self) -> bool:
        return self.wants and not self.ran_out


class Scheduler:
    """Owns the tasks' accounts; whoever owns the tasks sets weights, quotas and wants between steps."""

    def __init__(self, cpus: int, tasks: Sequence[Task], period_ms: float = 100.0) -> None:
        self._cpus = cpus
        self._tasks = tasks
        self._period_ms = period_ms
        self._running: list[Task] = []
        self._away = {id(task) for task in tasks}
        self._floor_ms = 0.0  # the least that anybody who was here has run, by weight
        self.now_ms = 0.0

    def step(self) -> None:
        """A quarter of a millisecond: who runs is chosen, and everybody's account is brought up to date."""
        self._begin_period()
        runnable = [task for task in self._tasks if task.runnable]
        self._wake(runnable)
        self._running = self._chosen(runnable)
        for task in runnable:
            if any(task is one for one in self._running):
                self._run(task)
            else:
                task.waited_ms += STEP_MS
        self.now_ms += STEP_MS

    def _begin_period(self) -> None:
        if self.now_ms % self._period_ms:
            return
        for task in self._tasks:
            if task.quota_ms is not None:
                task.periods += 1
                task.throttled += task.ran_out
            task.in_period_ms, task.ran_out = 0.0, False

    def _wake(self, runnable: Sequence[Task]) -> None:
        """Who slept, or had run out, has saved nothing up: it goes on where the others are."""
        self._floor_ms = max(
            self._floor_ms,
            min((task.virtual_ms for task in runnable if id(task) not in self._away), default=self._floor_ms),
        )
        for task in runnable:
            if id(task) in self._away:
                task.virtual_ms = max(task.virtual_ms, self._floor_ms)
        self._away = {id(task) for task in self._tasks if not task.runnable}

    def _chosen(self, runnable: Sequence[Task]) -> list[Task]:
        kept = [task for task in self._running if task.runnable and task.slice_left_ms > 0]
        waiting = sorted(
            (task for task in runnable if not any(task is one for one in kept)), key=lambda task: task.virtual_ms
        )
        for task in waiting:
            if len(kept) < self._cpus:
                kept.append(_with_slice(task))
                continue
            lightest = min(kept, key=lambda one: (one.weight, -one.virtual_ms))
            if task.weight >= OVERWEIGHT * lightest.weight and task.virtual_ms <= lightest.virtual_ms:
                kept = [one for one in kept if one is not lightest]
                kept.append(_with_slice(task))
        return kept

    def _run(self, task: Task) -> None:
        task.ran_ms += STEP_MS
        task.virtual_ms += STEP_MS / task.weight
        task.slice_left_ms -= STEP_MS
        task.backlog_ms = max(0.0, task.backlog_ms - STEP_MS)
        task.in_period_ms += STEP_MS
        if task.quota_ms is not None and task.in_period_ms >= task.quota_ms:
            task.ran_out = True


def _with_slice(task: Task) -> Task:
    task.slice_left_ms = SLICE_MS
    return task
