"""The API's responses as pydantic models, from which the OpenAPI document is generated."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from ninja import Schema
from pydantic import AwareDatetime, ConfigDict, Field

from exports.formats import DEFAULT_FORMATS, FORMATS
from exports.times import Times


class _Response(Schema):
    model_config = ConfigDict(extra="forbid")

    @classmethod
    def of(cls, row: Any, **further: Any) -> Self:
        """Return what a row has under the names of the response's fields, with `further` fields."""
        own = {name: getattr(row, name) for name in cls.model_fields if name not in further}
        return cls.model_validate({**own, **further})


class Problem(_Response):
    """Why a request was refused; nothing was changed."""

    reason: str
    fields: dict[str, str] = Field(default={}, description="The errors by parameter.")


class StudySummary(_Response):
    slug: str
    title: str
    games: list[str]
    state: Literal["draft", "launched", "paused", "closed"]
    purpose: str


class Studies(_Response):
    studies: list[StudySummary]


class VersionOut(_Response):
    number: int
    sha256: str
    code_revision: str
    launched_at: datetime


class CellOut(_Response):
    """One cell of the latest version, and how many of its places are taken."""

    number: int
    factors: dict[str, str] = Field(description="The level of each factor.")
    sha256: str = Field(description="Hash of the cell's plan.")
    role: str = Field(description="The participant's role; empty if a match has several participants.")
    config: dict[str, Any] = Field(description="The parameters of the first game.")
    seats: dict[str, str | list[str]] = Field(
        description="Who takes each seat: “person”, an agent's label, or labels from which one is drawn per match."
    )
    opponents: dict[str, str] = Field(
        description="The agent's specification by role; if one is drawn, all of them separated by “ | ”."
    )
    quota: int = Field(description="The quota of complete matches.")
    weight: int = Field(description="How often the cell is drawn, compared with others.")
    places: int = Field(description="Participants needed for these matches.")
    held: int = Field(description="Places taken, by participants in progress and those who completed.")
    completed: int


class Participants(_Response):
    arrived: int
    live: int
    completed: int
    states: dict[str, int] = Field(description="The number in each state; empty states are omitted.")


class MatchCounts(_Response):
    live: int
    finished: int
    abandoned: int


class StudyOut(StudySummary):
    version: VersionOut | None = Field(description="The latest version; null before the first launch.")
    participants: Participants
    matches: MatchCounts
    cells: list[CellOut]


class SeatOut(_Response):
    player: str = Field(description="“human”, or the agent's specification.")
    participant: str | None = Field(description="The participant's pseudonym, as in the dataset.")
    payoff: float | None = Field(description="In the game's own unit; null without a result.")


class MatchOut(_Response):
    uid: UUID
    game: str
    rules_version: int
    purpose: str
    state: Literal["live", "finished", "abandoned"]
    ending: str = Field(description="Why it ended, if it ended early.")
    version: int
    cell: int
    started_at: datetime
    ended_at: datetime | None
    roles: dict[str, SeatOut]
    metrics: dict[str, Any] | None
    in_dataset: bool
    left_out_because: list[str] = Field(description="Reasons as in the dataset's flow; empty if it is in the dataset.")
    config: dict[str, Any] | None = Field(default=None, description="The parameters; null unless requested.")
    events: list[dict[str, Any]] | None = Field(
        default=None,
        description="The log as in transcripts.jsonl, but without its keys at and turn; null unless requested.",
    )


Limit = Annotated[int, Field(ge=1, le=200, description="Entries on a page.")]


class WantedMatches(_Response):
    """Which of a study's matches to return, and which details."""

    state: Literal["live", "finished", "abandoned"] | None = None
    version: int | None = None
    cell: int | None = None
    since: AwareDatetime | None = Field(
        default=None, description="Only matches that began or ended at this time or later."
    )
    until: AwareDatetime | None = Field(default=None, description="Only matches that began or ended before this time.")
    include: list[Literal["config", "events"]] = Field(default=[], description="Further details of each match.")
    cursor: UUID | None = Field(default=None, description="The `next` of the previous page.")
    limit: Limit = 50


