"""The tables of a dataset: every column with its meaning and how it is read.

The codebook is generated from the same columns, so that no column lacks an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, Literal

from checks.models import Verdict
from exports import gate
from exports import signals as signals_of
from exports.alike import mask
from exports.csvsafe import cell, compact_json, line, lines
from exports.designs import MAX_LEVELS_LISTED, AskedQuestion, FactorColumn, as_column
from exports.scrubbing import Scrubber
from exports.shape import Shape
from exports.sources import Source, StudySource
from matches.forms import Field
from participants.states import State
from payouts.models import LedgerRow
from plans.questions import FREE_TEXT
from quality.score import MEANINGS, THRESHOLD
from recruiters import authenticity

_PLAIN_TYPES = frozenset({int, float, NoneType})
Kind = Literal["identifier", "choice", "text", "number", "integer", "boolean", "time", "json"]


@dataclass(frozen=True)
class Column:
    """One column: `read` takes the row's subject and returns the value, None for an empty cell."""

    name: str
    kind: Kind
    meaning: str
    read: Callable[[Any], Any]
    unit: str = ""
    values: str = ""


@dataclass(frozen=True)
class Table:
    """A table: what a row is, and its columns in order, for CSV files, Parquet files and the codebook."""

    name: str
    meaning: str
    columns: Sequence[Column]

    @property
    def file(self) -> str:
        return f"{self.name}.csv"

    @property
    def header(self) -> bytes:
        return line(column.name for column in self.columns)

    @cached_property
    def _readers(self) -> tuple[Callable[[Any], Any], ...]:
        return tuple(column.read for column in self.columns)

    def values(self, subject: Any) -> list[Any]:
        """Return the row about `subject`, column by column."""
        return [read(subject) for read in self._readers]

    def row(self, subject: Any) -> bytes:
        return line(cell(value) for value in self.values(subject))

    @staticmethod
    def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
        """Return rows of values as lines of CSV; the writer leaves None empty and writes numbers as `cell` does."""
        return lines(
            [v if type(v) in _PLAIN_TYPES or (type(v) is str and v[:1].isalnum()) else cell(v) for v in values]
            for values in rows
        )


def tables(shape: Shape, source: Source) -> dict[str, Table]:
    """Return every table of a dataset by name."""
    all_tables = [
        matches(shape, source.factors),
        seats(shape, source.factors),
        rounds(shape),
        decisions(shape),
        messages(),
        participants(source),
        signals(),
        behaviour(),
        llm_calls(),
        tool_calls(),
        excluded_calls(),
        payments(),
        excluded(),
        cells(shape, source),
        flow(),
        codebook(),
    ]
    return {table.name: table for table in all_tables}


def _factor(factor: FactorColumn, read: Callable[[Any], Any], about: str = "") -> Column:
    """Return the column with the level of a factor."""
    where = "each participant meets several levels" if factor.within else "between participants"
    rows = " Its levels are rows of a published table." if factor.of_rows else ""
    too_many = len(factor.levels) > MAX_LEVELS_LISTED
    return Column(
        factor.column,
        "identifier" if factor.of_rows else "choice",
        f"Level of the factor {factor.name} ({where}).{rows}{about}",
        read,
        values=f"{len(factor.levels):,} levels" if too_many else "; ".join(factor.levels),
    )


# ---- matches and what was done in them -----------------------------------------------------------

_MATCH = Column("match", "identifier", "The match, the same in every file.", lambda row: row.match.uid)


