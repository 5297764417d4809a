"""Every column of a dataset, from the tables that write them; each game's own columns are on its page."""

from __future__ import annotations

from collections.abc import Iterable

from deploy.docs.reference.markdown import code, line, table
from exports import codebook, shape
from exports.columns import Column, Table
from exports.designs import AskedQuestion, FactorColumn
from exports.sources import Check, StudySource
from exports.tables import tables


class AnyStudy(StudySource):
    """What every study may have; NAME stands for the names of its own stages and factors."""

    factors = [FactorColumn("NAME", ())]
    conditions = ["NAME"]
    chats = True
    questions: dict[tuple[str, str], AskedQuestion] = {}
    steps = "consent name page_NAME questions_NAME instructions comprehension lobby match quiz".split()
    checks = (Check("code_word"), Check("comprehension"), Check("quiz"))

    def __init__(self) -> None:
        """There is no study."""


def page() -> str:
    sections = [
        "# Dataset columns\n\nA dataset is a folder of tables with the columns below. A study's own dataset comes "
        "with a codebook of exactly its columns (`codebook.md`, `codebook.csv`). Parameters, moves and results depend "
        "on the game: see the end of each [game's page](games/index.md).\n\n",
    ]
    for dataset_table in common().values():
        sections.append(f"## {dataset_table.file}\n\n{line(dataset_table.meaning)}\n\n" + grid(dataset_table.columns))
    sections.append(
        "## transcripts.jsonl\n\nOne match in the dataset per line.\n\n" + grid(codebook.TRANSCRIPT.columns)
    )
    return "".join(sections)


def common() -> dict[str, Table]:
    """Return the tables with the columns that every study's dataset has."""
    return tables(shape.Shape(), AnyStudy())


def of_game(key: str) -> dict[str, list[Column]]:
    """Return the columns that the game with this key adds, by table."""
    common_names = {name: {column.name for column in dataset_table.columns} for name, dataset_table in common().items()}
    tables_with_game = tables(shape.of_configurations([(key, {})]), AnyStudy())
    added = {
        dataset_table.file: [column for column in dataset_table.columns if column.name not in common_names[name]]
        for name, dataset_table in tables_with_game.items()
    }
    return {file: columns for file, columns in added.items() if columns}


def grid(columns: Iterable[Column]) -> str:
    """Return columns as a Markdown table."""
    rows = [
        (code(column.name), line(column.meaning), column.kind, line(column.unit), line(column.values))
        for column in columns
    ]
    return table(("column", "meaning", "kind", "unit", "values"), rows)
