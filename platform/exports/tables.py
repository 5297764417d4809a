"""The tables of a dataset: every column with its meaning and how it is read, in one place.

The codebook is made from the same columns, so there is none without an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, Literal

from exports import gate
from exports import signals as signals_of
from exports.csvsafe import cell, compact_json, line, lines
from exports.scrubbing import Scrubber
from exports.shape import Shape
from matches.forms import Field
from participants.states import State
from payouts.models import LedgerRow
from quality.score import LINE, MEANINGS
from recruiters import authenticity
from surveys.questions import Question

_AS_THEY_ARE = frozenset({int, float, NoneType})
Kind = Literal["identifier", "choice", "text", "number", "integer", "boolean", "time", "json"]


@dataclass(frozen=True)
class Column:
    """One column: `read` takes what a row is about and gives the value, None for an empty cell."""

    name: str
    kind: Kind
    meaning: str
    read: Callable[[Any], Any]
    unit: str = ""
    values: str = ""


@dataclass(frozen=True)
class Table:
    """What a row is, and the columns in order: of a CSV file, of a Parquet file and in the codebook."""

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
    def _reads(self) -> tuple[Callable[[Any], Any], ...]:
        return tuple(column.read for column in self.columns)

    def values(self, about: Any) -> list[Any]:
        """What stands in the row about `about`, column by column."""
        return [read(about) for read in self._reads]

    def row(self, about: Any) -> bytes:
        return line(cell(value) for value in self.values(about))

    @staticmethod
    def written(rows: Iterable[Sequence[Any]]) -> bytes:
        """Rows of values as lines of CSV; the writer itself leaves None empty and numbers as `cell` writes them."""
        return lines(
            [v if type(v) in _AS_THEY_ARE or (type(v) is str and v[:1].isalnum()) else cell(v) for v in values]
            for values in rows
        )


def tables(
    shape: Shape,
    *,
    steps: Iterable[str],
    checks: Iterable[str],
    questions: Iterable[tuple[str, Question]] = (),
) -> dict[str, Table]:
    """Every table of a dataset by name.

    Args:
        steps: kinds of steps that enrolments in the study are made of.
        checks: names of the attention checks.
        questions: (survey, question) for each question of the study's surveys.
    """
    steps = list(steps)
    made = [
        matches(shape),
        seats(shape),
        rounds(shape),
        decisions(shape),
        messages(),
        participants(steps, checks, questions),
        signals(),
        behaviour(),
        llm_calls(),
        tool_calls(),
        excluded_calls(),
        payments(),
        excluded(),
        cells(shape, of_study=bool(steps)),
        flow(),
        codebook(),
    ]
    return {table.name: table for table in made}


# ---- matches and what was done in them -----------------------------------------------------------

_MATCH = Column("match", "identifier", "The match, the same in every file.", lambda row: row.match.uid)


def matches(shape: Shape) -> Table:
    columns = [
        Column("match", "identifier", "The match, the same in every file.", lambda m: m.uid),
        Column("game", "choice", "The game that was played.", lambda m: m.match.game, values=", ".join(shape.games)),
        Column("rules_version", "integer", "Version of the game's rules.", lambda m: m.match.rules_version),
        Column("version", "integer", "Version of the study, as in the manifest.", lambda m: m.place.version),
        Column(
            "cell",
            "integer",
            "Number of the cell within the version, in collections of the configuration: see cells.csv.",
            lambda m: m.place.cell,
        ),
        Column(
            "cell_kind",
            "choice",
            "What the researcher calls such cells.",
            lambda m: m.place.kind or None,
            values="such as main, variant, random; may be empty",
        ),
        Column(
            "purpose",
            "choice",
            "What the match was played for.",
            lambda m: m.match.purpose,
            values="study, demo, collection, imported",
        ),
        Column(
            "source",
            "choice",
            "Where the match was played.",
            lambda m: m.reading.source.origin,
            values="parley: here; glee: imported from the published GLEE data",
        ),
        Column("name", "identifier", "Name of an imported game at its source.", lambda m: m.place.name or None),
        Column(
            "unverified",
            "text",
            "Why an imported game is not one that the rules allow; its results follow from the formulas all the same.",
            lambda m: m.unverified,
            values="empty where every move is legal",
        ),
        Column("seed", "integer", "Random seed of the match.", lambda m: m.match.seed),
        Column("started_at", "time", "When the match was opened.", lambda m: m.started_at, unit="UTC"),
        Column(
            "ended_at",
            "time",
            "When its last move was made.",
            lambda m: m.ended_at,
            unit="UTC",
            values="empty for imported matches, like all their times",
        ),
        Column(
            "seconds",
            "number",
            "From the opening to the last move.",
            lambda m: m.started_at and round((m.ended_at - m.started_at).total_seconds(), 3),
            unit="seconds",
        ),
        Column(
            "session",
            "integer",
            "Which match of the enrolment it was, from 1, for the first of its people; empty outside studies.",
            lambda m: m.place.session,
        ),
        Column(
            "repetition",
            "integer",
            "Which playing of its configuration and line-up it was, from 1; empty outside collections.",
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
            "How it ended by the game's rules, or the state that ended it early.",
            lambda m: m.ended_how,
            values="such as accepted, walked away, last round, cap; finished where there is one way only",
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
                f"What the study or collection calls the agent that played {title}; empty for a person.",
                lambda m, role=role: m.label(role) if role in m.seats and m.seats[role].agent else None,
            ),
            Column(
                f"agent_{role}_hash",
                "identifier",
                "Over everything that changes that agent's behaviour: the same label under another hash is another.",
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
    columns.append(
        Column(
            "told_of_players",
            "choice",
            "What its people were told before about the other players; see seats for each, with the words.",
            lambda m: "; ".join(sorted({told["told"] for role in m.seats if (told := m.told(role))})) or None,
            values="told, either, nothing; empty without people or where it was not recorded",
        )
    )
    columns += [
        Column(
            f"config_{name}",
            _kind(field),
            f"Parameter of the game: {_sentence(field)}",
            lambda m, name=name: m.match.config.get(name),
            values=_values(field),
        )
        for name, field in shape.config.items()
    ]
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
    taken = {column.name for column in columns} | {"in_dataset"}
    columns += [
        Column(
            name if name not in taken else f"metric_{name}",
            _kind_of_value(example),
            shape.meanings.get(name, f"Result of the match as the game's rules define it: {name.replace('_', ' ')}."),
            lambda m, name=name: (m.match.metrics or {}).get(name),
            values="empty where it has no value",
        )
        for name, example in shape.metrics.items()
    ]
    columns += [
        Column(
            "in_dataset",
            "boolean",
            "Whether the match passed the gate.",
            lambda m: not m.reasons,
            values="true; false only where excluded matches were asked for",
        ),
        Column("reason", "choice", "Why it did not, counted in the flow.", lambda m: next(iter(m.reasons), None)),
        Column("reasons", "choice", "Every reason, separated by semicolons.", lambda m: ";".join(m.reasons) or None),
    ]
    return Table("matches", "One row per match in the dataset.", columns)


def seats(shape: Shape) -> Table:
    """A row is about (match, role)."""
    columns = [
        Column("match", "identifier", "The match, the same in every file.", lambda s: s[0].uid),
        Column("role", "choice", "The seat.", lambda s: s[1]),
        Column("kind", "choice", "Seats of one kind are interchangeable.", lambda s: s[0].game.kind(s[1])),
        Column("player", "choice", "Who plays there.", lambda s: s[0].player(s[1]), values="human, or the agent"),
        Column(
            "agent",
            "choice",
            "What the study or collection calls the agent; empty for a person.",
            lambda s: s[0].label(s[1]) if s[0].seats[s[1]].agent else None,
        ),
        Column(
            "agent_hash",
            "identifier",
            "12 digits over everything that changes the agent's behaviour; empty for a person.",
            lambda s: s[0].agent_hash(s[1]),
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
            "Whether an agent took the seat because no person came in time.",
            lambda s: s[0].seats[s[1]].fills_in,
        ),
        Column(
            "left_at",
            "time",
            "When its person stopped playing and the others went on; empty where the person stayed.",
            lambda s: s[0].seats[s[1]].left_at,
            unit="UTC",
        ),
        Column(
            "told_of_players",
            "choice",
            "What the person was told about the other players before agreeing to take part.",
            lambda s: s[0].told(s[1]).get("told"),
            values="told: who they are; either: that they may be people or programs; nothing; empty of an agent, "
            "and where it was not recorded",
        ),
        Column("told_words", "text", "In which words.", lambda s: s[0].told(s[1]).get("words") or None),
        Column(
            "told_at",
            "time",
            "When the person had read it and agreed.",
            lambda s: s[0].told(s[1]).get("at"),
            unit="UTC",
        ),
        Column(
            "payoff",
            "number",
            "Payoff; empty of a match without a result.",
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
            "Of them, moves that somebody else than the seat's player made.",
            lambda s: sum(d.role == s[1] and d.by is not None for d in s[0].decisions),
        ),
        Column(
            "unanswered",
            "integer",
            "Of them, moves of the clock: the turn was not answered.",
            lambda s: sum(d.role == s[1] and not d.answered for d in s[0].decisions),
        ),
        Column(
            "left_open_seconds",
            "number",
            "How long this seat's last turn was open, which nobody answered and which ended the match early.",
            lambda s: s[0].left_open(s[1]),
            unit="seconds",
            values="empty where the match did not end so",
        ),
    ]
    taken = {column.name for column in columns} | {"in_dataset", "reason", "reasons"}
    columns += [
        Column(
            name if name not in taken else f"metric_{name}",
            _kind_of_value(example),
            shape.seat_meanings.get(name, f"Result of the seat by the game's rules: {name.replace('_', ' ')}."),
            lambda s, name=name: (s[0].match.metrics or {}).get(f"{s[1]}_{name}"),
            values="empty where it has no value",
        )
        for name, example in shape.seat_metrics.items()
    ]
    columns += [
        Column("in_dataset", "boolean", "Whether the seat passed the gate.", lambda s: not s[0].seat_reasons(s[1])),
        Column("reason", "choice", "Why it did not.", lambda s: next(iter(s[0].seat_reasons(s[1])), None)),
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
        Column("row", "integer", "Rows of the match, counted from 1.", lambda r: r[1]),
    ]
    columns += [
        Column(
            record_column(name),
            _kind_of_value(example),
            shape.record_meanings.get(name, f"As the game's rules define it: {name.replace('_', ' ')}."),
            lambda r, name=name: r[2].get(name),
            values="empty where it has no value",
        )
        for name, example in shape.records.items()
    ]
    return Table("rounds", "The game's own rows, such as one per round and seat; none where it keeps none.", columns)


def record_column(name: str) -> str:
    """The column of rounds.csv that holds this part of a game's records."""
    return name if name not in ("match", "row") else f"record_{name}"