def matches(shape: Shape, factors: Sequence[FactorColumn] = ()) -> Table:
    columns = [
        Column("match", "identifier", "The match, the same in every file.", lambda m: m.uid),
        Column("game", "choice", "The game that was played.", lambda m: m.match.game, values=", ".join(shape.games)),
        Column("rules_version", "integer", "Version of the game's rules.", lambda m: m.match.rules_version),
        Column("version", "integer", "Version of the study, as in the manifest.", lambda m: m.place.version),
        Column(
            "cell",
            "integer",
            "Number of the cell within the version, or of the configuration in a collection; see cells.csv.",
            lambda m: m.place.cell,
        ),
        *(_factor(factor, lambda m, name=factor.name: m.place.factors.get(name)) for factor in factors),
        Column(
            "cell_kind",
            "choice",
            "Kind of the published row that the configuration is.",
            lambda m: m.place.kind or None,
            values="such as main, variant, random; empty for other configurations",
        ),
        Column(
            "purpose",
            "choice",
            "Purpose of the match.",
            lambda m: m.match.purpose,
            values="study, demo, collection, imported, simulated",
        ),
        Column(
            "source",
            "choice",
            "Where the match was played.",
            lambda m: m.reading.source.origin,
            values="parley: here; glee: imported from the published GLEE data",
        ),
        Column("name", "identifier", "Name of an imported game in its source.", lambda m: m.place.name or None),
        Column(
            "unverified",
            "text",
            "Why an imported game breaks the rules; its results are still computed by the formulas.",
            lambda m: m.unverified,
            values="empty if every move is legal",
        ),
        Column("seed", "integer", "Random seed of the match.", lambda m: m.match.seed),
        Column("started_at", "time", "When the match was opened.", lambda m: m.started_at, unit="UTC"),
        Column(
            "ended_at",
            "time",
            "Time of its last move.",
            lambda m: m.ended_at,
            unit="UTC",
            values="empty for imported matches, as are all their times",
        ),
        Column(
            "seconds",
            "number",
            "Time from opening to last move.",
            lambda m: m.started_at and round((m.ended_at - m.started_at).total_seconds(), 3),
            unit="seconds",
        ),
        Column(
            "session",
            "integer",
            "Position of the match in its first participant's enrolment, from 1; empty outside studies.",
            lambda m: m.place.session,
        ),
        Column("stage", "choice", "Name of its stage in the study's plan.", lambda m: m.place.stage or None),
        Column(
            "pass",
            "choice",
            "Levels of the pass through the plan's blocks, joined by dots.",
            lambda m: m.place.passes or None,
            values="empty without factors within participants",
        ),
        Column("repeat", "integer", "Number of the match within its stage and pass, from 1.", lambda m: m.place.repeat),
        Column(
            "cluster",
            "identifier",
            "The same for all matches of a cohort, or of a group that was formed once: they depend on each other.",
            lambda m: m.place.cluster or None,
            values="empty if people meet freely",
        ),
        Column(
            "repetition",
            "integer",
            "Repetition of its configuration and line-up, from 1; empty outside collections.",
            lambda m: m.place.repetition,
        ),
        Column(
            "environment",
            "choice",
            "The rule that made the line-up; may be empty.",
            lambda m: m.place.environment or None,
        ),
        Column(
            "ended_how",
            "choice",
            "How it ended under the game's rules, or the state that ended it early.",
            lambda m: m.ended_how,
            values="such as accepted, walked away, last round, cap; finished if there is only one way",
        ),
        Column("decisions", "integer", "Moves in the match, each a row of decisions.csv.", lambda m: len(m.decisions)),
        Column("messages", "integer", "Messages in the match, each a row of messages.csv.", lambda m: len(m.messages)),
    ]
    for role, title in shape.roles.items():
        columns += [
            Column(
                f"player_{role}",
                "choice",
                f"Who played {title}.",
                lambda m, role=role: m.player(role) if role in m.seats else None,
                values="human, or the agent as script:NAME, openai:MODEL, anthropic:MODEL",
            ),
            Column(
                f"agent_{role}",
                "choice",
                f"The study's or collection's label of the agent that played {title}; empty for a person.",
                lambda m, role=role: m.label(role) if role in m.seats and m.seats[role].agent else None,
            ),
            Column(
                f"agent_{role}_hash",
                "identifier",
                "Hash of everything that affects that agent's behaviour: the same label with another hash is a "
                "different agent.",
                lambda m, role=role: m.agent_hash(role) if role in m.seats else None,
            ),
            Column(
                f"participant_{role}",
                "identifier",
                f"Pseudonym of the person who played {title}; empty for an agent.",
                lambda m, role=role: (
                    m.seats[role].enrolment.pseudonym if role in m.seats and m.seats[role].enrolment else None
                ),
            ),
        ]
    columns += [
        Column(
            "information",
            "choice",
            "What its players were told about the game.",
            lambda m: "+".join(sorted({told for role in m.seats if (told := m.information(role))})) or None,
            values="published: what the authors' program tells; explained: what people are told; both, joined by a "
            "plus; empty if only scripts play",
        ),
        Column(
            "disclosure",
            "choice",
            "What its participants' pages told about the other players during the match.",
            lambda m: next((told["others"] for role in m.seats if (told := m.disclosure_to(role))), None),
            values="none: nothing (blind); counts: how many are people and how many are programs; seats: also who is "
            "which; empty without people",
        ),
        Column(
            "told_of_players",
            "choice",
            "What its participants were told beforehand about the other players; see seats.csv for each of them and "
            "the wording.",
            lambda m: (
                "; ".join(sorted({disclosed["told"] for role in m.seats if (disclosed := m.disclosure_to(role))}))
                or None
            ),
            values="told, either, nothing; empty without people or if not recorded",
        ),
    ]
    columns += _parameters(shape, lambda m: m.match.config)
    columns += [
        Column(
            f"payoffs_{role}",
            "number",
            f"Payoff of {title}.",
            lambda m, role=role: (m.match.payoffs or {}).get(role),
            unit="the game's money",
        )
        for role, title in shape.roles.items()
    ]
    taken_names = {column.name for column in columns} | {"in_dataset"}
    columns += [
        _result(
            name if name not in taken_names else f"metric_{name}",
            field,
            lambda m, name=name: (m.match.metrics or {}).get(name),
        )
        for name, field in shape.metrics.items()
    ]
    columns += [
        Column(
            "in_dataset",
            "boolean",
            "Whether the match is included: nothing excludes it.",
            lambda m: not m.reasons,
            values="true; false only in datasets exported with excluded matches",
        ),
        Column(
            "reason",
            "choice",
            "The reason for exclusion that is counted in the flow.",
            lambda m: next(iter(m.reasons), None),
        ),
        Column("reasons", "choice", "Every reason, separated by semicolons.", lambda m: ";".join(m.reasons) or None),
    ]
    return Table("matches", "One row per match in the dataset.", columns)


