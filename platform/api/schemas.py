"""What the API answers, as pydantic models: the OpenAPI document is made from them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import AwareDatetime, ConfigDict, Field

from exports.formats import FORMATS, USUAL


class _Answer(Schema):
    model_config = ConfigDict(extra="forbid")


class Problem(_Answer):
    """Why a request was refused; nothing was changed."""

    reason: str
    fields: dict[str, str] = Field(default={}, description="What is wrong with which parameter.")


class StudySummary(_Answer):
    slug: str
    title: str
    game: str
    state: Literal["draft", "launched", "paused", "closed"]
    purpose: str


class Studies(_Answer):
    studies: list[StudySummary]


class VersionOut(_Answer):
    number: int
    sha256: str
    code_revision: str
    launched_at: datetime


class CellOut(_Answer):
    """One combination of what the latest version varies, and how many of its places are taken."""

    number: int
    kind: str
    role: str = Field(description="The person's; empty where a match has several people.")
    config: dict[str, Any]
    lineup: str = Field(description="The line-up's name; empty where there is only one.")
    seats: dict[str, str | list[str]] = Field(
        description="Who takes each seat: “person”, an agent's label, or labels of which one is drawn for each match."
    )
    opponents: dict[str, str] = Field(description="The agent's specification by role; of a drawn one, all with “ | ”.")
    quota: int = Field(description="Complete matches wanted.")
    places: int = Field(description="People that these matches need.")
    held: int = Field(description="Places taken: by people under way and by those who completed.")
    completed: int


class Participants(_Answer):
    arrived: int
    live: int
    completed: int
    states: dict[str, int] = Field(description="How many are in each state; states without anybody are left out.")


class MatchCounts(_Answer):
    live: int
    finished: int
    abandoned: int


class StudyOut(StudySummary):
    version: VersionOut | None = Field(description="The latest; null before the first launch.")
    participants: Participants
    matches: MatchCounts
    cells: list[CellOut]


class SeatOut(_Answer):
    player: str = Field(description="“human”, or the agent's specification.")
    participant: str | None = Field(description="The person's pseudonym, as in the dataset.")
    payoff: float | None = Field(description="In the game's money; null without a result.")


class MatchOut(_Answer):
    uid: UUID
    game: str
    rules_version: int
    purpose: str
    state: Literal["live", "finished", "abandoned"]
    ending: str = Field(description="Why it ended, where it ended early.")
    version: int
    cell: int
    started_at: datetime
    ended_at: datetime | None
    roles: dict[str, SeatOut]
    metrics: dict[str, Any] | None
    in_dataset: bool
    left_out_because: list[str] = Field(description="Reasons as in the dataset's flow; empty when it is in.")
    config: dict[str, Any] | None = Field(default=None, description="The parameters; null unless asked for.")
    events: list[dict[str, Any]] | None = Field(
        default=None,
        description="The log as in transcripts.jsonl, names and identifiers cut out; null unless asked for.",
    )


Limit = Annotated[int, Field(ge=1, le=200, description="Entries on a page.")]


class WantedMatches(_Answer):
    """Which of a study's matches, and how much of each."""

    state: Literal["live", "finished", "abandoned"] | None = None
    version: int | None = None
    cell: int | None = None
    since: AwareDatetime | None = Field(None, description="Only matches that began or ended then or later.")
    until: AwareDatetime | None = Field(None, description="Only matches that began or ended before.")
    include: list[Literal["config", "events"]] = Field([], description="What else to tell of each match.")
    cursor: UUID | None = Field(None, description="The `next` of the page before.")
    limit: Limit = 50


class Matches(_Answer):
    matches: list[MatchOut]
    next: UUID | None = Field(description="The cursor of the next page; null on the last.")


class Owed(_Answer):
    amount: Decimal
    currency: str
    state: str = Field(
        description="How far it is: due, approved, sent, confirmed, failed, unclear, written_off or elsewhere."
    )


class WantedResults(_Answer):
    """Which of a study's participants."""

    ended_since: AwareDatetime | None = Field(None, description="Only those whose enrolment ended then or later.")
    cursor: str | None = Field(None, max_length=40, description="The `next` of the page before.")
    limit: Limit = 50


class ResultOut(_Answer):
    """What came of one participant's enrolment."""

    participant: str = Field(description="The pseudonym, as in the dataset.")
    state: str
    version: int
    cell: int
    role: str
    match: UUID | None = Field(description="The last match this person sat in.")
    payoff: float | None = Field(description="In that match, in the game's money.")
    owed: dict[str, Owed] = Field(description="By reason: base, bonus.")
    arrived_at: datetime
    ended_at: datetime | None
    in_dataset: bool
    left_out_because: list[str]


class Results(_Answer):
    results: list[ResultOut]
    next: str | None = Field(description="The cursor of the next page; null on the last.")


class WantedDataset(_Answer):
    formats: list[str] = Field(default=list(USUAL), description=f"Of {', '.join(FORMATS)}.")
    excluded: bool = Field(default=False, description="Also the matches of excluded people, flagged with the reason.")


class DatasetOut(_Answer):
    """A dataset that was asked for. Once it is `ready` it can be downloaded."""

    uid: UUID
    state: Literal["queued", "writing", "ready", "failed"]
    reason: str = Field(description="Why it failed.")
    formats: list[str]
    excluded: bool
    asked_at: datetime
    ended_at: datetime | None
    bytes: int | None
    sha256: str = Field(description="Of the zip; empty until it is ready.")
    counts: dict[str, int] = Field(description="Rows by file.")


class Datasets(_Answer):
    datasets: list[DatasetOut] = Field(description="The newest first.")


class TurnOut(_Answer):
    """One move of the match, words scrubbed as in the dataset."""

    number: int
    role: str
    move: dict[str, Any]
    by: str | None = Field(description="Who moved in the player's place: “clock”, or an agent's specification.")
    seconds: float | None


class Outcome(_Answer):
    """What came of one participant whom an outside system sent here."""

    state: Literal["pending", "finished"]
    ending: str | None = Field(None, description="The participant's last state, “completed” among them.")
    role: str | None = None
    match: UUID | None = None
    payoff: float | None = Field(None, description="In the game's money; null without a result.")
    base_cents: int | None = None
    bonus_cents: int | None = None
    payoff_cents: int | None = Field(None, description="Base and bonus together, in whole cents of the currency.")
    currency: str | None = None
    turns: list[TurnOut] = []
