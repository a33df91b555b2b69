"""The words, the JSON, the chart and the report say the same, and all of what is promised."""

import json
import xml.etree.ElementTree as ET

import pytest
from demo_results import calibration, one_round, performance, throttle

from slackwater.api.units import Seconds, Wall
from slackwater.demo import chart, outcome, report, wording
from slackwater.demo.calibration import Reached
from slackwater.demo.figures import Bucket
from slackwater.demo.performance import Options
from slackwater.demo.scenario import changed

PROMISED = {
    "backend",
    "phases",
    "rounds",
    "actions",
    "gap_millicores",
    "released_millicores",
    "actual_millicores",
    "restored",
}


def test_the_json_has_every_field_that_is_promised_to_scripts() -> None:
    made = json.loads(json.dumps(outcome.outcome(performance())))
    assert made.keys() >= PROMISED
    assert [phase["name"] for phase in made["phases"]] == ["alone", "unmanaged", "slackwater"]
    for phase in made["phases"]:
        assert phase["service"].keys() == {"wait_ms", "p50_ms", "p90_ms", "p99_ms", "requests"}
        assert "work" in phase["batch"]
        assert "cpu_cores" in phase["node"]


def test_gap_release_and_measurement_are_those_of_one_action() -> None:
    decisions = tuple(
        throttle(number, gap=gap, released=gap - 1, actual=gap - 2) for number, gap in enumerate((300.0, 100.0, 200.0))
    )
    made = outcome.outcome(performance(decisions=decisions, first_actions=("0", "1", "2")))
    figures = [made[f"{name}_millicores"] for name in ("gap", "released", "actual")]
    assert figures == [200.0, 199.0, 198.0]


def test_what_a_later_action_squeezes_of_the_rest_is_not_counted_again() -> None:
    decisions = (throttle(1, gap=300.0), throttle(2, gap=20.0), throttle(3, gap=10.0))
    assert outcome.outcome(performance(decisions=decisions, first_actions=("1",)))["gap_millicores"] == 300.0


def test_an_action_that_was_only_previewed_is_not_told_as_done() -> None:
    played = performance(decisions=(throttle(1, preview=True), throttle(2)), first_actions=("2",))
    assert len(outcome.outcome(played)["actions"]) == 1


def test_what_did_not_come_back_is_named() -> None:
    differences = changed({"a/cpu.shares": "409", "b": "1"}, {"a/cpu.shares": "2", "b": "1", "c": "marked"})
    assert differences == ("a/cpu.shares: 409 before, 2 after", "c: absent before, marked after")
    made = outcome.outcome(performance(differences=differences))
    assert made["restored"] is False


def test_the_headline_is_the_wait() -> None:
    said = wording.headline(performance())
    assert "waits 1.50 ms" in said
    assert "0.05 ms with Slackwater" in said
    assert "80% of its work" in said


def test_the_header_explains_the_result() -> None:
    said = " ".join(text for _, text in wording.header(performance()))
    for part in ("2 CPUs", "8.0 GiB", "6.1", "cgroup v1", "CPU quota of containers", "1620m", "Burstable"):
        assert part in said


def test_what_others_use_is_not_said_of_the_service() -> None:
    reached = Reached(quiet=2.0, service=0.25, full=2.0, steal=0.0)
    said = dict(wording.header(performance(calibration=calibration(reached=reached))))["waterline"]
    assert "2.00 with the service alone, 1.75 of it by others" in said


def test_one_round_has_no_range_and_three_have_one() -> None:
    (_, (_, once), *_), *_ = (line.cells for line in wording.table(performance().phases))
    three = (*performance().rounds, one_round("alone", wait=0.02), one_round("alone", wait=0.03))
    (_, (_, over), *_), *_ = (line.cells for line in wording.table(performance(rounds=three).phases))
    assert (once, over) == ("", "0.01-0.03")


def test_the_chart_is_well_formed_and_has_a_band_for_every_measured_stretch() -> None:
    tree = ET.fromstring(chart.svg(performance()))  # noqa: S314 - our own text
    bands = [node for node in tree.iter() if "band" in node.get("class", "").split()]
    assert len(bands) == 3


def test_the_chart_says_long_times_in_seconds() -> None:
    bucket = Bucket(at=1.0, wait_ms=20_960.0, p90_ms=0.5, work=0.0, cpu_cores=1.5, steal_cores=0.0)
    drawn = chart.svg(performance(series=(bucket,)))
    assert "21.0 s<" in drawn
    assert "0.50 ms<" in drawn
    assert "e+" not in drawn


@pytest.mark.parametrize("reference", ["http://", "https://", "<script", "@import", "url("])
def test_the_report_needs_nothing_but_itself(reference: str) -> None:
    made = report.html(performance(), Wall(0.0)).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert reference not in made


def test_the_report_names_the_command_that_measures_the_same_again() -> None:
    options = Options(rounds=2, seconds=Seconds(3.0), guaranteed=True)
    made = report.html(performance(options=options), Wall(0.0))
    assert "<code>slackwater demo --rounds 2 --seconds 3 --service guaranteed</code>" in made


def test_the_notes_of_the_report_do_not_scroll_with_its_table() -> None:
    made = report.html(performance(), Wall(0.0))
    assert made.index("</table></div>") < made.index("run-queue delay")


def test_what_the_machine_calls_itself_cannot_break_the_report() -> None:
    made = report.html(performance(), Wall(0.0))
    assert "<fast>" not in made
    assert "&lt;fast&gt;" in made


def test_warnings_stand_in_the_report() -> None:
    played = performance(calibration=calibration(warnings=("this machine is busy already",)))
    assert "this machine is busy already" in report.html(played, Wall(0.0))


def test_a_simulated_result_says_so_wherever_it_is_shown() -> None:
    facts = performance().facts
    played = performance(
        facts=type(facts)(**{**{f: getattr(facts, f) for f in facts.__struct_fields__}, "backend": "simulated"})
    )
    assert "SIMULATED" in report.html(played, Wall(0.0))
    assert "SIMULATED" in chart.svg(played)
    assert "SIMULATED" in " ".join(text for _, text in wording.header(played))
    assert outcome.outcome(played)["backend"] == "simulated"
