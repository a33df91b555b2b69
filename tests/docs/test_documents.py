"""The documents: every link leads somewhere, and nothing was left to be filled in."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
PLACEHOLDER = re.compile(r"^@[A-Z]+@$", re.MULTILINE)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_link_leads_to_a_file(document: Path) -> None:
    missing = [link for link in LINK.findall(document.read_text()) if not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_nothing_was_left_to_be_filled_in(document: Path) -> None:
    assert PLACEHOLDER.findall(document.read_text()) == []
