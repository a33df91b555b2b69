"""A collector looks outside the tick; what it saw is as old as it is, and what it did wrong is its metric's fault."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from plugs import FILES, Clock, Node, entry, loaded, metric, silent

from slackwater.agent.collecting import Collecting
from slackwater.agent.guarding import Guard
from slackwater.agent.packages import Packages
from slackwater.api.units import Amount, Instant, Seconds
from slackwater.judge.states import RuleState
from slackwater.metrics.collector import Collector
from slackwater.metrics.scene import Collected, Scene


def collecting(collect: Callable[[], object], *, every: float = 1) -> Collecting:
    return Collecting(Collector(name=FILES, collect=collect, every=Seconds(every)), lambda: Instant(50.0))


def raising() -> object:
    raise ConnectionError("nobody answers")


def test_it_hands_over_a_value_and_when_it_looked() -> None:
    one = collecting(lambda: (1, 2))
    one.once()
    assert one.newest == Collected((1, 2), Instant(50.0))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (raising, "its collector raised ConnectionError: nobody answers"),
        (lambda: [1, 2], "its collector answered [1, 2]; a value that cannot be changed"),
        (lambda: {"etl": 1}, "a value that cannot be changed"),
    ],
)
def test_a_failing_one_keeps_its_last_value_and_says_why(does: Callable[[], object], said: str) -> None:
    answers: list[Callable[[], object]] = [lambda: 8, does, lambda: 7]

    def collect() -> object:
        return answers.pop()()

    one = collecting(collect)
    one.once()
    one.once()
    assert said in one.fault
    assert one.newest is not None
    assert one.newest.value == 7
    one.once()
    assert (one.fault, one.newest.value) == ("", 8)


def test_nothing_known_leaves_the_last_value_to_grow_old() -> None:
    answers: list[Any] = [7, None]
    one = collecting(lambda: answers.pop(0))
    one.once()
    one.once()
    assert one.newest is not None
    assert one.newest.value == 7


def test_it_runs_on_a_thread_of_its_own_until_it_is_closed() -> None:
    seen, threads = threading.Event(), []

    def look() -> int:
        threads.append(threading.current_thread().name)
        seen.set()
        return 1

    one = collecting(look, every=0.001)
    one.start()
    assert seen.wait(30)
    one.close()
    assert set(threads) == {f"collector {FILES}"}


def test_one_that_hangs_holds_neither_the_tick_nor_the_end() -> None:
    begun, never = threading.Event(), threading.Event()

    def hangs() -> int:
        begun.set()
        never.wait()
        return 1

    found = loaded(entry(metric(collector=Collector(name=FILES, collect=hangs, every=Seconds(1)))))
    packages = Packages(found, Guard(silent, Clock()), lambda: Instant(0.0))
    packages.start()
    assert begun.wait(30)
    assert packages.collected() == {}
    packages.close()
    never.set()


def test_its_fault_is_that_of_the_metrics_that_rest_on_it() -> None:
    found = loaded(entry(metric(collector=Collector(name="spool", collect=raising, every=Seconds(1)))))
    packages = Packages(found, Guard(silent, Clock()), lambda: Instant(0.0))
    packages._collecting["spool"].once()
    assert "its collector raised ConnectionError" in packages.faults()[FILES]


def test_a_value_that_was_collected_once_is_counted_once_and_grows_old() -> None:
    def counted(scene: Scene) -> Amount | None:
        collected = spool.newest(scene)
        return None if collected is None else Amount(500.0)

    spool = Collector(name=FILES, collect=lambda: 1, every=Seconds(20))
    node = Node(metric(of_node=counted, collector=spool), pods={"etl": 1000}).files(etl=500).ticks(2)
    at = node.simulation.clock.instant()
    node.brought.now = lambda: at
    state = state_of(node.ticks(3))
    assert (state.bad_ticks, state.unknown_since) == (2, None)
    assert state_of(node.ticks(3)).unknown_since is not None


def state_of(node: Node) -> RuleState:
    held = node.simulation.held
    assert held is not None
    return next(state for state in held.memory.states if state.name == "files")
