"""Every column of a dataset, from the tables that write them; each game's own columns are on its page."""

from __future__ import annotations

from collections.abc import Iterable

from deploy.docs.reference.markdown import code, line, table
from exports import codebook, shape
from exports.tables import Column, Table, tables

EMPTY = shape.Shape(games=(), config={}, roles={}, metrics={}, meanings={}, moves={})
STEPS = ("consent", "name", "instructions", "code_word", "quiz", "match", "survey")


def page() -> str:
    parts = [
        "# Dataset columns\n\nA dataset is a folder of tables with the columns below. A study's own dataset comes "
        "with a codebook of exactly its columns (`codebook.md`, `codebook.csv`). Parameters, moves and results depend "
        "on the game: see the end of each [game's page](games/index.md).\n\n",
    ]
    for listed in common().values():
        parts.append(f"## {listed.file}\n\n{line(listed.meaning)}\n\n" + grid(listed.columns))
    parts.append("## transcripts.jsonl\n\nOne match in the dataset per line.\n\n" + grid(codebook.TRANSCRIPT))
    return "".join(parts)


def common() -> dict[str, Table]:
    """Return the tables with the columns that every study's dataset has."""
    return tables(EMPTY, steps=STEPS, checks=("code_word", "quiz"))


def of_game(key: str) -> dict[str, list[Column]]:
    """Return the columns that the game with this key adds, by table."""
    common_names = {name: {column.name for column in listed.columns} for name, listed in common().items()}
    own = tables(shape.of_configurations([(key, {})]), steps=STEPS, checks=("code_word", "quiz"))
    added = {
        listed.file: [c for c in listed.columns if c.name not in common_names[name]] for name, listed in own.items()
    }
    return {file: columns for file, columns in added.items() if columns}


def grid(columns: Iterable[Column]) -> str:
    """Return columns as a Markdown table."""
    rows = [(code(c.name), line(c.meaning), c.kind, line(c.unit), line(c.values)) for c in columns]
    return table(("column", "meaning", "kind", "unit", "values"), rows)