def decisions(shape: Shape) -> Table:
    columns = [
        _MATCH,
        Column("move_number", "integer", "Moves of the match, counted from 1.", lambda d: d.move_number),
        Column("number", "integer", "Number of the event in the transcript.", lambda d: d.row.number),
        Column("role", "choice", "Who moved.", lambda d: d.role, values=", ".join(shape.roles)),
        Column(
            "round", "integer", "The game's own count of rounds, from 1; empty where it has none.", lambda d: d.round
        ),
        Column("phase", "choice", "What the game calls this part of the round; may be empty.", lambda d: d.phase),
        Column(
            "player", "choice", "Who plays that role.", lambda d: d.match.player(d.role), values="human, or the agent"
        ),
        Column(
            "by",
            "choice",
            "Who made the move, if not the role's own player.",
            lambda d: d.by,
            values="rules: what the rules make of an unusable answer; clock; script:NAME; script:NAME:away where "
            "NAME's moves for unusable answers are data and there was no answer; otherwise empty",
        ),
        Column("move", "json", "The whole move; names replaced by markers.", lambda d: compact_json(d.move)),
    ]
    columns += [
        Column(
            move_column(name),
            _kind(field),
            f"Field of the move: {_sentence(field)}",
            lambda d, name=name: d.move.get(name),
            values=_values(field, of_move=True),
        )
        for name, field in shape.moves.items()
    ]
    columns += [
        Column("asked_at", "time", "When the question was put.", lambda d: d.row.asked_at, unit="UTC"),
        Column(
            "shown_at",
            "time",
            "When it was first on the person's screen; empty for agents.",
            lambda d: d.row.shown_at,
            unit="UTC",
        ),
        Column("answered_at", "time", "When the move was taken.", lambda d: d.answered_at, unit="UTC"),
        Column(
            "seconds",
            "number",
            "From shown_at, or from asked_at where nothing was shown, to answered_at.",
            lambda d: d.seconds,
            unit="seconds",
        ),
        Column(
            "refused",
            "integer",
            "Attempts before it that were no legal move, of people and of models; empty of imported matches.",
            lambda d: d.refused,
            unit="attempts",
        ),
        Column(
            "answered",
            "boolean",
            "Whether the turn was answered; where not, the clock moved and seconds is how long nobody did.",
            lambda d: d.answered,
            values="true, false",
        ),
    ]
    return Table("decisions", "One row per move of the matches in the dataset.", columns)


