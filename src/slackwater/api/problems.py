"""
What is wrong with something a user wrote, in the form in which it is shown: where it stands, what was found, and what to write instead.

A problem is built where the facts are and shown where the user is; nothing in between rewords it.
"""

from enum import Enum

from msgspec import Struct


class Severity(Enum):
    ERROR = "error"  # the document, or the rule, plays no part
    WARNING = "warning"  # it is taken, and is probably not what was meant


class Problem(Struct, frozen=True, kw_only=True):
    severity: Severity
    file: str
    line: int  # 1 is the first; 0 where a line means nothing (a folder that cannot be read)
    field: str  # a path from the document's top: spec.rules[0].metricRule.value; empty for the document itself
    value: str  # what stands there, shortened
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        what = f"{self.field}: " if self.field else ""
        found = f" (found {self.value})" if self.value else ""
        return f"{where}: {what}{self.message}{found}; {self.remedy}"
