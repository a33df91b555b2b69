"""How a later sample's word is folded into a decision."""

import pytest
from journal_ticks import decision

from slackwater.decide.plan import Measurement, Outcome
from slackwater.journal.measuring import folded


@pytest.mark.parametrize(
    ("measurement", "actual", "refused"),
    [
        (Measurement(decision="7"), [1.0, None], ["", ""]),  # nothing new
        (Measurement(decision="7", actual=(2.0, 3.0)), [2.0, 3.0], ["", ""]),  # a newer figure replaces
        (Measurement(decision="7", actual=(None, 3.0)), [1.0, 3.0], ["", ""]),  # an unknown one does not
        (Measurement(decision="7", refused=("EINVAL", "")), [1.0, None], ["EINVAL", ""]),
        (Measurement(decision="7", actual=(2.0,), refused=("", "EINVAL")), [2.0, None], ["", "EINVAL"]),
        (Measurement(decision="7", actual=(2.0, 3.0, 4.0)), [2.0, 3.0], ["", ""]),  # more than there are operations
    ],
)
def test_a_measurement_adds_and_takes_nothing_back(
    measurement: Measurement, actual: list[float | None], refused: list[str]
) -> None:
    known = folded(decision(), Measurement(decision="7", actual=(1.0,)))
    told = folded(known, measurement)
    assert [operation.actual for operation in told.operations] == actual
    assert [operation.refused for operation in told.operations] == refused


def test_a_refusal_stays_when_a_figure_comes() -> None:
    refused = folded(decision(), Measurement(decision="7", refused=("EINVAL",)))
    told = folded(refused, Measurement(decision="7", actual=(0.0,)))
    assert (told.operations[0].actual, told.operations[0].refused) == (0.0, "EINVAL")


def test_an_outcome_stays_until_there_is_another() -> None:
    recovered = folded(decision(), Measurement(decision="7", outcome=Outcome(recovered=True, after_s=10)))
    assert folded(recovered, Measurement(decision="7", actual=(1.0,))).outcome == Outcome(recovered=True, after_s=10)