def move_column(name: str) -> str:
    """The column of decisions.csv that holds this field of moves."""
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
                "The message; names and identifiers are replaced by markers, and an apostrophe stands before what a "
                "spreadsheet would take for a formula (the transcript has the text without it).",
                lambda d: d.message,
                values="[name], [identifier], [code word], [e-mail], [address], [key] "
                "(or ▮ where a message would grow too long)",
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


_WORDS_OF_CALLS = ("messages", "answer", "problem", "error", "stop", "remarks", "tools")
"""What of a call holds somebody's words; the rest are numbers and the names of models and settings."""
_RESEARCHERS_WORDS = ("endpoint", "parameters")
_RESEARCHERS = Scrubber(strangers=True)


@dataclass(frozen=True)
class CallRow:
    """A call of a model in a match, scrubbed like the match's own words."""

    match: Any
    call: Any

    @cached_property
    def record(self) -> Mapping[str, Any]:
        kept: Mapping[str, Any] = self.call.record
        said = {name: self.match.scrubber.data(kept[name]) for name in _WORDS_OF_CALLS if kept.get(name)}
        return kept | said | {name: _RESEARCHERS.data(kept[name]) for name in _RESEARCHERS_WORDS if kept.get(name)}

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """The tools that it called, in order."""
        return self.record.get("tools") or []


