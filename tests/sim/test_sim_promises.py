"""The checks of a simulated run find what they are there to find: an agent that is broken in one place breaks the promise of that place."""

import pytest
from scenario_texts import story, taken

from slackwater.agent import observing
from slackwater.api.units import Amount
from slackwater.cluster.twin import TwinCluster
from slackwater.decide import eligibility, engine
from slackwater.decide.plan import Scheduling
from slackwater.decide.situation import Situation
from slackwater.host.twin import Twin
from slackwater.judge.rules import RuleInForce, rules_in_force
from slackwater.metrics.metric import Catalogue, Metric
from slackwater.sim.running import run
from slackwater.snapshot.groups import GroupId
from slackwater.snapshot.knobs import Mark
from slackwater.snapshot.usage import Capacity
from slackwater.snapshot.view import View

ELIGIBLE = "nothing is taken from a pod that is not eligible"
Patch = pytest.MonkeyPatch


def broken(text: str) -> set[str]:
    return {one.promise for one in run(taken(text)).promises_broken}


def everybody_may_be_touched(patch: Patch) -> None:
    def nobody_is_refused(*_: object, **__: object) -> str:
        return ""

    patch.setattr(eligibility, "refusal", nobody_is_refused)
    patch.setattr(eligibility, "barred", nobody_is_refused)


def twice_the_gap(patch: Patch) -> None:
    gap = Situation.gap

    def too_much(self: Situation, metric: Metric, usage: float, waterline: float) -> Amount:
        return Amount(2 * gap(self, metric, usage, waterline))

    patch.setattr(Situation, "gap", too_much)


def no_marks(patch: Patch) -> None:
    def nothing(self: Twin, group: GroupId, mark: Mark | None) -> None:
        del self, group, mark

    patch.setattr(Twin, "set_mark", nothing)


def a_scheduling_that_stays_closed(patch: Patch) -> None:
    close = TwinCluster.set_scheduling

    def only_closes(self: TwinCluster, wanted: Scheduling) -> None:
        if wanted.disabled:
            close(self, wanted)

    patch.setattr(TwinCluster, "set_scheduling", only_closes)


@pytest.mark.parametrize("action", ["throttle", "evict"])
def test_who_may_not_be_touched_and_is(action: str, monkeypatch: Patch) -> None:
    text = story(action=action).replace("priority: -10", "priority: 10")
    assert not broken(text)
    everybody_may_be_touched(monkeypatch)
    assert ELIGIBLE in broken(text)


def test_a_group_that_is_changed_without_a_mark(monkeypatch: Patch) -> None:
    no_marks(monkeypatch)
    assert "no group is changed without a mark on it" in broken(story())


def test_a_node_that_stays_closed(monkeypatch: Patch) -> None:
    a_scheduling_that_stays_closed(monkeypatch)
    assert "an agent that ends gives everything back" in broken(story(action="close"))


def test_claims_whose_policy_is_gone_and_that_stay(monkeypatch: Patch) -> None:
    text = story(more="  faults: [{at: 5m, kind: policy-deleted, policy: waterline}]\n")
    assert not broken(text)
    known: list[RuleInForce] = []

    def never_forgets(view: View, catalogue: Catalogue, capacity: Capacity) -> tuple[RuleInForce, ...]:
        known[:] = rules_in_force(view, catalogue, capacity) or known
        return tuple(known)

    monkeypatch.setattr(observing, "rules_in_force", never_forgets)
    assert "what was throttled comes back when its cause is gone" in broken(text)


def test_more_than_the_waterline_needs(monkeypatch: Patch) -> None:
    assert not broken(story())
    twice_the_gap(monkeypatch)
    assert "it stops at the waterline" in broken(story())


def test_a_tick_that_fails_is_told_and_the_next_one_comes(monkeypatch: Patch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(engine, "evict", fails)
    result = run(taken(story()))
    assert result.ticks == 60
    assert {(one.promise, one.what) for one in result.promises_broken} == {
        ("no tick fails", "RuntimeError: broken on purpose")
    }
