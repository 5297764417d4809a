"""The tables that are derived from the transcripts: matches, seats, rounds, decisions, messages.

Each is a dataclass whose fields are the columns, with kind, meaning and unit. A function of one transcript alone makes
its rows: the export writes them, and the verification makes them again and compares every column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from exports.csvsafe import compact_json

Transcript = Mapping[str, Any]
"""A line of transcripts.jsonl; the codebook says what its keys mean. Times may be text or times."""
Kind = Literal["identifier", "choice", "text", "number", "integer", "boolean", "time", "json"]
Moment = datetime | str | None
"""A point in time: in the database's form while it is exported, as text in a transcript that is read."""
SAME_IN_ALL = "The match, the same in every file."
MONEY = "the game's money"


@dataclass(frozen=True)
class Described:
    """What the codebook says about a column."""

    kind: Kind
    meaning: str
    unit: str = ""
    values: str = ""


def column(kind: Kind, meaning: str, *, unit: str = "", values: str = "", named: str = "") -> Any:
    """Return a field that is a column.

    Args:
        named: its name, where that cannot be a field's.
    """
    return dataclasses.field(metadata={"column": Described(kind, meaning, unit, values), "named": named})


def spread(*prefixes: str) -> Any:
    """Return a field whose entries are columns of their own, which depend on the games and the design.

    Args:
        prefixes: of their names; a later one is used where a name would be another column's.
    """
    return dataclasses.field(metadata={"prefixes": prefixes})


@dataclass(slots=True)
class MatchRow:
    """One row per match in the dataset."""

    match: str = column("identifier", SAME_IN_ALL)
    game: str = column("choice", "The game that was played.")
    rules_version: int = column("integer", "Version of the game's rules.")
    version: int = column("integer", "Version of the study, as in the manifest.")
    cell: int | None = column(
        "integer",
        "Number of the cell within the version, or of the configuration in a collection; see cells.csv.",
    )
    factors: Mapping[str, str] = spread("factor_")
    cell_kind: str | None = column(
        "choice",
        "Kind of the published row that the configuration is.",
        values="such as main, variant, random; empty for other configurations",
    )
    purpose: str = column("choice", "Purpose of the match.", values="study, demo, collection, imported, simulated")
    source: str = column(
        "choice", "Where the match was played.", values="parley: here; glee: imported from the published GLEE data"
    )
    name: str | None = column("identifier", "Name of an imported game in its source.")
    unverified: str | None = column(
        "text",
        "Why an imported game breaks the rules; its results are still computed by the formulas.",
        values="empty if every move is legal",
    )
    seed: int = column("integer", "Random seed of the match.")
    started_at: Moment = column("time", "When the match was opened.", unit="UTC")
    ended_at: Moment = column(
        "time",
        "Time of its last move.",
        unit="UTC",
        values="empty for imported matches, as are all their times",
    )
    seconds: float | None = column("number", "Time from opening to last move.", unit="seconds")
    session: int | None = column(
        "integer", "Position of the match in its first participant's enrolment, from 1; empty outside studies."
    )
    stage: str | None = column("choice", "Name of its stage in the study's plan.")
    passes: str | None = column(
        "choice",
        "Levels of the pass through the plan's blocks, joined by dots.",
        values="empty without factors within participants",
        named="pass",
    )
    repeat: int | None = column("integer", "Number of the match within its stage and pass, from 1.")
    cluster: str | None = column(
        "identifier",
        "The same for all matches of a cohort, or of a group that was formed once: they depend on each other.",
        values="empty if people meet freely",
    )
    repetition: int | None = column(
        "integer", "Repetition of its configuration and line-up, from 1; empty outside collections."
    )
    environment: str | None = column("choice", "The rule that made the line-up; may be empty.")
    ended_how: str = column(
        "choice",
        "How it ended under the game's rules, or the state that ended it early.",
        values="such as accepted, walked away, last round, cap; finished if there is only one way",
    )
    decisions: int = column("integer", "Moves in the match, each a row of decisions.csv.")
    messages: int = column("integer", "Messages in the match, each a row of messages.csv.")
    players: Mapping[str, Any] = spread("")
    information: str | None = column(
        "choice",
        "What its players were told about the game.",
        values="published: what the authors' program tells; explained: what people are told; both, joined by a plus; "
        "empty if only scripts play",
    )
    disclosure: str | None = column(
        "choice",
        "What its participants' pages told about the other players during the match.",
        values="none: nothing (blind); counts: how many are people and how many are programs; seats: also who is "
        "which; empty without people",
    )
    told_of_players: str | None = column(
        "choice",
        "What its participants were told beforehand about the other players; see seats.csv for each of them and the "
        "wording.",
        values="told, either, nothing; empty without people or if not recorded",
    )
    config: Mapping[str, Any] = spread("config_")
    payoffs: Mapping[str, Any] = spread("payoffs_")
    results: Mapping[str, Any] = spread("metric_", "")
    in_dataset: bool = column(
        "boolean",
        "Whether the match is included: nothing excludes it.",
        values="true; false only in datasets exported with excluded matches",
    )
    reason: str | None = column("choice", "The reason for exclusion that is counted in the flow.")
    reasons: str | None = column("choice", "Every reason, separated by semicolons.")


