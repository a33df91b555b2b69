"""The story is told as it went, also when it went badly."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from slackwater.api.units import Millicores, Seconds
from slackwater.cluster.ledger import status_file
from slackwater.decide.plan import Decision
from slackwater.demo.calibration import Calibration, load_for, workers_for
from slackwater.demo.cluster import Folder
from slackwater.demo.figures import Reading, Request
from slackwater.demo.machine import refuse_rivals
from slackwater.demo.performance import Act, Options
from slackwater.demo.scenario import NothingDone, Play
from slackwater.demo.simulated import Simulated
from slackwater.demo.stage import Cast, Facts, NotPermitted

SHORT = Options(rounds=1, seconds=Seconds(1.0))


class Listener:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.acts: list[Act] = []
        self.decisions: list[Decision] = []

    def calibrated(self, facts: Facts, calibration: Calibration) -> None: ...

    def act(self, act: Act) -> None:
        self.acts.append(act)

    def moment(self, reading: Reading, requests: Sequence[Request]) -> None: ...

    def decided(self, decision: Decision) -> None:
        self.decisions.append(decision)


class WithoutAgent(Simulated):
    def agent_on(self) -> None:
        """Comes up, and does nothing."""


class OnlyLooking(WithoutAgent):
    def agent_mode(self) -> str:
        return "preview (koordlet (pid 7) squeezes pods on this node too)"


class Forgetful(Simulated):
    """Its agent leaves one weight behind."""

    def settings(self) -> dict[str, str]:
        found = super().settings()
        return found if not self.decisions() else {**found, next(iter(found)): "quota None, weight 2, no mark"}


def test_off_and_on_take_turns_and_the_batch_work_ends_while_the_agent_runs(tmp_path: Path) -> None:
    listener = Listener()
    Play(Simulated(tmp_path), Options(rounds=2, seconds=Seconds(1.0)), listener).perform()
    measured = [(act.phase, act.round) for act in listener.acts if act.measuring]
    assert measured == [
        ("alone", 1),
        ("alone", 2),
        ("unmanaged", 1),
        ("slackwater", 1),
        ("unmanaged", 2),
        ("slackwater", 2),
    ]
    assert listener.acts[-1].title == "the batch work is done: all comes back"
    assert all(decision.operations for decision in listener.decisions)


def test_the_agent_gives_back_by_itself_when_the_cause_is_gone(tmp_path: Path) -> None:
    performance = Play(Simulated(tmp_path), SHORT, Listener()).perform()
    assert performance.restored
    assert performance.giving_back.after is not None
    assert performance.giving_back.after < 15


def test_batch_that_yields_gains_a_guaranteed_service_nothing_in_the_model_as_in_the_kernel(tmp_path: Path) -> None:
    workers = workers_for(2)
    stage = Simulated(tmp_path)
    stage.open(Cast(load=load_for(1.0, Seconds(18.0)), workers=workers, request=Millicores(1000), guaranteed=True))
    batch = [player for player in stage._players if player.task.endless]
    before = [player.task.weight for player in batch]
    for player in batch:
        player.group.weight = 2
    stage._take_settings()
    assert [player.task.weight for player in batch] == before


def test_an_agent_that_never_acts_is_no_demonstration(tmp_path: Path) -> None:
    with pytest.raises(NothingDone, match="did not act within"):
        Play(WithoutAgent(tmp_path), SHORT, Listener()).perform()


def test_an_agent_that_only_previews_is_named_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(NothingDone, match=r"its mode is preview \(koordlet \(pid 7\) squeezes"):
        Play(OnlyLooking(tmp_path), SHORT, Listener()).perform()


def test_the_agents_mode_is_read_from_its_own_status(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert not folder.agent_mode()
    status_file(folder.manifests).parent.mkdir(parents=True)
    status_file(folder.manifests).write_text('{"mode": "preview", "modeWhy": "configuration"}')
    assert folder.agent_mode() == "preview (configuration)"


def test_beside_another_agent_that_squeezes_the_real_thing_is_not_even_begun() -> None:
    refuse_rivals(())
    with pytest.raises(NotPermitted, match=r"crane-agent \(pid 5\).*only previews"):
        refuse_rivals(["crane-agent (pid 5)"])


def test_what_the_agent_leaves_behind_is_found_and_named(tmp_path: Path) -> None:
    performance = Play(Forgetful(tmp_path), SHORT, Listener()).perform()
    assert not performance.restored
    assert performance.giving_back.after is None
    assert "weight 2" in performance.differences[0]


def test_the_waterline_is_drawn_from_what_the_machine_reached(tmp_path: Path) -> None:
    performance = Play(Simulated(tmp_path), SHORT, Listener()).perform()
    assert performance.calibration.waterline == 1700
    assert performance.decisions[0].waterline == 1700
