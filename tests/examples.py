"""Read the code blocks of README, ARCHITECTURE.md and the documentation, and list those that no test runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
    + list((ROOT / "docs").rglob("*.md"))
)
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<code>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_SAVED_AS = re.compile(r"Save (?:this|it) as `([^`]+)`:\s*$")

EXECUTED_LANGUAGES = frozenset({"sh", "bash", "python", "r"})
"""Languages that are executed; all other blocks are only read."""
UNEXECUTED_LANGUAGES = frozenset({"text", "markdown", "html", "nginx", "yaml", "{toctree}"})

TESTED_ELSEWHERE = {
    "docs/tutorials/first-stage.md": "platform/studies/tests/test_stages.py: without writing into the repository",
    "docs/operating.md": "tests/test_handbook.py: on PostgreSQL, in a folder that represents the machine",
    "docs/api.md": "tests/test_api.py: against a live stack",
    "docs/programs.md": "tests/test_programs.py: against a live stack, with the example",
}
"""Pages whose blocks another test runs, by page."""

NOT_RUN = {
    ("README.md", "make demo"): "docs/tutorials/first-study.md runs it.",
    ("README.md", "make test"): "It would run this test again.",
    ("CONTRIBUTING.md", "make demo     # try it"): "docs/tutorials/first-study.md runs the demo.",
    ("docs/operating.md", "cp deploy/parley.env.example deploy/parley.env"): "It needs a container engine.",
    ("docs/plans.md", ".venv/bin/python manage.py study check FILE --json"): "It needs files; "
    "studies/tests/test_study_command.py runs these commands.",
    ("docs/datasets.md", ".venv/bin/python manage.py export_inspect STUDY --to DIR"): "It installs Inspect; "
    "exports/tests/test_inspecting.py runs it with the real package.",
    ("docs/otree.md", "make analysis"): "It needs a session; exports/tests/test_otree_session.py runs it with one.",
    ("docs/otree.md", "make otree-demo"): "It installs oTree; tests/test_otree.py plays the demo.",
    ("docs/otree.md", "export PARLEY_URL=…"): "Parley shows the values; tests/test_otree.py sets them.",
    ("docs/otree.md", "import pandas as pd"): "tests/test_otree.py runs it with the exports of a game.",
    ("docs/otree.md", "import parley  # the copied folder"): "It runs inside oTree, as part of deploy/otree/after.",
    ("docs/collections.md", ".venv/bin/python manage.py collect mine --game negotiation --table glee "
     "--agents script:haggler,openai:MODEL --budget 20"): "It needs a worker; tests/test_collecting.py "
    "plays such collections.",
    ("docs/collections.md", ".venv/bin/python manage.py collect mine --plan plan.yaml"): "It needs a model.",
    ("docs/collections.md", ".venv/bin/python manage.py collect mine --preset econarena-contest-melee "
     "--agents script:rational,script:level_1,openai:MODEL"): "It needs a model, too.",
    ("docs/collections.md", ".venv/bin/python manage.py collect mine --pause"): "It needs a worker as well.",
}  # fmt: skip
"""The reason why no test runs a block, by (page, first line of the block)."""


@dataclass(frozen=True)
class Block:
    """A code block of a page.

    Attributes:
        page: its path in the repository.
        line: its line on the page, from 1.
        saved_as: the file in which the text before the block tells readers to save it, or empty.
    """

    page: str
    line: int
    language: str
    code: str
    saved_as: str = ""

    @property
    def first_line(self) -> str:
        return self.code.strip().splitlines()[0]

    @property
    def reason(self) -> str | None:
        """Return the reason why no test runs the block, or None if a test does."""
        return NOT_RUN.get((self.page, self.first_line))

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.first_line}"


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return a page's blocks in these languages, in order; all blocks if no language is given."""
    text = page.read_text(encoding="utf-8")
    page_blocks = []
    for match in _BLOCK.finditer(text):
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        saved = _SAVED_AS.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        name = page.relative_to(ROOT).as_posix()
        page_blocks.append(Block(name, line, match["language"].strip(), code, saved[1] if saved else ""))
    return [block for block in page_blocks if not languages or block.language in languages]


def executed_blocks(page: Path) -> list[Block]:
    """Return the blocks that the page's test uses: code that it runs, and files that readers save."""
    return [
        block
        for block in blocks(page)
        if (block.language in EXECUTED_LANGUAGES or block.saved_as) and block.reason is None
    ]
