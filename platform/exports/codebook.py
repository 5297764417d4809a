"""The codebook: the meaning of every column and key of a dataset, generated from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

from exports.tables import Column, Kind, Table

_KEYS: list[tuple[str, Kind, str, str, str]] = [
    ("match", "identifier", "The match, the same in every file.", "", ""),
    ("game", "choice", "The game that was played.", "", ""),
    ("rules_version", "integer", "Version of the game's rules.", "", ""),
    ("version", "integer", "Version of the study, as in the manifest.", "", ""),
    (
        "source",
        "choice",
        "Where the match was played.",
        "",
        "parley: on this server; glee: imported from published data",
    ),
    ("name", "identifier", "Name of an imported game in its source; null otherwise.", "", ""),
    ("unverified", "text", "Why an imported game breaks the rules; null if it doesn't.", "", ""),
    ("config", "json", "Every parameter of the game.", "", ""),
    ("seed", "integer", "Random seed of the match.", "", ""),
    (
        "players",
        "json",
        "Who played each role.",
        "",
        "human, or the agent as script:NAME, openai:MODEL, anthropic:MODEL",
    ),
    (
        "events",
        "json",
        "The whole log in order: number, kind and data of each event; names and identifiers in free text are "
        "replaced by markers.",
        "",
        "start {game, rules_version, seed}, draw {name, value, known_to}, move {role, move}, end {payoffs, metrics}",
    ),
    ("payoffs", "json", "Payoff of each role.", "the game's money", ""),
    ("metrics", "json", "Results of the match by the game's rules.", "", "null if it has no value"),
    (
        "in_dataset",
        "boolean",
        "Whether the match is in the dataset; false only in datasets exported with excluded matches.",
        "",
        "",
    ),
]
TRANSCRIPT = tuple(
    Column(name, kind, meaning, itemgetter(name), unit=unit, values=values)
    for name, kind, meaning, unit, values in _KEYS
)
"""The keys of a line of transcripts.jsonl, in order."""

Entry = tuple[str, Column]


def entries(tables: Iterable[Table]) -> Iterator[Entry]:
    """Yield (table, column) for every column."""
    for table in tables:
        for column in table.columns:
            yield table.name, column
    for column in TRANSCRIPT:
        yield "transcripts", column


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
        "the tables of matches, decisions and messages can be derived from it. manifest.json holds the SHA-256 "
        "of every file.\n"
    )
    for table in tables:
        yield f"\n## {table.file}\n\n{table.meaning}\n\n" + _grid(table.columns)
    yield "\n## transcripts.jsonl\n\nOne match in the dataset per line.\n\n" + _grid(TRANSCRIPT)


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