@dataclass(frozen=True)
class ToolRow:
    """A tool that a call of a model called; `place` counts from 1 within the call."""

    match: Any
    call: CallRow
    place: int
    tool: Mapping[str, Any]


def llm_calls() -> Table:
    def recorded(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        def read(row: CallRow) -> Any:
            value = row.record.get(name)
            return compact_json(value) if kind == "json" and value is not None else value

        return Column(name, kind, meaning, read, unit, values)

    return Table(
        "llm_calls",
        "One row per call of a language model in the matches in the dataset, whether it led to a move or not.",
        [
            _MATCH,
            Column("role", "choice", "For whom the model was asked.", lambda c: c.call.role),
            Column(
                "answering",
                "integer",
                "Number of the event that opened the turn it was asked about.",
                lambda c: c.call.answering,
            ),
            Column(
                "at",
                "time",
                "When the record was kept, once the turn's calls were over.",
                lambda c: c.call.at,
                unit="UTC",
            ),
            Column(
                "outcome",
                "choice",
                "What came of it: the move that was played, a legal one that was not, no legal one, or no answer.",
                lambda c: c.call.outcome,
                values="move, unplayed, rule_break, failed",
            ),
            recorded("provider", "choice", "The protocol that was spoken.", values="openai, anthropic"),
            recorded("endpoint", "text", "The endpoint that was called, by its name in the admin."),
            recorded("model", "text", "The model that was asked for."),
            recorded("answered_by", "text", "The model that the provider says it was."),
            recorded(
                "try_number", "integer", "1 for the first try of a turn; more after answers that were no legal move."
            ),
            recorded("rung", "integer", "0 for the agent itself, 1 for its first fallback, and so on."),
            recorded("attempt", "integer", "1 for the first call of a try; more after calls that failed."),
            recorded(
                "strategy",
                "choice",
                "How the model was asked.",
                values="chain_of_thought, conversation, fresh; empty: plainly",
            ),
            recorded(
                "structured",
                "choice",
                "How the answer was held to a schema.",
                values="none, json_schema, json_object, tool",
            ),
            recorded("seed", "integer", "The sampling seed sent along."),
            recorded("prompt_sha256", "identifier", "Version of all texts in force: rules, persona, prompts."),
            recorded("messages", "json", "All that was sent, as [{role, content}]; names replaced by markers."),
            recorded("parameters", "json", "Parameters sent along."),
            recorded(
                "answer",
                "text",
                "The raw answer, markers and apostrophe as in messages.csv; empty when there was none.",
            ),
            recorded(
                "problem", "text", "Why the answer was no legal move, as the model was told; empty if it was one."
            ),
            recorded(
                "fault",
                "choice",
                "Kind of the problem: no move of the kind asked for, or one that the rules do not allow.",
                values="unreadable, illegal",
            ),
            recorded("error", "text", "How the provider failed, if it did."),
            recorded("stop", "text", "Why the model stopped, in the provider's words."),
            recorded("input_tokens", "integer", "As the provider counts them.", "tokens"),
            recorded("output_tokens", "integer", "As the provider counts them.", "tokens"),
            recorded("latency", "number", "Until the answer or the error.", "seconds"),
            recorded("streamed", "boolean", "Whether the answer was read as it was written."),
            recorded("first_text", "number", "Until the first words of a streamed answer.", "seconds"),
            recorded(
                "purpose", "choice", "What the call was for.", values="move, plan, belief, replan, look, note, judge"
            ),
            recorded("remarks", "json", "What the model wrote beside its move, by key; markers as in messages.csv."),
            recorded("cached_tokens", "integer", "Of the input tokens, read from the provider's cache.", "tokens"),
            recorded(
                "conversation",
                "identifier",
                "Of which the call is a part: messages are then what was said since its call before.",
            ),
            recorded("offered", "json", "Names of the tools that were offered."),
            Column("tools", "integer", "How many tools were called: see tool_calls.csv.", lambda c: len(c.tools)),
            recorded("short", "boolean", "Whether only the values were asked that determine the move."),
            recorded("refused", "boolean", "Whether the provider says that the model would not answer."),
            Column(
                "cost",
                "number",
                "Tokens times the price that was known; empty where it was not.",
                lambda c: c.call.cost,
                unit="US dollars",
            ),
            recorded("request_id", "identifier", "The provider's name for the call."),
        ],
    )


def tool_calls() -> Table:
    def called(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row.tool.get(name), unit, values)

    return Table(
        "tool_calls",
        "One row per tool that a language model called: looks at data, notes and submissions, in order.",
        [
            _MATCH,
            Column("role", "choice", "For whom the model was asked.", lambda row: row.call.call.role),
            Column("answering", "integer", "As in llm_calls.csv.", lambda row: row.call.call.answering),
            Column("conversation", "identifier", "As in llm_calls.csv.", lambda row: row.call.record["conversation"]),
            Column("try_number", "integer", "The call's number in it.", lambda row: row.call.record["try_number"]),
            Column("place", "integer", "From 1, among the tools of one call.", lambda row: row.place),
            called("name", "text", "The tool, as the model called it."),
            called("kind", "choice", "What it does.", values="look, note, move"),
            called("arguments", "text", "As the model wrote them; markers as in messages.csv."),
            called("result", "text", "What it was answered."),
            called("size", "integer", "Length of the result.", "characters"),
            called(
                "fault",
                "choice",
                "Why it came to nothing; empty where it did not.",
                values="unknown: no such tool; unreadable: its arguments; illegal; ignored: after the submission",
            ),
        ],
    )


def excluded_calls() -> Table:
    """A row is about (match, row of sums)."""

    def summed(name: str, kind: Kind, meaning: str, unit: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row[1][name], unit)

    return Table(
        "excluded_calls",
        "How often the models of matches that are not in the dataset were called; one row per match, role and model.",
        [
            Column("match", "identifier", "The match, as in excluded.csv.", lambda row: row[0].uid),
            Column("cell", "integer", "As in matches.csv.", lambda row: row[0].place.cell),
            Column("reason", "choice", "Why it is not in the dataset.", lambda row: row[0].reasons[0]),
            summed("role", "choice", "For whom the model was asked."),
            Column("agent", "choice", "What the agent is called.", lambda row: row[0].label(row[1]["role"])),
            summed("model", "text", "The model that was asked for."),
            summed("calls", "integer", "Calls.", "calls"),
            summed("failed", "integer", "Of them, without an answer.", "calls"),
            summed("rule_breaks", "integer", "Of them, with an answer that was no legal move.", "calls"),
            summed("cost", "number", "Of those whose price was known.", "US dollars"),
        ],
    )


# ---- people --------------------------------------------------------------------------------------

_PARTICIPANT = Column(
    "participant", "identifier", "Pseudonym, the same in every file.", lambda w: w.enrolment.pseudonym
)
_REASONS = [
    Column("reason", "choice", "The reason that is counted in the flow.", lambda w: next(iter(w.reasons), None)),
    Column(
        "reasons",
        "choice",
        "Every reason that holds, in order, separated by semicolons.",
        lambda w: ";".join(w.reasons) or None,
        values="; ".join(f"{name}: {meaning}" for name, meaning in gate.REASONS.items()),
    ),
]
_STAGE = Column(
    "stage",
    "choice",
    "How far the participant came.",
    lambda w: w.stage,
    values="; ".join(f"{name}: {meaning}" for name, meaning in gate.STAGES.items()),
)


_REPEATED = [
    Column(
        "repeated_messages",
        "integer",
        "Messages that say what an earlier one of the same participant said. A signal: it excludes nobody.",
        signals_of.repeated_messages,
        unit="messages",
        values="empty where none was written in a match in the dataset, or what was written is erased",
    ),
    Column(
        "repeated_answers",
        "integer",
        "Survey answers in words that say what an earlier one of the same participant said. A signal: it excludes "
        "nobody.",
        signals_of.repeated_answers,
        unit="answers",
        values="empty where none was given, or what was written is erased",
    ),
    Column(
        "longest_line",
        "integer",
        "The most scales one after the other, in one survey, on which the same point was chosen. A signal: it "
        "excludes nobody.",
        signals_of.longest_line,
        unit="questions",
        values="empty where fewer than two scales were answered",
    ),
]


def signals() -> Table:
    def counted(name: str, kind: Kind, meaning: str, read: Callable[[Any], Any], unit: str) -> Column:
        return Column(name, kind, meaning, read, unit)

    return Table(
        "signals",
        "One row per page that a participant's browser told something of, all of its loadings together. Browsers "
        "that run no script tell nothing. Signals exclude nobody and change no pay.",
        [
            Column("participant", "identifier", "Pseudonym, the same in every file.", lambda s: s.enrolment.pseudonym),
            Column("position", "integer", "Place of the page on the path, from 0.", lambda s: s.position),
            Column(
                "step", "choice", "Kind of the step, as in the columns seconds_… of participants.csv.", lambda s: s.kind
            ),
            counted("loadings", "integer", "How often the page was loaded.", lambda s: s.loadings, "loadings"),
            counted("seconds_open", "number", "How long the page was open.", lambda s: s.open, "seconds"),
            counted(
                "seconds_visible", "number", "How long of it the page was visible.", lambda s: s.visible, "seconds"
            ),
            counted(
                "times_hidden",
                "integer",
                "How often the page was hidden: another tab, a locked screen, or leaving it for the next page.",
                lambda s: s.hidden,
                "times",
            ),
            counted(
                "times_blurred",
                "integer",
                "How often another window was in front while the page stayed visible.",
                lambda s: s.blurred,
                "times",
            ),
            counted("pastes", "integer", "How often something was pasted into a field.", lambda s: s.pastes, "times"),
            counted(
                "characters_pasted",
                "integer",
                "How much was pasted; what, is not kept.",
                lambda s: s.pasted,
                "characters",
            ),
        ],
    )


_BY_HAND: tuple[tuple[str, Kind, str, str], ...] = (
    ("words", "integer", "Words on the page or on the game's screen.", "words"),
    ("keys", "integer", "Keys pressed in fields; which ones is not known.", "keys"),
    ("intervals", "integer", "Times between two keys in one field that are below two seconds.", "intervals"),
    ("interval_ms", "integer", "Sum of these times.", "milliseconds"),
    ("interval_sq", "integer", "Sum of their squares, from which their spread follows.", "milliseconds²"),
    ("typed", "integer", "Characters that appeared with a key just pressed.", "characters"),
    ("untyped", "integer", "Characters that appeared without: dictation, an extension, a program.", "characters"),
    ("pasted", "integer", "Characters that were pasted or dropped.", "characters"),
    ("clicks", "integer", "Clicks of a mouse.", "clicks"),
    ("jumps", "integer", "Of them, to which no path led.", "clicks"),
    ("wide", "integer", "Of them, on targets of 40 pixels and more.", "clicks"),
    ("centred", "integer", "Of these, in the exact middle.", "clicks"),
    ("travel", "integer", "How far the pointer went.", "pixels"),
    ("touches", "integer", "Activations by touch or pen.", "times"),
    ("keyboard", "integer", "Activations by the keyboard or a screen reader.", "times"),
    ("untrusted", "integer", "Clicks and input that a script made.", "times"),
)


def behaviour() -> Table:
    return Table(
        "behaviour",
        "One row per page, and per question of a game, whose use by hand a participant's browser counted, all loadings "
        "together; only of people who were told so and agreed. It excludes nobody and changes no pay.",
        [
            Column("participant", "identifier", "Pseudonym.", lambda use: use.participant.enrolment.pseudonym),
            Column("position", "integer", "Place of the page on the path, from 0.", lambda use: use.position),
            Column("step", "choice", "Kind of the step.", lambda use: use.kind),
            Column("match", "identifier", "The match whose question it is.", lambda use: use.match),
            Column(
                "answering",
                "integer",
                "Number of the event that opened the question; empty for the page itself.",
                lambda use: use.question,
            ),
            Column(
                "seconds",
                "number",
                "From its showing to the last answer.",
                lambda use: use.figures["answered_ms"] / 1000 if use.figures["answered_ms"] else None,
                unit="seconds",
            ),
            *(
                Column(name, kind, meaning, lambda use, name=name: use.figures[name], unit=unit)
                for name, kind, meaning, unit in _BY_HAND
            ),
            Column(
                "trapped",
                "boolean",
                "Whether the field was filled in that only programs see.",
                lambda use: use.figures["trapped"] > 0,
            ),
        ],
    )


_AGENT = [
    Column(
        "agent_score",
        "number",
        "How much speaks for a program at the participant's pages. A signal: it excludes nobody and changes no pay.",
        lambda w: found.value if (found := signals_of.agent_score(w)) else None,
        unit="from 0 to 1",
        values="empty where nothing was counted",
    ),
    Column(
        "agent_reasons",
        "choice",
        "Why, separated by semicolons, the heaviest first.",
        lambda w: ";".join(found.reasons) or None if (found := signals_of.agent_score(w)) else None,
        values="; ".join(f"{name}: {meaning}" for name, meaning in MEANINGS.items()),
    ),
    Column(
        "agent_flag",
        "boolean",
        f"Whether the score reaches {LINE}: a hint for analyses with and without these participants.",
        lambda w: found.flagged if (found := signals_of.agent_score(w)) else None,
        values="empty where nothing was counted",
    ),
    Column(
        "authenticity",
        "choice",
        "Result of the recruiter's own authenticity check of the participant's free texts, as last reported or "
        "imported. A signal: it excludes nobody and changes no pay.",
        lambda w: authenticity.flag_of(w.enrolment),
        values=f"{', '.join(authenticity.FLAGS)}; empty if the recruiter reported none",
    ),
]


def participants(steps: Iterable[str], checks: Iterable[str], questions: Iterable[tuple[str, Question]] = ()) -> Table:
    columns = [
        _PARTICIPANT,
        Column(
            "state",
            "choice",
            "The participant's state.",
            lambda w: w.facts.state,
            values=", ".join([*State.values, gate.IN_PROGRESS]),
        ),
        _STAGE,
        Column("role", "choice", "The role that was given.", lambda w: w.placement.role),
        Column("cell", "integer", "Number of the cell within the version.", lambda w: w.cell.number),
        Column("version", "integer", "Version of the study, as in the manifest.", lambda w: w.cell.version.number),
        Column(
            "match",
            "identifier",
            "The participant's match, if it is in the dataset.",
            lambda w: next((match.uid for match in w.matches if not match.reasons), None),
        ),
        Column(
            "person",
            "identifier",
            "Pseudonym of this person's first participation in any study here, as far as the recruiter tells; theirs "
            "in all later ones.",
            lambda w: w.person,
        ),
        Column(
            "participations_before",
            "integer",
            "How often the person had been given a place here before, in this study or another.",
            lambda w: w.participations_before,
            unit="participations",
        ),
        Column(
            "recruiter",
            "choice",
            "How the person came; empty once they were erased.",
            lambda w: identity.recruiter if (identity := getattr(w.enrolment, "identity", None)) else None,
        ),
        Column("arrived_at", "time", "When the participant came.", lambda w: w.enrolment.arrived_at, unit="UTC"),
        Column("ended_at", "time", "When the enrolment ended; empty before that.", lambda w: w.ended_at, unit="UTC"),
    ]
    columns += [
        Column(
            f"seconds_{kind}",
            "number",
            f"From showing the step “{kind}” to its answer; empty where it was not answered.",
            lambda w, kind=kind: w.seconds(kind),
            unit="seconds",
        )
        for kind in steps
    ]
    for check in checks:
        columns.append(
            Column(
                f"check_{check}_passed",
                "boolean",
                f"Verdict of the check “{check}”; empty where it was not reached or not asked.",
                lambda w, check=check: w.verdicts[check].passed if check in w.verdicts else None,
                values="true, false",
            )
        )
        if check != "code_word":  # what was typed there is a secret of the study, or anything at all
            columns.append(
                Column(
                    f"check_{check}_answered",
                    "json",
                    f"What was answered in the check “{check}”.",
                    lambda w, check=check: compact_json(w.verdicts[check].answered) if check in w.verdicts else None,
                )
            )
    columns += [_answer(survey, question) for survey, question in questions]
    columns += [*_REPEATED, *_AGENT]
    columns.append(
        Column(
            "in_dataset",
            "boolean",
            "Whether a match of this participant is in the dataset.",
            lambda w: w.in_dataset,
            values="true, false",
        )
    )
    return Table(
        "participants",
        "One row per person who was given a place, in the dataset or not; none where nobody took part.",
        [*columns, *_REASONS],
    )


_KINDS: Mapping[str, Kind] = {"text": "text", "number": "number", "choice": "choice", "scale": "integer"}


def _answer(survey: str, question: Question) -> Column:
    """The column of one question of a survey."""
    values = {
        "text": "names and identifiers are replaced by markers",
        "number": "",
        "choice": "; ".join(question.options),
        "scale": f"1 {question.low} to {question.points} {question.high}".replace("  ", " ").strip(),
    }[question.kind]
    return Column(
        f"survey_{survey}_{question.key}",
        _KINDS[question.kind],
        f"Answer in the survey {survey} the game, of those with a match in the dataset: {question.prompt}",
        lambda w: w.answers.get(survey, {}).get(question.key),
        values=values,
    )


def excluded() -> Table:
    return Table(
        "excluded",
        "One row per participant of whom nothing is in the dataset, and why; no content.",
        [
            _PARTICIPANT,
            Column(
                "match",
                "identifier",
                "The match that was kept out; empty where none was opened.",
                lambda w: next((match.uid for match in w.matches), None),
            ),
            _STAGE,
            *_REASONS,
        ],
    )


def payments() -> Table:
    return Table(
        "payments",
        "One row per amount owed to a participant; the rules of pay are in versions.json.",
        [
            Column("participant", "identifier", "Pseudonym, the same in every file.", lambda p: p.enrolment.pseudonym),
            Column("reason", "choice", "What is paid for.", lambda p: p.reason, values="base, bonus, screen_out, part"),
            Column("amount", "number", "What is owed.", lambda p: p.amount, unit="the currency"),
            Column("currency", "choice", "Currency of the amount.", lambda p: p.currency, values="ISO 4217"),
            Column(
                "state",
                "choice",
                "How far the payment is.",
                lambda p: p.state,
                values=", ".join(LedgerRow.State.values),
            ),
            Column("ending", "choice", "The state that is paid.", lambda p: p.workings.get("ending")),
            Column(
                "payoff",
                "number",
                "Payoff that it follows from.",
                lambda p: p.workings.get("payoff"),
                unit="the game's money",
            ),
            Column(
                "share",
                "number",
                "Success that it follows from.",
                lambda p: p.workings.get("share"),
                unit="from 0 to 1",
            ),
            Column("created_at", "time", "When it became due.", lambda p: p.created_at, unit="UTC"),
            Column("approved_at", "time", "When somebody last approved it.", lambda p: p.approved_at, unit="UTC"),
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
                "Whether a person said that it was paid, and no recruiter did.",
                lambda p: p.by_hand,
                values="true, false",
            ),
        ],
    )


