"""A collection as one document: matches without people, in the words of a study's plan.

Its journey is one game. Cells are its configurations; each is played by every line-up, `repetitions` times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from games.interface import Json
from games.lineups import Lineups
from llm_agents.pricing import Price
from plans.agents import Label, PlannedAgent
from plans.chat import AgentsChat
from plans.factors import Factor, ListedCell, Name, PlanModel
from plans.pay import PlanAmount
from plans.plan import Document, Plan
from plans.reading import Reader
from plans.stages import DEFAULT_TEXT, Game, Stage, Text
from plans.varying import Levels

FORMAT = "parley-collection"
FORMAT_VERSION = 1
MAX_MATCHES = 1_000_000


class PatientAgent(PlannedAgent):
    """An agent for whose answers nobody waits."""

    model_config = ConfigDict(title="Agent")

    limit_seconds: float = Field(1800, ge=2, le=1800, title="Seconds per move", description="With all tries.")


class AgentsGame(Stage):
    """A game that agents play."""

    label = "Game"

    stage: Literal["game"]
    game: str = Field(title="Game", json_schema_extra={"game": True})
    config: dict[str, Any] = Field(default_factory=dict, title="Parameters", json_schema_extra={"config": True})
    seats: Lineups = Field(
        Lineups(), title="Line-ups", description="By default, every ordered choice of agents, each also with itself."
    )
    chat: AgentsChat | None = Field(None, title="Chat")
    instructions: Text = Field(
        DEFAULT_TEXT,
        title="Instructions",
        description="Markdown with the game's variables, such as {{ money }}. In a file, “default” is the game's own.",
    )

    @classmethod
    def annotation(cls, field: str, data: Mapping[str, Json]) -> Any:
        return Game.annotation(field, data) if field == "config" else super().annotation(field, data)


class Configurations(PlanModel):
    """Which combinations of levels are played; all of them by default."""

    rows: ClassVar[None] = None
    quota: ClassVar[int] = 1

    listed: list[ListedCell] | None = Field(None, title="Listed configurations", min_length=1)


class CollectionPlan(PlanModel):
    """A concrete plan: one configuration's, with its factors filled in."""

    format: Literal["parley-collection"] = "parley-collection"
    version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)] = Field("", title="Title")
    environment: Annotated[str, Field(max_length=60)] = Field(
        "", title="Environment", description="What exports call these line-ups, such as: melee."
    )
    factors: dict[Name, Factor] = Field(default_factory=dict, title="Factors")
    cells: Configurations = Field(Configurations(), title="Configurations")
    agents: dict[Label, PatientAgent] = Field(default_factory=dict, title="Agents")
    journey: Annotated[list[AgentsGame], Field(min_length=1, max_length=1)] = Field(
        default_factory=list, title="Journey", validate_default=False
    )
    repetitions: Annotated[int, Field(ge=1, le=MAX_MATCHES)] = Field(
        1, title="Repetitions", description="Matches of each line-up in each configuration."
    )
    cycle: Annotated[int, Field(ge=1)] = Field(
        1,
        title="Configurations taken in turn",
        description="This many consecutive configurations are one treatment, and its repetitions take them in turn.",
    )
    seeds: Literal["instance", "match"] = Field(
        "instance",
        title="Random seed",
        description="instance: the same draws for every line-up of a configuration and repetition, so that agents can "
        "be compared. match: different in every match.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        None, title="Seed", description="The same seed gives the same draws. Drawn at random if empty."
    )
    stages: Annotated[int, Field(ge=1, le=100)] = Field(
        1, title="Rounds of configurations", description="Later ones are made by the game from earlier results."
    )
    concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        50, title="Agents asked at once", description="Choose fewer if your provider limits calls."
    )
    budget: PlanAmount | None = Field(
        None, title="Budget", description="Stops model calls when they have cost this many US dollars."
    )
    prices: dict[str, Price] = Field(
        default_factory=dict,
        title="Own prices",
        description="In US dollars per million tokens, by ENDPOINT:MODEL; only for models without a known price.",
    )

    @property
    def game(self) -> AgentsGame:
        """The game that is played."""
        return self.journey[0]

    @property
    def mediator(self) -> str | None:
        """The label of the chat's mediator; None without one."""
        chat = self.game.chat
        return chat.mediator.agent if chat and chat.mediator else None

    @property
    def lineups(self) -> Lineups:
        """The line-ups. A pool that is not given is every agent without a fixed seat that is no other's fallback."""
        seats = self.game.seats
        if seats.agents or seats.rule == "listed":
            return seats
        fallbacks = (label for agent in self.agents.values() for label in agent.fallbacks)
        apart = {self.mediator, *seats.fixed.values(), *fallbacks}
        return seats.model_copy(update={"agents": tuple(label for label in self.agents if label not in apart)})


class CollectionReader(Reader):
    """A collection's plan, read part by part; its cells are the configurations."""

    model = CollectionPlan
    literal = frozenset(CollectionPlan.model_fields) - {"agents", "journey"}

    @property
    def kinds(self) -> Mapping[str, type[Stage]]:
        return {"game": AgentsGame}

    def collection(self, levels: Levels) -> CollectionPlan:
        """Return the concrete plan under these levels.

        Raises:
            BadPlan: with every fault under these levels.
        """
        plan: CollectionPlan = self._filled(levels)
        return plan


def is_collection(document: Document) -> bool:
    """Return whether a document is a collection's."""
    return document.get("format") == FORMAT


def model_of(document: Document) -> type[BaseModel]:
    """Return the model of a document's format."""
    return CollectionPlan if is_collection(document) else Plan