class Matches(_Response):
    matches: list[MatchOut]
    next: UUID | None = Field(description="The cursor of the next page; null on the last.")


class Owed(_Response):
    amount: Decimal
    currency: str
    state: str = Field(
        description="The state: due, approved, sent, confirmed, failed, unclear, written_off or elsewhere."
    )


class WantedResults(_Response):
    """Which of a study's participants to return."""

    ended_since: AwareDatetime | None = Field(
        default=None, description="Only those whose enrolment ended at this time or later."
    )
    cursor: str | None = Field(default=None, max_length=40, description="The `next` of the previous page.")
    limit: Limit = 50


class ResultOut(_Response):
    """The result of one participant's enrolment."""

    participant: str = Field(description="The pseudonym, as in the dataset.")
    state: str
    version: int
    cell: int | None = Field(description="Null before a cell was drawn.")
    factors: dict[str, str] = Field(description="The level of each factor between participants.")
    role: str
    match: UUID | None = Field(description="The participant's last match.")
    payoff: float | None = Field(description="In that match, in the game's own unit.")
    owed: dict[str, Owed] = Field(description="By reason: base, bonus.")
    arrived_at: datetime
    ended_at: datetime | None
    in_dataset: bool
    left_out_because: list[str]


class Results(_Response):
    results: list[ResultOut]
    next: str | None = Field(description="The cursor of the next page; null on the last.")


class WantedDataset(_Response):
    formats: list[str] = Field(default=list(DEFAULT_FORMATS), description=f"Any of {', '.join(FORMATS)}.")
    excluded: bool = Field(
        default=False, description="Also include the matches of excluded participants, flagged with the reason."
    )
    times: Times = Field(default="exact", description="Cut points in time to the minute or hour; durations stay exact.")


class DatasetOut(_Response):
    """A requested dataset. It can be downloaded once it is `ready`."""

    uid: UUID
    state: Literal["queued", "writing", "ready", "failed"]
    reason: str = Field(description="Why it failed.")
    formats: list[str]
    excluded: bool
    times: Times
    asked_at: datetime
    ended_at: datetime | None
    bytes: int | None
    sha256: str = Field(description="SHA-256 of the zip; empty until it is ready.")
    counts: dict[str, int] = Field(description="Rows by file.")


class Datasets(_Response):
    datasets: list[DatasetOut] = Field(description="Newest first.")


class TurnOut(_Response):
    """One move of the match, with text scrubbed as in the dataset."""

    number: int
    role: str
    move: dict[str, Any]
    by: str | None = Field(description="Who moved for the player: “clock”, or an agent's specification.")
    seconds: float | None


class MatchOutcome(_Response):
    """One match of the participant, whether or not it is in the dataset."""

    match: UUID
    game: str
    role: str
    opponents: dict[str, str] = Field(description="By role: “human”, or the study's label for the agent.")
    payoff: float | None = Field(description="In the game's own unit; null without a result.")
    moved_by: list[str] = Field(
        description="Who moved in the participant's place: “clock”, or an agent's specification; empty if no one did."
    )
    turns: list[TurnOut]


class Outcome(_Response):
    """The outcome of a participant whom an outside system sent."""

    state: Literal["pending", "finished"]
    participant: str | None = Field(
        default=None, description="The pseudonym, as in the dataset; null before they arrive."
    )
    cell: int | None = Field(default=None, description="The number of the participant's cell, as in the dataset.")
    ending: str | None = Field(default=None, description="The participant's final state, such as “completed”.")
    role: str | None = Field(default=None, description="In the last match or, without one, the role reserved for them.")
    base_cents: int | None = None
    bonus_cents: int | None = None
    payoff_cents: int | None = Field(
        default=None, description="Base and bonus together, in whole cents of the currency."
    )
    currency: str | None = None
    matches: list[MatchOutcome] = Field(default=[], description="In the order in which they were played.")


