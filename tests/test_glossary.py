"""No phrase from the "Not this" table of docs/glossary.md appears in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
FOLDERS = ("deploy", "docs", "games", "llm_agents", "platform", "static", "templates", "tests")
SUFFIXES = {".css", ".html", ".js", ".json", ".md", ".py", ".sh", ".txt", ".yaml"}
LEFT_OUT = ("vendor", "migrations", "__pycache__")
"""Third-party code, and files that never change."""


def patterns() -> dict[str, str]:
    """Return the patterns of the glossary's last table with their replacements."""
    table = GLOSSARY.read_text().split("## Not this")[1]
    return dict(re.findall(r"^\| `(.+)` \| (.+) \|$", table, re.MULTILINE))


def files() -> Iterator[Path]:
    yield from (path for path in ROOT.glob("*") if path.suffix in SUFFIXES or path.name == "Makefile")
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and not set(LEFT_OUT) & set(path.relative_to(ROOT).parts):
                yield path


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    excluded = (GLOSSARY, Path(__file__))
    return {str(path.relative_to(ROOT)): path.read_text().lower() for path in files() if path not in excluded}


def test_patterns_are_read_from_the_table():
    assert len(patterns()) > 20
    assert patterns()["parted by comma"] == "comma-separated"


@pytest.mark.parametrize(("pattern", "replacement"), patterns().items())
def test_phrase_appears_nowhere(texts: dict[str, str], pattern: str, replacement: str):
    places = [f"{name}:{text[: match.start()].count(chr(10)) + 1}" for name, text in texts.items()
             for match in re.finditer(pattern, text)]  # fmt: skip
    assert not places, f"say “{replacement}”: {', '.join(places)}"


def test_files_are_searched(texts: dict[str, str]):
    assert any(re.search(r"\bstandins?\b", text) for text in texts.values()), "no file was read"