def seats(shape: Shape, factors: Sequence[FactorColumn] = ()) -> Table:
    """A row is about (match, role)."""
    columns = [
        Column("match", "identifier", "The match, the same in every file.", lambda s: s[0].uid),
        Column("role", "choice", "The seat.", lambda s: s[1]),
        Column("kind", "choice", "Seats of one kind are interchangeable.", lambda s: s[0].game.kind(s[1])),
        *(_factor(factor, lambda s, name=factor.name: s[0].place.factors.get(name)) for factor in factors),
        Column(
            "player", "choice", "Who played in the seat.", lambda s: s[0].player(s[1]), values="human, or the agent"
        ),
        Column(
            "agent",
            "choice",
            "The study's or collection's label of the agent; empty for a person.",
            lambda s: s[0].label(s[1]) if s[0].seats[s[1]].agent else None,
        ),
        Column(
            "agent_hash",
            "identifier",
            "Hash (12 digits) of everything that affects the agent's behaviour; empty for a person.",
            lambda s: s[0].agent_hash(s[1]),
        ),
        Column(
            "information",
            "choice",
            "What the seat was told about the game.",
            lambda s: s[0].information(s[1]),
            values="published: what the authors' program tells; explained: what people are told; empty for a script",
        ),
        Column(
            "participant",
            "identifier",
            "Pseudonym of the person; empty for an agent.",
            lambda s: person.pseudonym if (person := s[0].seats[s[1]].enrolment) else None,
        ),
        Column(
            "fills_in",
            "boolean",
            "Whether an agent took the seat because no person arrived in time.",
            lambda s: s[0].seats[s[1]].fills_in,
        ),
        Column(
            "left_at",
            "time",
            "When the person stopped playing while the others continued; empty if the person stayed.",
            lambda s: s[0].seats[s[1]].left_at,
            unit="UTC",
        ),
        Column(
            "told_of_players",
            "choice",
            "What the person was told about the other players before agreeing to take part.",
            lambda s: s[0].disclosure_to(s[1]).get("told"),
            values="told: who they are; either: that they may be people or programs; nothing; empty for an agent or if "
            "not recorded",
        ),
        Column("told_words", "text", "The wording used.", lambda s: s[0].disclosure_to(s[1]).get("words") or None),
        Column(
            "told_at",
            "time",
            "When the person agreed after reading it.",
            lambda s: s[0].disclosure_to(s[1]).get("at"),
            unit="UTC",
        ),
        Column(
            "payoff",
            "number",
            "Payoff; empty for a match without a result.",
            lambda s: (s[0].match.payoffs or {}).get(s[1]),
            unit="the game's money",
        ),
        Column(
            "decisions",
            "integer",
            "Moves made in this seat.",
            lambda s: sum(d.role == s[1] for d in s[0].decisions),
        ),
        Column(
            "substituted",
            "integer",
            "Of these, moves made by someone other than the seat's player.",
            lambda s: sum(d.role == s[1] and d.by is not None for d in s[0].decisions),
        ),
        Column(
            "unanswered",
            "integer",
            "Of these, moves made by the clock because the turn was not answered.",
            lambda s: sum(d.role == s[1] and not d.answered for d in s[0].decisions),
        ),
        Column(
            "left_open_seconds",
            "number",
            "How long this seat's last turn was open, if it was never answered and ended the match early.",
            lambda s: s[0].seconds_left_open(s[1]),
            unit="seconds",
            values="empty if the match did not end this way",
        ),
    ]
    taken_names = {column.name for column in columns} | {"in_dataset", "reason", "reasons"}
    columns += [
        _result(
            name if name not in taken_names else f"metric_{name}",
            field,
            lambda s, name=name: (s[0].match.metrics or {}).get(f"{s[1]}_{name}"),
        )
        for name, field in shape.seat_metrics.items()
    ]
    columns += [
        Column("in_dataset", "boolean", "Whether the seat is in the dataset.", lambda s: not s[0].seat_reasons(s[1])),
        Column("reason", "choice", "The reason for exclusion.", lambda s: next(iter(s[0].seat_reasons(s[1])), None)),
        Column(
            "reasons",
            "choice",
            "Every reason, separated by semicolons.",
            lambda s: ";".join(s[0].seat_reasons(s[1])) or None,
        ),
    ]
    return Table("seats", "One row per seat of the matches in the dataset.", columns)


def rounds(shape: Shape) -> Table:
    """A row is about (match, number of the row, record)."""
    columns = [
        Column("match", "identifier", "The match, the same in every file.", lambda r: r[0].uid),
        Column("row", "integer", "Number of the row within the match, from 1.", lambda r: r[1]),
    ]
    columns += [
        _result(record_column(name), field, lambda r, name=name: r[2].get(name))
        for name, field in shape.records.items()
    ]
    return Table(
        "rounds", "The game's own records, such as one per round and seat; empty for games without any.", columns
    )


def record_column(name: str) -> str:
    """Return the name of the column of rounds.csv that holds this part of a game's records."""
    return name if name not in ("match", "row") else f"record_{name}"


def decisions(shape: Shape) -> Table:
    columns = [
        _MATCH,
        Column("move_number", "integer", "Number of the move within the match, from 1.", lambda d: d.move_number),
        Column("number", "integer", "Number of the event in the transcript.", lambda d: d.row.number),
        Column("role", "choice", "Who moved.", lambda d: d.role, values=", ".join(shape.roles)),
        Column("round", "integer", "Round by the game's own count, from 1; empty if it has none.", lambda d: d.round),
        Column("phase", "choice", "The game's name for this part of the round; may be empty.", lambda d: d.phase),
        Column(
            "player", "choice", "Who plays that role.", lambda d: d.match.player(d.role), values="human, or the agent"
        ),
        Column(
            "by",
            "choice",
            "Who made the move, if not the role's player.",
            lambda d: d.by,
            values="rules: the rules' move after an unusable answer; clock; script:NAME; script:NAME:away if NAME's "
            "moves for unusable answers count as data and there was no answer; otherwise empty",
        ),
        Column("move", "json", "The whole move, with names replaced by markers.", lambda d: compact_json(d.move)),
    ]
    columns += [
        Column(
            move_column(name),
            _kind(field),
            f"Field of the move: {_sentence(field)}",
            lambda d, name=name: d.move.get(name),
            values=_values(field, "empty if the move has no such field"),
        )
        for name, field in shape.moves.items()
    ]
    columns += [
        Column("asked_at", "time", "When the question was asked.", lambda d: d.row.asked_at, unit="UTC"),
        Column(
            "shown_at",
            "time",
            "When the question first appeared on the person's screen; empty for agents.",
            lambda d: d.row.shown_at,
            unit="UTC",
        ),
        Column("answered_at", "time", "When the move was accepted.", lambda d: d.answered_at, unit="UTC"),
        Column(
            "seconds",
            "number",
            "Time from shown_at, or asked_at if nothing was shown, to answered_at.",
            lambda d: d.seconds,
            unit="seconds",
        ),
        Column(
            "refused",
            "integer",
            "Illegal attempts before it, by people or models; empty for imported matches.",
            lambda d: d.refused,
            unit="attempts",
        ),
        Column(
            "answered",
            "boolean",
            "Whether the turn was answered; if not, the clock moved, and seconds is how long the turn was open.",
            lambda d: d.answered,
            values="true, false",
        ),
    ]
    return Table("decisions", "One row per move of the matches in the dataset.", columns)


def move_column(name: str) -> str:
    """Return the name of the column of decisions.csv that holds this field of moves."""
    return f"move_{name}" if name != "number" else "move_field_number"


def messages() -> Table:
    return Table(
        "messages",
        "One row per message sent in the matches in the dataset.",
        [
            _MATCH,
            Column("number", "integer", "Number of the event in the transcript.", lambda d: d.row.number),
            Column("role", "choice", "Who wrote.", lambda d: d.role),
            Column(
                "player",
                "choice",
                "Who plays that role.",
                lambda d: d.match.player(d.role),
                values="human, or the agent",
            ),
            Column(
                "text",
                "text",
                "The message, with names and identifiers replaced by markers, and an apostrophe before anything that a "
                "spreadsheet would read as a formula (the transcript has none).",
                lambda d: d.message,
                values="[name], [identifier], [code word], [e-mail], [address], [key] (or ▮ if a message would become "
                "too long)",
            ),
            Column(
                "characters",
                "integer",
                "Length of the text, markers included.",
                lambda d: len(d.message),
                unit="characters",
            ),
            Column(
                "words",
                "integer",
                "Words in the text, separated by spaces.",
                lambda d: len(d.message.split()),
                unit="words",
            ),
        ],
    )


