"""A study as one document: its models, once every factor has a level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator

from games.interface import Json
from games.words import gettext as _
from plans import moments
from plans.agents import Label, PlannedAgent
from plans.analysis import Analysis
from plans.factors import IN_SECONDS, Cells, Factor, Name, PlanModel
from plans.languages import Language
from plans.pay import Pay
from plans.stages import Block, Consent, Game, Stage

FORMAT = "parley-study"
FORMAT_VERSION = 1
MAX_STAGES = 200
MAX_TITLE_LENGTH = 120


class Told(PlanModel):
    """What participants learn during a game: about the other players, and about their bonus."""

    others: Literal["none", "counts", "seats"] = Field(
        "counts",
        title="About the other players",
        description="none: people, models and scripts look alike and every agent answers after the time a person "
        "would take; the last page tells participants afterwards. counts: how many are people and how many are "
        "programs. seats: who is which. The dataset records what each participant was told.",
    )

    bonus: Literal["shown", "hidden"] = Field(
        "shown",
        title="Bonus during the game",
        description="shown: pages of a game always say what it pays so far, and beside a choice what that would pay. "
        "hidden: participants see points only, and read their bonus on the last page.",
    )


class Checks(PlanModel):
    """What is recorded and kept for data quality."""

    behaviour: bool = Field(
        True,
        title="Record page behaviour",
        description="Typing rhythm, text that appears without typing, pointer movement, and a hidden field that "
        "only programs fill in. Participants are told before they consent. It affects neither pay nor data.",
    )
    whole_groups: bool = Field(
        False,
        title="Keep whole groups only",
        description="If one participant is excluded, everyone who played with them is excluded too.",
    )


class Help(PlanModel):
    """How participants reach the researchers while the study runs."""

    asking: bool = Field(
        True,
        title="Participants may ask questions",
        description="“Ask a question” on every page. The study's monitor rings, and the answer appears on the page. "
        "No model reads either.",
    )
    pauses_clock: bool = Field(
        False,
        title="A question pauses the clock",
        description="While a question is open, the time for the participant's answer in a game does not run.",
    )
    longest_pause: Annotated[int, Field(ge=10, le=1800), IN_SECONDS] = Field(
        180,
        title="Longest pause",
        description="How long one question may pause the clock; no turn is paused longer in total.",
    )


class Listing(PlanModel):
    """How a recruiter's site announces the study."""

    title: Annotated[str, Field(max_length=120)] = Field("", title="Title")
    description: Annotated[str, Field(max_length=2000)] = Field("", title="Description")


class Entry(PlanModel):
    """Who may enter, and how often."""

    via: Annotated[str, Field(max_length=12)] = Field("codes", title="Who may enter", json_schema_extra={"entry": True})
    participations: Annotated[int, Field(ge=1)] | None = Field(
        1, title="Sessions per participant", description="Leave empty for no limit."
    )
    rest_hours: Annotated[int, Field(ge=0, le=24 * 366)] = Field(
        0,
        title="Hours between sessions",
        description="How long the same person must wait after starting a game of this kind, in any study.",
    )
    time_zone: Annotated[str, Field(max_length=60)] = Field(
        "UTC",
        title="Time zone",
        description="Of the two times below, and in which participants read them: a name such as Europe/Berlin.",
    )
    opens: Annotated[str, Field(max_length=20)] = Field(
        "",
        title="Opens",
        description="Nobody can enter before. Leave empty to open at launch.",
        json_schema_extra={"moment": True},
    )
    closes: Annotated[str, Field(max_length=20)] = Field(
        "",
        title="Closes",
        description="Then the study closes automatically; those who have started can finish.",
        json_schema_extra={"moment": True},
    )
    contact: Annotated[str, Field(max_length=200)] = Field(
        "",
        title="Contact for participants",
        description="Whom the last page tells participants to ask about their pay: a name with an email address or "
        "phone number.",
    )
    listing: Listing = Field(Listing(), title="Announcement")

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        moments.refuse_unknown_zone(name)
        return name

    @field_validator("opens", "closes")
    @classmethod
    def _readable_time(cls, text: str, info: ValidationInfo) -> str:
        if text and "time_zone" in info.data:
            moment = moments.moment_of(text, info.data["time_zone"])
            opens = info.data.get("opens", "") if info.field_name == "closes" else ""
            if opens and moment <= moments.moment_of(opens, info.data["time_zone"]):
                raise ValueError(_("The study must close after it opens."))
        return text

    @property
    def opens_at(self) -> datetime | None:
        return moments.moment_of(self.opens, self.time_zone) if self.opens else None

    @property
    def closes_at(self) -> datetime | None:
        return moments.moment_of(self.closes, self.time_zone) if self.closes else None


class Plan(PlanModel):
    """A concrete plan: one cell's, with its factors filled in."""

    format: Literal["parley-study"] = "parley-study"
    version: Literal[1] = 1
    purpose: Literal["study", "demo", "simulated"] = Field("study", title="Purpose")
    title: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_LENGTH)] = Field(
        "", title="Title", description="For researchers only."
    )
    shown_title: Annotated[str, Field(max_length=120)] = Field(
        "", title="Title for participants", description="It should not name the question."
    )
    language: Language | Annotated[list[Language], Field(min_length=1)] = Field(
        "en",
        title="Language",
        description="Participants and models read it. Of several, participants choose; the first is for all others.",
        json_schema_extra={"languages": True},
    )
    minutes: Annotated[int, Field(ge=5, le=24 * 60)] = Field(
        120, title="Maximum minutes", description="After this time, a participant's place is given to someone else."
    )
    factors: dict[Name, Factor] = Field(default_factory=dict, title="Factors")
    cells: Cells = Field(Cells(), title="Cells")
    agents: dict[Label, PlannedAgent] = Field(default_factory=dict, title="Agents")
    journey: list[SerializeAsAny[Stage]] = Field(default_factory=list, title="Journey")
    told: Told = Field(Told(), title="Disclosure")
    checks: Checks = Field(Checks(), title="Checks")
    help: Help = Field(Help(), title="Help")
    pay: Pay = Field(Pay(), title="Pay")
    entry: Entry = Field(Entry(), title="Entry")
    analysis: Analysis = Field(Analysis(), title="Analysis")

    def stages(self) -> Iterator[Stage]:
        """Yield every stage in order, those within blocks after their block."""
        yield from _stages(self.journey)

    def games(self) -> list[Game]:
        """Return the game stages in order."""
        return [stage for stage in self.stages() if isinstance(stage, Game)]

    @property
    def consent(self) -> Consent | None:
        return next((stage for stage in self.stages() if isinstance(stage, Consent)), None)


def _stages(stages: Iterable[Stage]) -> Iterator[Stage]:
    for stage in stages:
        yield stage
        if isinstance(stage, Block):
            yield from _stages(stage.of)


Document = Mapping[str, Json]
"""A plan as written: plain data with varied nodes."""
