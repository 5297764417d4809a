"""The codebook: the meaning of every column and key of a dataset, generated from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exports.columns import Column, Row, Table, column, described_in
from exports.derived import Matches
from exports.shape import MONEY, PLAYERS


class _OwnKeys:
    """Keys of a line of transcripts.jsonl that are no columns of matches.csv."""

    factors = column.json("Level of every factor.")
    config = column.json("Every parameter of the game.")
    players = column.json("Who played each role.", values=PLAYERS)
    seats = column.json(
        "About each role, as in seats.csv: kind, agent, agent_hash, information, participant, fills_in, left_at, "
        "left_open_seconds, reasons, and told: what its person was told about the others."
    )
    events = column.json(
        "The whole log in order: number, kind and data of each event, with the time, and for moves the turn: round, "
        "phase, asked_at, shown_at, answered_at, seconds, refused, sight, without those that have no value. Names and "
        "identifiers in free text are replaced by markers.",
        values="start {game, rules_version, seed}, draw {name, value, known_to}, move {role, move}, end {payoffs, "
        "metrics}",
    )
    rounds = column.json("The game's own records, each a row of rounds.csv.")
    payoffs = column.json("Payoff of each role.", MONEY)
    metrics = column.json("Results of the match and of its seats.", values="null if it has no value")
    reasons = column.json("Every reason for exclusion.")


_KEYS = (
    "match game rules_version version cell factors cell_kind purpose source name unverified config seed started_at "
    "ended_at seconds session stage pass repeat cluster repetition environment ended_how players seats events "
    "rounds payoffs metrics reasons in_dataset"
).split()
_DESCRIBED = described_in(Matches) | described_in(_OwnKeys)
TRANSCRIPT = Table("transcripts", "One match in the dataset per line.", [_DESCRIBED[key].column(key) for key in _KEYS])
"""A line of transcripts.jsonl: its keys in order."""


def entries(tables: Iterable[Table]) -> Iterator[Row]:
    """Yield the codebook's rows: one for every column, and for every key of a transcript."""
    for table in [*tables, TRANSCRIPT]:
        yield from (Row(table=table.name, **vars(column)) for column in table.columns)


def markdown(tables: Iterable[Table], *, title: str, notice: str) -> Iterator[str]:
    """Yield the codebook as a document, piece by piece."""
    yield f"# {_line(title)}: codebook\n\n{notice}\n\n"
    yield (
        "Tables are CSV files (UTF-8, RFC 4180, a header line, empty for no value, decimal points, times in ISO "
        "8601 and UTC, booleans as TRUE and FALSE, which R and pandas read as such) and, under the same names "
        "with the ending .parquet, Parquet files with the same values. There, the kinds identifier, choice, text "
        "and json are strings (without the apostrophe that CSV puts before what a spreadsheet would read as a "
        "formula, and with empty text distinct from no value), number is a double, integer an int64, boolean a "
        "bool, and time a timestamp in microseconds and UTC. transcripts.jsonl holds one match per line as JSON; "
        "the tables of matches, seats, rounds, decisions and messages are derived from it alone. manifest.json holds "
        "the SHA-256 of every file.\n"
    )
    for table in [*tables, TRANSCRIPT]:
        file = table.file if table is not TRANSCRIPT else f"{table.name}.jsonl"
        yield f"\n## {file}\n\n{table.meaning}\n\n" + _grid(table.columns)


def _grid(columns: Iterable[Column]) -> str:
    rows = ["| column | meaning | kind | unit | values |", "|---|---|---|---|---|"]
    rows += [
        f"| `{column.name}` | {_cell(column.meaning)} | {column.kind} | {_cell(column.unit)} | {_cell(column.values)} |"
        for column in columns
    ]
    return "\n".join(rows) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
