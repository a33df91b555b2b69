"""Node-hours in which anything happens break no promise; a seed that does prints the command that replays it. `make soak` runs many more."""

import os

import pytest
from random_scenarios import ran, replay

SEEDS = int(os.environ.get("SLACKWATER_TEST_SEEDS", "60"))
A_FILE = 20  # seeds in one test, so that what is slow can be seen


@pytest.mark.parametrize("first", range(0, SEEDS, A_FILE))
def test_no_promise_is_broken_whatever_happens(first: int) -> None:
    for seed in range(first, min(first + A_FILE, SEEDS)):
        assert not ran(seed).promises_broken, replay(seed)