def cells(shape: Shape, *, of_study: bool) -> Table:
    """A row is about plain data: a cell with what was counted of it.

    Args:
        of_study: people come to it, in line-ups with names.
    """

    def said(name: str, kind: Kind, meaning: str, unit: str = "", values: str = "") -> Column:
        return Column(name, kind, meaning, lambda row: row.get(name), unit, values)

    people = [
        said("kind", "choice", "What the researcher calls such cells.", values="may be empty"),
        said("lineup", "choice", "Name of the line-up; may be empty."),
        said("seats", "json", "Who takes each seat: person, an agent's label, or labels of which one is drawn."),
    ]
    placed = [said("participants", "integer", "Who was given a place in it.", "participants")]
    return Table(
        "cells",
        "One row per cell of every version, in collections per configuration, played or not.",
        [
            said("version", "integer", "Version of the study, as in the manifest."),
            said("cell", "integer", "Number within the version."),
            *(people if of_study else ()),
            said("quota", "integer", "Complete matches wanted; empty of later stages and of imports.", "matches"),
            *(placed if of_study else ()),
            said("matches", "integer", "Matches begun.", "matches"),
            said("matches_in_dataset", "integer", "Of them, in the dataset.", "matches"),
            *(
                Column(
                    f"config_{name}",
                    _kind(field),
                    f"Parameter of the game: {_sentence(field)}",
                    lambda row, name=name: row["config"].get(name),
                    values=_values(field),
                )
                for name, field in shape.config.items()
            ),
        ],
    )


