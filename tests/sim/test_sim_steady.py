"""Steady load: what is given back stays given back."""

from sim_stories import SQUEEZE, cores, node, policy

from slackwater.agent.configuration import Configuration
from slackwater.api.units import Millicores, Percent, Seconds
from slackwater.sim.account import Account
from slackwater.sim.demand import noisy
from slackwater.sim.world import Simulation

HOUR = 360  # ticks


def steady(configuration: Configuration | None = None) -> tuple[Simulation, Account]:
    """A service of four cores with a noise of 2 % of the waterline, and batch pods that take all they get."""
    service = noisy(cores(4), Millicores(120), 1, "service")
    simulation = node(policy(), SQUEEZE, service=service, batch=cores(8), configuration=configuration)
    return simulation, Account(Millicores(6000), SQUEEZE.cool_down)


def watched(simulation: Simulation, account: Account, ticks: int) -> None:
    for _ in range(ticks):
        simulation.tick()
        account.look(simulation)


def test_a_day_of_steady_load_has_no_reversal() -> None:
    simulation, account = steady()
    watched(simulation, account, 24 * HOUR)
    assert account.reversals == 0
    assert simulation.usage > 5000


def test_giving_back_to_the_waterline_itself_would_swing() -> None:
    simulation, account = steady(Configuration(restore_margin=Percent(0.0), restore_wait_max_seconds=Seconds(0)))
    watched(simulation, account, 6 * HOUR)
    assert account.reversals > 0


def test_a_reversal_is_a_throttle_raised_and_lowered_again_within_the_wait() -> None:
    simulation, account = steady()
    watched(simulation, account, 10)
    simulation.delete("waterline")
    watched(simulation, account, 1)
    simulation.put(policy())
    watched(simulation, account, 4)
    assert account.reversals >= len(simulation.throttled) > 0


def test_time_above_the_waterline_is_counted_by_ticks() -> None:
    simulation, account = steady()
    watched(simulation, account, 3)
    assert (account.seconds_above, account.highest) == (30.0, 8000)
