"""The codebook: the meaning of every column and key of a dataset, generated from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exports import documents
from exports.columns import Row, Table, column, described_in
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
        "phase, asked_at, shown_at, answered_at, seconds, refused, sight, tries, warned, without those that have no "
        "value. Names and identifiers in free text are replaced by markers.",
        values="start {game, rules_version, seed}, draw {name, value, known_to}, move {role, move, by, replaces}, end "
        "{payoffs, metrics}",
    )
    chat = column.json(
        "The chat beside the game, in order, each message a row of chat.csv: number, role, player, to, readers, text, "
        "at, after. The rules know nothing of it."
    )
    rounds = column.json("The game's own records, each a row of rounds.csv.")
    payoffs = column.json("Payoff of each role.", MONEY)
    metrics = column.json("Results of the match and of its seats.", values="null if it has no value")
    reasons = column.json("Every reason for exclusion.")


KEYS = (
    "match game rules_version version cell factors cell_kind purpose source name unverified config seed started_at "
    "ended_at seconds session stage pass repeat cluster repetition environment ended_how players seats events "
    "chat rounds payoffs metrics reasons in_dataset"
).split()
"""The keys of a line of transcripts.jsonl, in order."""
_DESCRIBED = described_in(Matches) | described_in(_OwnKeys)
TRANSCRIPT = Table("transcripts", "One match in the dataset per line.", [_DESCRIBED[key].column(key) for key in KEYS])


def entries(tables: Iterable[Table]) -> Iterator[Row]:
    """Yield the codebook's rows: one for every column, and for every key of a transcript."""
    for table in [*tables, TRANSCRIPT]:
        yield from (Row(table=table.name, **vars(column)) for column in table.columns)


def markdown(tables: Iterable[Table], *, title: str, notice: str) -> Iterator[bytes]:
    """Yield the codebook as a document, piece by piece."""
    return documents.rendered("codebook.md", title=title, notice=notice, tables=[*tables, TRANSCRIPT])
