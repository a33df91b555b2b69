"""Label selectors as Kubernetes has them: equality and set requirements, all of which must hold."""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct


class Operator(Enum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class Requirement(Struct, frozen=True):
    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def holds(self, labels: Mapping[str, str]) -> bool:
        if self.operator is Operator.EXISTS:
            return self.key in labels
        if self.operator is Operator.DOES_NOT_EXIST:
            return self.key not in labels
        return (labels.get(self.key) in self.values) is (self.operator is Operator.IN)


class LabelSelector(Struct, frozen=True):
    """Empty: everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.holds(labels) for requirement in self.requirements)