class Progress(_Response):
    """Where a participant is now."""

    state: str = Field(description="The participant's state, such as “playing”; the final state if they have finished.")
    ended: bool
    missing: int | None = Field(
        default=None, description="How many others the lobby still waits for; null outside the lobby."
    )
    seconds: int | None = Field(default=None, description="How long the wait may still last; null outside the lobby.")


class SessionProgress(_Response):
    participants: dict[str, Progress] = Field(description="By the participant's code, app and round.")


class Connection(_Response):
    problems: list[str] = Field(description="What stands in the way of the session; empty if nothing does.")


class SeatProblem(Problem):
    """Why a lookup or a move was refused."""

    tries_left: int = Field(default=0, description="How many more moves the turn takes; then its fallback plays.")


class ChatProblem(Problem):
    """Why a message was refused."""

    wait: float | None = Field(default=None, description="In how many seconds it can be sent again.")


class OfferedTool(_Response):
    name: str
    help: str
    arguments: dict[str, Any] = Field(description="JSON schema of the arguments.")


class OfferedForm(_Response):
    name: str
    title: str
    help: str
    ends_turn: bool = Field(description="False: the move is applied and the seat is asked again.")
    schema_: dict[str, Any] = Field(alias="schema", description="JSON schema of the move.")


class SeatTurn(_Response):
    """One open turn of a seat that the program plays."""

    token: str = Field(description="Opens this turn and nothing else.")
    seat: str = Field(description="The same for all turns of a seat in a match.")
    turn: int = Field(description="Grows with the match; with `seat`, identifies the turn.")
    deadline: datetime
    seconds_left: float
    tries_left: int
    game: str
    role: str
    instructions: str = Field(description="The rules as the study tells them to this role.")
    text: str = Field(description="What the role knows now, as text; other players' words are marked as theirs.")
    view: list[dict[str, Any]] = Field(description="The same as data: the blocks text, facts, table, talk, chart.")
    tools: list[OfferedTool] = Field(description="Lookups that are possible now; they cost no try.")
    forms: list[OfferedForm] = Field(description="What the role may do now: fill in one of these.")
    chat: list[dict[str, str]] = Field(description="The chat beside the game, each message as {speaker, words}.")


class Seats(_Response):
    seats: list[SeatTurn]


class ChatMessage(_Response):
    number: int
    name: str = Field(description="Who wrote it.")
    own: bool
    to: str = Field(description="Whom alone it is for, in words; empty: all who may read it.")
    text: str


class ChatPartner(_Response):
    seat: str = Field(description="What `to` of a message names; empty: the group.")
    name: str


class SeatChat(_Response):
    """The chat of a live match in which the program has a seat."""

    token: str = Field(description="Writes in this chat, and nothing else.")
    seat: str = Field(description="The same as in the seat's turns.")
    game: str
    role: str
    lines: list[ChatMessage] = Field(description="What the seat may read, oldest first.")
    partners: list[ChatPartner]
    characters: int = Field(description="The longest message.")
    open: bool = Field(description="Whether the seat may write now, or soon.")
    note: str = Field(description="Why it may not, or whose turn it is to write.")
    left: int = Field(description="How many more messages it may write.")
    begins: float | None = Field(description="In how many seconds play begins; null: it has begun.")


class SeatChats(_Response):
    chats: list[SeatChat]


class SentMessage(_Response):
    text: str
    to: str = Field(default="", description="The seat that alone may read it; empty: the group.")
    key: str = Field(default="", description="Your own name of the message: sent again, it changes nothing.")


class MessageTaken(_Response):
    number: int = Field(description="Of the message in the chat.")


class ToolCall(_Response):
    name: str
    arguments: dict[str, Any] = {}
    version: str = ""


class ToolResult(_Response):
    result: Any = Field(description="Plain data; other players' words are {speaker, words}.")


class SentMove(_Response):
    move: dict[str, Any] = Field(description="One of the turn's forms, filled in.")
    try_: int = Field(default=0, alias="try", description="Which try this is, from 1: sent again, it changes nothing.")
    version: str = Field(default="", description="What the program calls its version; recorded with the move.")


class MoveTaken(_Response):
    accepted: bool
    again: bool = Field(description="Whether it had been accepted before.")