@dataclass(slots=True)
class SeatRow:
    """One row per seat of the matches in the dataset."""

    match: str = column("identifier", SAME_IN_ALL)
    role: str = column("choice", "The seat.")
    kind: str = column("choice", "Seats of one kind are interchangeable.")
    factors: Mapping[str, str] = spread("factor_")
    player: str = column("choice", "Who played in the seat.", values="human, or the agent")
    agent: str | None = column("choice", "The study's or collection's label of the agent; empty for a person.")
    agent_hash: str | None = column(
        "identifier", "Hash (12 digits) of everything that affects the agent's behaviour; empty for a person."
    )
    information: str | None = column(
        "choice",
        "What the seat was told about the game.",
        values="published: what the authors' program tells; explained: what people are told; empty for a script",
    )
    participant: str | None = column("identifier", "Pseudonym of the person; empty for an agent.")
    fills_in: bool = column("boolean", "Whether an agent took the seat because no person arrived in time.")
    left_at: Moment = column(
        "time",
        "When the person stopped playing while the others continued; empty if the person stayed.",
        unit="UTC",
    )
    told_of_players: str | None = column(
        "choice",
        "What the person was told about the other players before agreeing to take part.",
        values="told: who they are; either: that they may be people or programs; nothing; empty for an agent or if "
        "not recorded",
    )
    told_words: str | None = column("text", "The wording used.")
    told_at: Moment = column("time", "When the person agreed after reading it.", unit="UTC")
    payoff: float | None = column("number", "Payoff; empty for a match without a result.", unit=MONEY)
    decisions: int = column("integer", "Moves made in this seat.")
    substituted: int = column("integer", "Of these, moves made by someone other than the seat's player.")
    unanswered: int = column("integer", "Of these, moves made by the clock because the turn was not answered.")
    left_open_seconds: float | None = column(
        "number",
        "How long this seat's last turn was open, if it was never answered and ended the match early.",
        unit="seconds",
        values="empty if the match did not end this way",
    )
    results: Mapping[str, Any] = spread("metric_", "")
    in_dataset: bool = column("boolean", "Whether the seat is in the dataset.")
    reason: str | None = column("choice", "The reason for exclusion.")
    reasons: str | None = column("choice", "Every reason, separated by semicolons.")


@dataclass(slots=True)
class RoundRow:
    """The game's own records, such as one per round and seat; empty for games without any."""

    match: str = column("identifier", SAME_IN_ALL)
    row: int = column("integer", "Number of the row within the match, from 1.")
    record: Mapping[str, Any] = spread("record_", "")


