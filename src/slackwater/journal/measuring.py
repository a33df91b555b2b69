"""
What a later sample says of a decision, folded into it. Pure: the store keeps the result in the decision's place.

A measurement only adds: what was measured once is not taken back by one that knows nothing of it.
"""

from itertools import zip_longest

from msgspec.structs import replace

from slackwater.decide.plan import Decision, Measurement, Operation


def folded(decision: Decision, measurement: Measurement) -> Decision:
    return replace(
        decision,
        operations=_measured(decision.operations, measurement),
        outcome=decision.outcome if measurement.outcome is None else measurement.outcome,
    )


def _measured(operations: tuple[Operation, ...], measurement: Measurement) -> tuple[Operation, ...]:
    news = list(zip_longest(measurement.actual, measurement.refused))[: len(operations)]
    news += [(None, None)] * (len(operations) - len(news))
    return tuple(
        operation if actual is None and not refused else _with(operation, actual, refused)
        for operation, (actual, refused) in zip(operations, news, strict=True)
    )


def _with(operation: Operation, actual: float | None, refused: str | None) -> Operation:
    return replace(
        operation,
        actual=operation.actual if actual is None else actual,
        refused=refused or operation.refused,
    )