# ---- the dataset about itself ----------------------------------------------------------------------


def flow() -> Table:
    return Table(
        "flow",
        "How many participants came how far and why the others left; each is counted once.",
        [
            Column("stage", "choice", "Stage reached, in order.", lambda f: f[0], values=", ".join(gate.STAGES)),
            Column(
                "what",
                "choice",
                "How many reached the stage, or the reason for which some came no further.",
                lambda f: f[1],
                values=", ".join(["reached", *gate.REASONS]),
            ),
            Column("participants", "integer", "How many.", lambda f: f[2], unit="participants"),
        ],
    )


def ratings() -> Table:
    """Rows are `games.ratings.Rating`; collections of games that rate their agents have them."""
    return Table(
        "ratings",
        "One row per agent: its strength after the collection's finished matches, by OpenSkill's Plackett–Luce model.",
        [
            Column("agent", "text", "The agent's label.", lambda rating: rating.label),
            Column("mean", "number", "Mean of its strength; everybody begins at 25.", lambda rating: rating.mean),
            Column("deviation", "number", "Standard deviation of that.", lambda rating: rating.deviation),
            Column("matches", "integer", "Matches that it rests on.", lambda rating: rating.matches, unit="matches"),
        ],
    )


def codebook() -> Table:
    return Table(
        "codebook",
        "One row per column of every table, and per key of transcripts.jsonl.",
        [
            Column("table", "text", "File without its ending.", lambda e: e[0]),
            Column("column", "text", "Column or key.", lambda e: e[1].name),
            Column("meaning", "text", "What it holds.", lambda e: e[1].meaning),
            Column(
                "kind",
                "choice",
                "Type of its values.",
                lambda e: e[1].kind,
                values=", ".join(Kind.__args__),  # type: ignore[attr-defined]
            ),
            Column("unit", "text", "Unit of its values.", lambda e: e[1].unit),
            Column("values", "text", "Values that occur, or their limits.", lambda e: e[1].values),
        ],
    )


# ---- describing a game's own fields ----------------------------------------------------------------


def _sentence(field: Field) -> str:
    words = f"{field.label}. {field.help}".strip() if field.label != field.name else field.help or f"{field.name}."
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _kind(field: Field) -> Kind:
    return "json" if field.kind == "data" else field.kind


def _kind_of_value(example: Any) -> Kind:
    if isinstance(example, bool):
        return "boolean"
    if isinstance(example, str):
        return "text"
    return "json" if isinstance(example, list | dict) else "number"


def _values(field: Field, *, of_move: bool = False) -> str:
    parts = []
    if field.choices:
        parts.append(", ".join(cell(choice) for choice in field.choices))
    elif field.kind == "boolean":
        parts.append("true, false")
    if field.minimum is not None:
        parts.append(f"from {field.minimum:g}")
    if field.maximum is not None:
        parts.append(f"to {field.maximum:g}")
    if field.max_length is not None:
        parts.append(f"at most {field.max_length} characters")
    if of_move:
        parts.append("empty where the move has no such field")
    elif field.nullable:
        parts.append("empty: none")
    return "; ".join(parts)