@dataclass(slots=True)
class DecisionRow:
    """One row per move of the matches in the dataset."""

    match: str = column("identifier", SAME_IN_ALL)
    move_number: int = column("integer", "Number of the move within the match, from 1.")
    number: int = column("integer", "Number of the event in the transcript.")
    role: str = column("choice", "Who moved.")
    round: int | None = column("integer", "Round by the game's own count, from 1; empty if it has none.")
    phase: str | None = column("choice", "The game's name for this part of the round; may be empty.")
    player: str = column("choice", "Who plays that role.", values="human, or the agent")
    by: str | None = column(
        "choice",
        "Who made the move, if not the role's player.",
        values="rules: the rules' move after an unusable answer; clock; script:NAME; script:NAME:away if NAME's moves "
        "for unusable answers count as data and there was no answer; otherwise empty",
    )
    move: str = column("json", "The whole move, with names replaced by markers.")
    fields: Mapping[str, Any] = spread("move_field_", "move_")
    asked_at: Moment = column("time", "When the question was asked.", unit="UTC")
    shown_at: Moment = column(
        "time", "When the question first appeared on the person's screen; empty for agents.", unit="UTC"
    )
    answered_at: Moment = column("time", "When the move was accepted.", unit="UTC")
    seconds: float | None = column(
        "number", "Time from shown_at, or asked_at if nothing was shown, to answered_at.", unit="seconds"
    )
    refused: int | None = column(
        "integer",
        "Illegal attempts before it, by people or models; empty for imported matches.",
        unit="attempts",
    )
    sight: str | None = column(
        "json",
        "Milliseconds that each part of the person's screen was in sight, at least half of it or half of the window, "
        "before the move, by the key of the part; empty for agents. What models looked up: tool_calls.csv.",
        unit="milliseconds",
    )
    answered: bool = column(
        "boolean",
        "Whether the turn was answered; if not, the clock moved, and seconds is how long the turn was open.",
        values="true, false",
    )


@dataclass(slots=True)
class MessageRow:
    """One row per message sent in the matches in the dataset."""

    match: str = column("identifier", SAME_IN_ALL)
    number: int = column("integer", "Number of the event in the transcript.")
    role: str = column("choice", "Who wrote.")
    player: str = column("choice", "Who plays that role.", values="human, or the agent")
    text: str = column(
        "text",
        "The message, with names and identifiers replaced by markers, and an apostrophe before anything that a "
        "spreadsheet would read as a formula (the transcript has none).",
        values="[name], [identifier], [code word], [e-mail], [address], [key] (or ▮ if a message would become too "
        "long)",
    )
    characters: int = column("integer", "Length of the text, markers included.", unit="characters")
    words: int = column("integer", "Words in the text, separated by spaces.", unit="words")


# ---- rows of one transcript ----------------------------------------------------------------------------


def match_rows(line: Transcript) -> Iterator[MatchRow]:
    """Yield the row of matches.csv."""
    seats, moves = line["seats"], _moves(line)
    told = [seat["told"] for seat in seats.values() if seat["told"]]
    yield MatchRow(
        line["match"],
        line["game"],
        line["rules_version"],
        line["version"],
        line["cell"],
        line["factors"],
        line["cell_kind"],
        line["purpose"],
        line["source"],
        line["name"],
        line["unverified"],
        line["seed"],
        line["started_at"],
        line["ended_at"],
        line["seconds"],
        line["session"],
        line["stage"],
        line["pass"],
        line["repeat"],
        line["cluster"],
        line["repetition"],
        line["environment"],
        line["ended_how"],
        len(moves),
        sum(move["move"].get("message") is not None for move in moves),
        {
            name: value
            for role, seat in seats.items()
            for name, value in (
                (f"player_{role}", line["players"][role]),
                (f"agent_{role}", seat["agent"]),
                (f"agent_{role}_hash", seat["agent_hash"]),
                (f"participant_{role}", seat["participant"]),
            )
        },
        "+".join(sorted({seat["information"] for seat in seats.values() if seat["information"]})) or None,
        told[0]["others"] if told else None,
        "; ".join(sorted({one["told"] for one in told})) or None,
        line["config"],
        line["payoffs"],
        line["metrics"],
        line["in_dataset"],
        next(iter(line["reasons"]), None),
        ";".join(line["reasons"]) or None,
    )