_TEXT_KEYS = ("messages", "answer", "problem", "error", "stop", "remarks", "tools")
"""Parts of a call that hold free text; the rest are numbers and names of models and settings."""
_RESEARCHERS_KEYS = ("endpoint", "parameters")
_RESEARCHERS_SCRUBBER = Scrubber(generic=True)


@dataclass(frozen=True)
class CallRow:
    """A call of a model in a match, scrubbed like the match's own words."""

    match: Any
    call: Any

    @cached_property
    def record(self) -> Mapping[str, Any]:
        stored: Mapping[str, Any] = self.call.record
        scrubbed = {name: self.match.scrubber.data(stored[name]) for name in _TEXT_KEYS if stored.get(name)}
        return (
            stored
            | scrubbed
            | {name: _RESEARCHERS_SCRUBBER.data(stored[name]) for name in _RESEARCHERS_KEYS if stored.get(name)}
        )

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """Names of the tools that the call used, in order."""
        return self.record.get("tools") or []


@dataclass(frozen=True)
class ToolRow:
    """A tool that a model called; `place` counts from 1 within the call."""

    match: Any
    call: CallRow
    place: int
    tool: Mapping[str, Any]


def llm_calls() -> Table:
    def call_column(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        def read(row: CallRow) -> Any:
            value = row.record.get(name)
            return compact_json(value) if kind == "json" and value is not None else value

        return Column(name, kind, meaning, read, unit, values)

    return Table(
        "llm_calls",
        "One row per call of a language model in the matches in the dataset, whether it led to a move or not.",
        [
            _MATCH,
            Column("role", "choice", "Role that the model was asked to play.", lambda c: c.call.role),
            Column(
                "answering",
                "integer",
                "Number of the event that opened the turn.",
                lambda c: c.call.answering,
            ),
            Column(
                "at",
                "time",
                "When the record was stored, after the turn's calls.",
                lambda c: c.call.at,
                unit="UTC",
            ),
            Column(
                "outcome",
                "choice",
                "Outcome of the call: the move that was played, a legal one that was not, an illegal one, or no "
                "answer.",
                lambda c: c.call.outcome,
                values="move, unplayed, rule_break, failed",
            ),
            call_column("provider", "choice", "The endpoint's protocol.", values="openai, anthropic"),
            call_column("endpoint", "text", "Name of the endpoint in the admin."),
            call_column("model", "text", "The requested model."),
            call_column("answered_by", "text", "The model that answered, according to the provider."),
            call_column("try_number", "integer", "1 for the first try of a turn; higher after illegal answers."),
            call_column("rung", "integer", "0 for the agent itself, 1 for its first fallback, and so on."),
            call_column("attempt", "integer", "1 for the first call of a try; higher after failed calls."),
            call_column(
                "strategy",
                "choice",
                "Strategy by which the model was prompted.",
                values="chain_of_thought, conversation, fresh; empty: none",
            ),
            call_column(
                "structured",
                "choice",
                "How a schema was enforced on the answer.",
                values="none, json_schema, json_object, tool",
            ),
            call_column("seed", "integer", "The sampling seed sent with the request."),
            call_column("prompt_sha256", "identifier", "Hash of all texts in use: rules, persona, prompts."),
            call_column("messages", "json", "All messages sent, as [{role, content}], with names replaced by markers."),
            call_column("parameters", "json", "Parameters sent with the request."),
            call_column(
                "answer",
                "text",
                "The raw answer, with markers and apostrophe as in messages.csv; empty if there was none.",
            ),
            call_column(
                "problem", "text", "Why the answer was not a legal move, as the model was told; empty if it was."
            ),
            call_column(
                "fault",
                "choice",
                "Kind of problem: no move in the requested form, or a move that the rules don't allow.",
                values="unreadable, illegal",
            ),
            call_column("error", "text", "The provider's error, if any."),
            call_column("stop", "text", "The provider's finish reason."),
            call_column("input_tokens", "integer", "As the provider counts them.", "tokens"),
            call_column("output_tokens", "integer", "As the provider counts them.", "tokens"),
            call_column("latency", "number", "Time until the answer or the error.", "seconds"),
            call_column("streamed", "boolean", "Whether the answer was read while it was being written."),
            call_column("first_text", "number", "Time until the first words of a streamed answer.", "seconds"),
            call_column(
                "purpose", "choice", "Purpose of the call.", values="move, plan, belief, replan, look, note, judge"
            ),
            call_column(
                "remarks",
                "json",
                "What the model wrote in addition to its move, by key, with markers as in messages.csv.",
            ),
            call_column(
                "cached_tokens", "integer", "Of the input tokens, those read from the provider's cache.", "tokens"
            ),
            call_column(
                "conversation",
                "identifier",
                "The conversation of which the call is a part; messages then holds only what was added since its "
                "previous call.",
            ),
            call_column("offered", "json", "Names of the tools offered."),
            Column("tools", "integer", "Number of tools called; see tool_calls.csv.", lambda c: len(c.tools)),
            call_column("short", "boolean", "Whether the model was asked only for the values that determine the move."),
            call_column("refused", "boolean", "Whether the provider reports that the model refused to answer."),
            Column(
                "cost",
                "number",
                "Tokens times their price; empty if the price was unknown.",
                lambda c: c.call.cost,
                unit="US dollars",
            ),
            call_column("request_id", "identifier", "The provider's name for the call."),
        ],
    )


def tool_calls() -> Table:
    def tool_column(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row.tool.get(name), unit, values)

    return Table(
        "tool_calls",
        "One row per tool that a language model called: looks at data, notes and submissions, in order.",
        [
            _MATCH,
            Column("role", "choice", "Role that the model was asked to play.", lambda row: row.call.call.role),
            Column("answering", "integer", "As in llm_calls.csv.", lambda row: row.call.call.answering),
            Column("conversation", "identifier", "As in llm_calls.csv.", lambda row: row.call.record["conversation"]),
            Column(
                "try_number",
                "integer",
                "Number of the try, as in llm_calls.csv.",
                lambda row: row.call.record["try_number"],
            ),
            Column("place", "integer", "Number of the tool within the call, from 1.", lambda row: row.place),
            tool_column("name", "text", "Name of the tool, as the model wrote it."),
            tool_column("kind", "choice", "What the tool does.", values="look, note, move"),
            tool_column("arguments", "text", "The arguments as the model wrote them, with markers as in messages.csv."),
            tool_column("result", "text", "The tool's result."),
            tool_column("size", "integer", "Length of the result.", "characters"),
            tool_column(
                "fault",
                "choice",
                "Why the call had no effect; empty if it had one.",
                values="unknown: no such tool; unreadable: its arguments; illegal; ignored: after the submission",
            ),
        ],
    )


def excluded_calls() -> Table:
    """A row is about (match, row of sums)."""

    def sum_column(name: str, kind: Kind, meaning: str, unit: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row[1][name], unit)

    return Table(
        "excluded_calls",
        "Calls of models in matches that are not in the dataset; one row per match, role and model.",
        [
            Column("match", "identifier", "The match, as in excluded.csv.", lambda row: row[0].uid),
            Column("cell", "integer", "As in matches.csv.", lambda row: row[0].place.cell),
            Column("reason", "choice", "Why it is not in the dataset.", lambda row: row[0].reasons[0]),
            sum_column("role", "choice", "Role that the model was asked to play."),
            Column("agent", "choice", "The agent's label.", lambda row: row[0].label(row[1]["role"])),
            sum_column("model", "text", "The requested model."),
            sum_column("calls", "integer", "Calls.", "calls"),
            sum_column("failed", "integer", "Of these, calls without an answer.", "calls"),
            sum_column("rule_breaks", "integer", "Of these, calls with an illegal answer.", "calls"),
            sum_column("cost", "number", "Cost of the calls with a known price.", "US dollars"),
        ],
    )


# ---- people --------------------------------------------------------------------------------------

_PARTICIPANT = Column(
    "participant", "identifier", "Pseudonym, the same in every file.", lambda p: p.enrolment.pseudonym
)
_REASONS = [
    Column("reason", "choice", "The reason counted in the flow.", lambda p: next(iter(p.reasons), None)),
    Column(
        "reasons",
        "choice",
        "Every reason that applies, in order, separated by semicolons.",
        lambda p: ";".join(p.reasons) or None,
        values="; ".join(f"{name}: {meaning}" for name, meaning in gate.REASONS.items()),
    ),
]
_STAGE = Column(
    "stage",
    "choice",
    "How far the participant got.",
    lambda p: p.stage,
    values="; ".join(f"{name}: {meaning}" for name, meaning in gate.STAGES.items()),
)


_REPEATED = [
    Column(
        "repeated_messages",
        "integer",
        "Messages that repeat an earlier one by the same participant. A signal: it excludes no one.",
        signals_of.repeated_messages,
        unit="messages",
        values="empty if none was written in a match in the dataset, or if they were erased",
    ),
    Column(
        "repeated_answers",
        "integer",
        "Free-text survey answers that repeat an earlier one by the same participant. A signal: it excludes no one.",
        signals_of.repeated_answers,
        unit="answers",
        values="empty if none was given, or if they were erased",
    ),
    Column(
        "longest_line",
        "integer",
        "Longest run of scales or rows of a matrix on one page with the same point chosen. A signal: excludes no one.",
        signals_of.longest_line,
        unit="questions",
        values="empty if fewer than two scales were answered",
    ),
]


def signals() -> Table:
    return Table(
        "signals",
        "One row per page with signals from a participant's browser, summed over its loadings. Browsers without "
        "JavaScript send none. Signals exclude no one and don't affect pay.",
        [
            Column("participant", "identifier", "Pseudonym, the same in every file.", lambda s: s.enrolment.pseudonym),
            Column("position", "integer", "Position of the page on the path, from 0.", lambda s: s.position),
            Column(
                "step",
                "choice",
                "Kind of the step, as in the columns seconds_… of participants.csv, without its name.",
                lambda s: s.kind,
            ),
            Column("loadings", "integer", "Number of times the page was loaded.", lambda s: s.loadings, "loadings"),
            Column("seconds_open", "number", "How long the page was open.", lambda s: s.open, "seconds"),
            Column(
                "seconds_visible",
                "number",
                "Of that time, how long the page was visible.",
                lambda s: s.visible,
                "seconds",
            ),
            Column(
                "times_hidden",
                "integer",
                "How often the page was hidden: another tab, a locked screen, or leaving it for the next page.",
                lambda s: s.hidden,
                "times",
            ),
            Column(
                "times_blurred",
                "integer",
                "How often another window was in front while the page stayed visible.",
                lambda s: s.blurred,
                "times",
            ),
            Column("pastes", "integer", "How often something was pasted into a field.", lambda s: s.pastes, "times"),
            Column(
                "characters_pasted",
                "integer",
                "Number of characters pasted; the text is not stored.",
                lambda s: s.pasted,
                "characters",
            ),
        ],
    )


_INPUT_COLUMNS: tuple[tuple[str, Kind, str, str], ...] = (
    ("words", "integer", "Words on the page or on the game's screen.", "words"),
    ("keys", "integer", "Keys pressed in fields; which keys is not recorded.", "keys"),
    (
        "intervals",
        "integer",
        "Number of intervals of less than two seconds between two keys in one field.",
        "intervals",
    ),
    ("interval_ms", "integer", "Sum of these intervals.", "milliseconds"),
    ("interval_sq", "integer", "Sum of their squares, to compute their spread.", "milliseconds²"),
    ("typed", "integer", "Characters that appeared with a key just pressed.", "characters"),
    ("untyped", "integer", "Characters that appeared without: dictation, an extension, a program.", "characters"),
    ("pasted", "integer", "Characters that were pasted or dropped.", "characters"),
    ("clicks", "integer", "Clicks of a mouse.", "clicks"),
    ("jumps", "integer", "Of these, clicks without pointer movement before them.", "clicks"),
    ("wide", "integer", "Of the clicks, those on targets of 40 pixels or more.", "clicks"),
    ("centred", "integer", "Of the clicks on such targets, those in the exact centre.", "clicks"),
    ("travel", "integer", "Distance that the pointer moved.", "pixels"),
    ("touches", "integer", "Activations by touch or pen.", "times"),
    ("keyboard", "integer", "Activations by the keyboard or a screen reader.", "times"),
    ("untrusted", "integer", "Clicks and input that a script made.", "times"),
)


def behaviour() -> Table:
    return Table(
        "behaviour",
        "One row per page, and per question of a game, with counts of input events from a participant's browser, "
        "summed over its loadings; only for people who were informed and agreed. It excludes no one and doesn't affect "
        "pay.",
        [
            Column("participant", "identifier", "Pseudonym.", lambda use: use.participant.enrolment.pseudonym),
            Column("position", "integer", "Position of the page on the path, from 0.", lambda use: use.position),
            Column("step", "choice", "Kind of the step.", lambda use: use.kind),
            Column("match", "identifier", "The match to which the question belongs.", lambda use: use.match),
            Column(
                "answering",
                "integer",
                "Number of the event that opened the question; empty for the page itself.",
                lambda use: use.question,
            ),
            Column(
                "seconds",
                "number",
                "Time from its display to the last answer.",
                lambda use: use.figures["answered_ms"] / 1000 if use.figures["answered_ms"] else None,
                unit="seconds",
            ),
            *(
                Column(name, kind, meaning, lambda use, name=name: use.figures[name], unit=unit)
                for name, kind, meaning, unit in _INPUT_COLUMNS
            ),
            Column(
                "trapped",
                "boolean",
                "Whether the hidden field that only programs see was filled in.",
                lambda use: use.figures["trapped"] > 0,
            ),
        ],
    )


_AGENT_COLUMNS = [
    Column(
        "agent_score",
        "number",
        "Strength of the evidence that a program used the participant's pages. A signal: it excludes no one and "
        "doesn't affect pay.",
        lambda p: score.value if (score := signals_of.agent_score(p)) else None,
        unit="from 0 to 1",
        values="empty if nothing was counted",
    ),
    Column(
        "agent_reasons",
        "choice",
        "Reasons, separated by semicolons, strongest first.",
        lambda p: ";".join(score.reasons) or None if (score := signals_of.agent_score(p)) else None,
        values="; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items()),
    ),
    Column(
        "agent_flag",
        "boolean",
        f"Whether the score reaches {THRESHOLD}: a hint for analyses with and without these participants.",
        lambda p: score.flagged if (score := signals_of.agent_score(p)) else None,
        values="empty if nothing was counted",
    ),
    Column(
        "authenticity",
        "choice",
        "Result of the recruiter's own authenticity check of the participant's free texts, as last reported or "
        "imported. A signal: it excludes no one and doesn't affect pay.",
        lambda p: authenticity.flag_of(p.enrolment),
        values=f"{', '.join(authenticity.FLAGS)}; empty if the recruiter reported none",
    ),
]


_ASSIGNMENT = [
    Column(
        "assignment_rule",
        "choice",
        "How the cell was drawn; every assignment column is empty if none was.",
        lambda p: p.draw.get("rule"),
        values="blocks: from permuted blocks; random: by weight; emptiest: among the emptiest",
    ),
    Column("assignment_number", "integer", "Number of the draw within the version.", lambda p: p.draw.get("number")),
    Column(
        "assignment_stratum",
        "json",
        "Earlier answers within which cells fill evenly, in the order of the plan's strata.",
        lambda p: mask(p.draw["stratum"]) if p.draw.get("stratum") else None,
    ),
    Column(
        "assignment_block",
        "integer",
        "Number of the permuted block within the stratum, from 0.",
        lambda p: p.draw.get("block"),
    ),
    Column(
        "assignment_open",
        "json",
        "The cells that could be drawn, by number, each with its probability.",
        lambda p: compact_json(p.draw["open"]) if p.draw else None,
    ),
    Column(
        "assignment_probability",
        "number",
        "Probability of the participant's cell in that draw.",
        lambda p: p.draw["open"].get(str(p.cell.number)) if p.draw and p.cell else None,
        unit="from 0 to 1",
    ),
    Column(
        "assignment_forced",
        "boolean",
        "Whether the participant's link named the cell, so that nothing was drawn.",
        lambda p: p.draw.get("forced"),
        values="true, false",
    ),
    Column(
        "assignment_completes",
        "boolean",
        "Whether the draw was among cells with a group that was forming.",
        lambda p: bool(p.draw.get("completes")) if p.draw else None,
        values="true, false",
    ),
    Column(
        "assignment_seed",
        "text",
        "Repeats the draw: Python's random.Random(seed).random(), compared with the running sum of the probabilities.",
        lambda p: p.draw.get("seed"),
    ),
]


def participants(source: Source) -> Table:
    columns = [
        _PARTICIPANT,
        Column(
            "state",
            "choice",
            "The participant's state.",
            lambda p: p.facts.state,
            values=", ".join([*State.values, gate.IN_PROGRESS]),
        ),
        _STAGE,
        Column("role", "choice", "The participant's role.", lambda p: p.placement.role or None),
        Column(
            "cell",
            "integer",
            "Number of the cell within the version; empty if the enrolment ended before a cell was drawn.",
            lambda p: p.cell and p.cell.number,
        ),
        Column("version", "integer", "Version of the study, as in the manifest.", lambda p: p.version.number),
        *(
            _factor(factor, lambda p, name=factor.name: p.factors.get(name))
            for factor in source.factors
            if not factor.within
        ),
        *_ASSIGNMENT,
        Column(
            "match",
            "identifier",
            "The participant's match, if it is in the dataset.",
            lambda p: next((match.uid for match in p.matches if not match.reasons), None),
        ),
        Column(
            "person",
            "identifier",
            "Pseudonym of this person's first participation in any study on this server, as far as the recruiter "
            "identifies people; the same in all later ones.",
            lambda p: p.person,
        ),
        Column(
            "participations_before",
            "integer",
            "Number of the person's earlier placements on this server, in this study or others.",
            lambda p: p.participations_before,
            unit="participations",
        ),
        Column(
            "recruiter",
            "choice",
            "The recruiter; empty once the person's data were erased.",
            lambda p: identity.recruiter if (identity := getattr(p.enrolment, "identity", None)) else None,
        ),
        Column("arrived_at", "time", "When the participant arrived.", lambda p: p.enrolment.arrived_at, unit="UTC"),
        Column("ended_at", "time", "When the enrolment ended; empty before that.", lambda p: p.ended_at, unit="UTC"),
        Column(
            "unanswered",
            "choice",
            "Kinds of the steps after the game that a participant who completed left open, separated by semicolons: "
            "their answers are missing.",
            lambda p: ";".join(p.unanswered) or None,
            values="quiz, questions; empty if none",
        ),
    ]
    columns += [
        Column(
            f"seconds_{label}",
            "number",
            f"Time from showing the step “{label}” to its answer; empty if it was not answered.",
            lambda p, label=label: p.seconds(label),
            unit="seconds",
        )
        for label in source.steps()
    ]
    columns += [
        Column(
            f"shown_{as_column(name)}",
            "boolean",
            f"Whether the stage “{name}” was shown, as its condition said when it was reached.",
            lambda p, name=name: p.shown.get(name),
            values="true, false; empty if it was not reached",
        )
        for name in source.conditions
    ]
    for check in source.checks():
        columns.append(
            Column(
                f"check_{check.label}_passed",
                "boolean",
                f"Result of the check “{check.label}”; empty if it was not reached or not asked.",
                lambda p, check=check: verdict.passed if (verdict := p.verdict(check)) else None,
                values="true, false",
            )
        )
        columns.append(
            Column(
                f"check_{check.label}_tries",
                "integer",
                f"Number of answers to the check “{check.label}”, the last one included.",
                lambda p, check=check: len(verdict.tries) if (verdict := p.verdict(check)) else None,
                unit="tries",
            )
        )
        if check.name != "code_word":  # the typed text may be a secret of the study, or anything at all
            columns.append(
                Column(
                    f"check_{check.label}_answered",
                    "json",
                    f"Every answer to the check “{check.label}”, in order."
                    if check.name == "comprehension"
                    else f"Answer to the check “{check.label}”.",
                    lambda p, check=check: _answered(verdict) if (verdict := p.verdict(check)) else None,
                )
            )
    answers = (column for asked in source.questions.values() for column in _answers(asked))
    columns += {column.name: column for column in answers}.values()
    columns += [*_REPEATED, *_AGENT_COLUMNS]
    columns.append(
        Column(
            "in_dataset",
            "boolean",
            "Whether a match of this participant is in the dataset.",
            lambda p: p.in_dataset,
            values="true, false",
        )
    )
    return Table(
        "participants",
        "One row for everybody who arrived and was given a place, in the dataset or not; empty if no one took part.",
        [*columns, *_REASONS],
    )


def _answered(verdict: Verdict) -> str:
    return compact_json(verdict.tries if verdict.check_name == "comprehension" else verdict.answered)


_KINDS: Mapping[str, Kind] = {
    "single": "choice", "multiple": "text", "scale": "integer", "matrix": "choice", "slider": "number",
    "number": "number", "date": "text", "text": "text", "long": "text", "ranking": "text",
}  # fmt: skip


def _answers(asked: AskedQuestion) -> list[Column]:
    """Return the columns of one question: one per row of a matrix."""
    question = asked.question
    options = "; ".join(question.options)
    values = {
        "scale": f"1 {question.low} to {question.points} {question.high}".replace("  ", " ").strip(),
        "multiple": f"the chosen ones of: {options}",
        "ranking": f"from the first place to the last: {options}",
        "date": "year-month-day",
        **dict.fromkeys(FREE_TEXT, "names and identifiers are replaced by markers"),
    }.get(question.kind, options)
    about = f"Answer {'before' if asked.before_game else 'after'} the game, of those with a match in the dataset"
    texts = [f"{question.text} – {row.text}" for row in question.rows] or [question.text]
    return [
        Column(
            name,
            _KINDS[question.kind],
            f"{about}: {text}",
            lambda p, name=name: p.answers.get(name),
            values=values,
            unit=question.unit,
        )
        for name, text in zip(asked.columns, texts, strict=True)
    ]


def excluded() -> Table:
    return Table(
        "excluded",
        "One row per excluded participant with the reason, without content.",
        [
            _PARTICIPANT,
            Column(
                "match",
                "identifier",
                "The excluded match; empty if none was opened.",
                lambda p: next((match.uid for match in p.matches), None),
            ),
            _STAGE,
            *_REASONS,
        ],
    )


def payments() -> Table:
    return Table(
        "payments",
        "One row per amount owed to a participant; the pay rules are in versions.json.",
        [
            Column("participant", "identifier", "Pseudonym, the same in every file.", lambda p: p.enrolment.pseudonym),
            Column("reason", "choice", "Kind of payment.", lambda p: p.reason, values="base, bonus, screen_out, part"),
            Column("amount", "number", "Amount owed.", lambda p: p.amount, unit="the currency"),
            Column("currency", "choice", "Currency of the amount.", lambda p: p.currency, values="ISO 4217"),
            Column(
                "state",
                "choice",
                "State of the payment.",
                lambda p: p.state,
                values=", ".join(LedgerRow.State.values),
            ),
            Column("ending", "choice", "The ending that is paid for.", lambda p: p.workings.get("ending")),
            Column(
                "payoff",
                "number",
                "Payoff on which the amount is based.",
                lambda p: p.workings.get("payoff"),
                unit="the game's money",
            ),
            Column(
                "share",
                "number",
                "Success score on which the amount is based.",
                lambda p: p.workings.get("share"),
                unit="from 0 to 1",
            ),
            Column(
                "played",
                "number",
                "Share of the matches played until the ending; empty if the pay does not depend on it.",
                lambda p: p.workings.get("played"),
                unit="from 0 to 1",
            ),
            Column("created_at", "time", "When it became due.", lambda p: p.created_at, unit="UTC"),
            Column("approved_at", "time", "When it was last approved.", lambda p: p.approved_at, unit="UTC"),
            Column("sent_at", "time", "When the recruiter was last asked to pay it.", lambda p: p.sent_at, unit="UTC"),
            Column(
                "settled_at",
                "time",
                "When it was confirmed as paid, or written off.",
                lambda p: p.settled_at,
                unit="UTC",
            ),
            Column(
                "paid_by_hand",
                "boolean",
                "Whether a person, not the recruiter, reported it as paid.",
                lambda p: p.by_hand,
                values="true, false",
            ),
            Column(
                "rejected",
                "boolean",
                "Whether it was written off because the work was rejected.",
                lambda p: p.rejected,
                values="true, false",
            ),
        ],
    )


def cells(shape: Shape, source: Source) -> Table:
    """A row is about a mapping: a cell and its counts."""

    def cell_column(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row.get(name), unit, values)

    of_study = isinstance(source, StudySource)
    study_columns = [
        cell_column("kind", "choice", "Kind of the published row that the configuration is.", values="may be empty"),
        cell_column(
            "seats",
            "json",
            "Who takes each seat: person, an agent's label, or several labels from which one is drawn.",
        ),
    ]
    more_study_columns = [
        cell_column("weight", "integer", "How often the cell is drawn, compared with the others."),
        cell_column(
            "sha256",
            "identifier",
            "Hash of the cell's plan: equal where participants of several versions met the same.",
        ),
        cell_column("base_pay", "number", "Base pay.", "the currency"),
        cell_column("announced_average", "number", "The average bonus that participants are told.", "the currency"),
        cell_column("currency", "choice", "Currency of the pay.", values="ISO 4217"),
        cell_column("participants", "integer", "Number of participants placed in the cell.", "participants"),
    ]
    return Table(
        "cells",
        "One row per cell of every version (in collections, per configuration), played or not. If a study has several "
        "games, parameters and seats are the first one's.",
        [
            cell_column("version", "integer", "Version of the study, as in the manifest."),
            cell_column("cell", "integer", "Number within the version."),
            *(
                _factor(factor, lambda row, name=factor.name: row["factors"].get(name))
                for factor in source.factors
                if not factor.within
            ),
            *(study_columns if of_study else ()),
            cell_column(
                "quota", "integer", "Number of complete matches needed; empty for later stages and imports.", "matches"
            ),
            *(more_study_columns if of_study else ()),
            cell_column("matches", "integer", "Matches started.", "matches"),
            cell_column("matches_in_dataset", "integer", "Of these, matches in the dataset.", "matches"),
            *_parameters(shape, lambda row: row["config"]),
        ],
    )


# ---- the dataset about itself ----------------------------------------------------------------------


def flow() -> Table:
    return Table(
        "flow",
        "Number of participants who reached each stage, and why the others left; each is counted once.",
        [
            Column("stage", "choice", "Stage reached, in order.", lambda f: f[0], values=", ".join(gate.STAGES)),
            Column(
                "what",
                "choice",
                "reached, or the reason why some went no further.",
                lambda f: f[1],
                values=", ".join(["reached", *gate.REASONS]),
            ),
            Column("participants", "integer", "Number of participants.", lambda f: f[2], unit="participants"),
        ],
    )


def ratings() -> Table:
    """Rows are `games.ratings.Rating`; only collections of games that rate their agents have them."""
    return Table(
        "ratings",
        "One row per agent: its skill after the collection's finished matches, by OpenSkill's Plackett–Luce model.",
        [
            Column("agent", "text", "The agent's label.", lambda rating: rating.label),
            Column("mean", "number", "Mean of its skill; every agent starts at 25.", lambda rating: rating.mean),
            Column("deviation", "number", "Standard deviation of its skill.", lambda rating: rating.deviation),
            Column(
                "matches",
                "integer",
                "Number of matches on which it is based.",
                lambda rating: rating.matches,
                unit="matches",
            ),
        ],
    )


def codebook() -> Table:
    return Table(
        "codebook",
        "One row per column of every table, and per key of transcripts.jsonl.",
        [
            Column("table", "text", "File without its ending.", lambda e: e[0]),
            Column("column", "text", "Column or key.", lambda e: e[1].name),
            Column("meaning", "text", "What the column or key holds.", lambda e: e[1].meaning),
            Column(
                "kind",
                "choice",
                "Type of its values.",
                lambda e: e[1].kind,
                values=", ".join(Kind.__args__),  # type: ignore[attr-defined]
            ),
            Column("unit", "text", "Unit of its values.", lambda e: e[1].unit),
            Column("values", "text", "Values that occur, or their range.", lambda e: e[1].values),
        ],
    )


# ---- describing a game's own fields ----------------------------------------------------------------


def _sentence(field: Field) -> str:
    text = f"{field.label}. {field.help}".strip() if field.label != field.name else field.help or f"{field.name}."
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _kind(field: Field) -> Kind:
    return "json" if field.kind == "data" else field.kind


def _parameters(shape: Shape, config_of: Callable[[Any], Mapping[str, Any]]) -> list[Column]:
    """Return the columns of the game's parameters; `config_of` returns those of a row's subject."""
    return [
        Column(
            f"config_{name}",
            _kind(field),
            f"Parameter of the game: {_sentence(field)}",
            lambda subject, name=name: config_of(subject).get(name),
            values=_values(field, "empty: none" if field.nullable else ""),
        )
        for name, field in shape.config.items()
    ]


def _result(name: str, field: Field, read: Callable[[Any], Any]) -> Column:
    """Return the column of a field of a game's results."""
    return Column(name, _kind(field), field.help, read, field.unit, _values(field, "empty if it has no value"))


def _values(field: Field, absent: str) -> str:
    descriptions = []
    if field.choices:
        descriptions.append(", ".join(cell(choice) for choice in field.choices))
    elif field.kind == "boolean":
        descriptions.append("true, false")
    if field.minimum is not None:
        descriptions.append(f"from {field.minimum:g}")
    if field.maximum is not None:
        descriptions.append(f"to {field.maximum:g}")
    if field.max_length is not None:
        descriptions.append(f"at most {field.max_length} characters")
    return "; ".join([*descriptions, *([absent] if absent else [])])
