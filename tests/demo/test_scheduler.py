"""The model of a scheduler does what the story of the demonstration turns on."""

import random

import pytest

from slackwater.demo.scheduler import Scheduler, Task


def after(seconds: float, *tasks: Task, cpus: int = 2) -> None:
    scheduler = Scheduler(cpus, tasks)
    while scheduler.now_ms < seconds * 1000:
        scheduler.step()


def hog(weight: float = 400.0, quota_ms: float | None = None) -> Task:
    return Task(weight=weight, quota_ms=quota_ms, endless=True)


def wait_beside(*hogs: Task, seconds: int = 10) -> float:
    """Milliseconds a request of 1 ms waits, at 250 a second."""
    service, draw, served = Task(weight=400.0), random.Random(1), 0
    scheduler = Scheduler(2, [service, *hogs])
    due = draw.expovariate(0.25)
    while scheduler.now_ms < seconds * 1000:
        while due <= scheduler.now_ms:
            service.backlog_ms += 1.0
            served += 1
            due += draw.expovariate(0.25)
        scheduler.step()
    return service.waited_ms / served


def test_equal_weights_get_equal_time() -> None:
    hogs = [hog() for _ in range(4)]
    after(2.0, *hogs)
    assert [task.ran_ms for task in hogs] == pytest.approx([1000.0] * 4, rel=0.02)


def test_weights_are_kept_where_they_compete() -> None:
    light, heavy = hog(256.0), hog(1024.0)
    after(4.0, light, heavy, cpus=1)
    assert heavy.ran_ms / light.ran_ms == pytest.approx(4.0, rel=0.05)


def test_a_quota_holds_and_is_counted() -> None:
    limited = hog(quota_ms=30.0)
    after(2.0, limited)
    assert limited.ran_ms == pytest.approx(600.0)
    assert (limited.periods, limited.throttled) == (20, 19)


def test_a_service_waits_beside_its_equals_and_hardly_beside_those_that_yield() -> None:
    equals, yielding = wait_beside(*(hog() for _ in range(4))), wait_beside(*(hog(20.0) for _ in range(4)))
    assert equals > 0.5
    assert yielding < equals / 5


def test_a_service_alone_does_not_wait() -> None:
    assert wait_beside() == 0.0