def seat_rows(line: Transcript) -> Iterator[SeatRow]:
    """Yield the rows of seats.csv."""
    moves = _moves(line)
    for role, seat in line["seats"].items():
        own = [move for move in moves if move["role"] == role]
        yield SeatRow(
            line["match"],
            role,
            seat["kind"],
            line["factors"],
            line["players"][role],
            seat["agent"],
            seat["agent_hash"],
            seat["information"],
            seat["participant"],
            seat["fills_in"],
            seat["left_at"],
            seat["told"].get("told"),
            seat["told"].get("words") or None,
            seat["told"].get("at"),
            line["payoffs"].get(role),
            len(own),
            sum(move.get("by") is not None for move in own),
            sum(move.get("by") == "clock" for move in own),
            seat["left_open_seconds"],
            _results_of(role, line["metrics"]),
            not seat["reasons"],
            next(iter(seat["reasons"]), None),
            ";".join(seat["reasons"]) or None,
        )


def _results_of(role: str, metrics: Mapping[str, Any]) -> dict[str, Any]:
    begin = f"{role}_"
    return {name.removeprefix(begin): value for name, value in metrics.items() if name.startswith(begin)}


def round_rows(line: Transcript) -> Iterator[RoundRow]:
    """Yield the rows of rounds.csv."""
    for number, record in enumerate(line["rounds"], start=1):
        yield RoundRow(line["match"], number, record)


def decision_rows(line: Transcript) -> Iterator[DecisionRow]:
    """Yield the rows of decisions.csv."""
    for number, event in enumerate(_moves(line), start=1):
        turn, by = event["turn"], event.get("by")
        yield DecisionRow(
            line["match"],
            number,
            event["number"],
            event["role"],
            turn["round"],
            turn["phase"],
            line["players"][event["role"]],
            by,
            compact_json(event["move"]),
            event["move"],
            turn["asked_at"],
            turn["shown_at"],
            turn["answered_at"],
            turn["seconds"],
            turn["refused"],
            None if turn["sight"] is None else compact_json(turn["sight"]),
            by != "clock",
        )


def message_rows(line: Transcript) -> Iterator[MessageRow]:
    """Yield the rows of messages.csv."""
    for event in _moves(line):
        if (text := event["move"].get("message")) is not None:
            role = event["role"]
            player = line["players"][role]
            yield MessageRow(line["match"], event["number"], role, player, text, len(text), len(text.split()))


def _moves(line: Transcript) -> list[Mapping[str, Any]]:
    return [event for event in line["events"] if event["kind"] == "move"]


ROWS: Mapping[str, tuple[type[Any], Callable[[Transcript], Iterator[Any]]]] = {
    "matches": (MatchRow, match_rows),
    "seats": (SeatRow, seat_rows),
    "rounds": (RoundRow, round_rows),
    "decisions": (DecisionRow, decision_rows),
    "messages": (MessageRow, message_rows),
}
"""Every derived table: its row, and what yields the rows of a transcript."""


# ---- columns -----------------------------------------------------------------------------------------------


def name_of(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field's column."""
    return str(field.metadata["named"] or field.name)


def fixed_columns(row: type[Any]) -> dict[str, Described]:
    """Return the columns that every dataset has."""
    return {name_of(field): field.metadata["column"] for field in dataclasses.fields(row) if "column" in field.metadata}


Reader = Callable[[Any], Any]


def readers(row: type[Any], header: Sequence[str]) -> list[tuple[str, Reader]]:
    """Return what each column of a file must hold, given the row; None where nothing fills it.

    Args:
        header: the columns of the file.
    """
    fixed = {name_of(field): field.name for field in dataclasses.fields(row) if "column" in field.metadata}
    return [
        (name, attrgetter(fixed[name]) if name in fixed else _first_entry(list(_places(row, name)))) for name in header
    ]


def _places(row: type[Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield (field, key) of the entries that a column may show, the likeliest first."""
    for field in dataclasses.fields(row):
        for prefix in field.metadata.get("prefixes", ()):
            if name.startswith(prefix):
                yield field.name, name.removeprefix(prefix)


def _first_entry(places: Sequence[tuple[str, str]]) -> Reader:
    def read(row: Any) -> Any:
        for field, key in places:
            entries = getattr(row, field)
            if key in entries:
                return entries[key]
        return None

    return read
