"""The stages of a plan's journey. Each kind is a model; the app that owns it makes its steps (`studies.journeys`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, PrivateAttr, SerializeAsAny, model_validator
from pydantic_core import PydanticCustomError

from games import registry
from games.interface import Json
from games.words import gettext as _
from plans.agents import PERSON, Label
from plans.chat import Chat
from plans.conditions import Expression
from plans.factors import IN_SECONDS, Name, PlanModel
from plans.pay import Bonus
from plans.questions import MAX_QUESTIONS, Question

Seconds = Annotated[int, Field(ge=0), IN_SECONDS]
Text = Annotated[str, Field(max_length=50_000), Field(json_schema_extra={"text": True})]
DEFAULT_TEXT = "default"
"""Stands for Parley's own text."""
_AT_TIMEOUT: dict[str, Any] = {"end": "the match ends", "default": "a default move", "agent": "the stand-in takes over"}


class Stage(PlanModel):
    """Base of every stage.

    Attributes:
        needs_name: whether the plan refers to it by name.
        lacks: fields of the kind that it derives from which nobody can set.
    """

    label: ClassVar[str] = ""
    needs_name: ClassVar[bool] = False
    lacks: ClassVar[frozenset[str]] = frozenset()

    stage: str = Field(title="Kind of stage")
    name: Name | None = Field(
        None, title="Name", description="Lower-case letters, digits and underscores. Participants never see it."
    )
    show_if: Expression = Field(
        "",
        title="Show only if",
        description="A condition over factors, earlier answers and results, such as: age >= 30 and wording == 'take'.",
        json_schema_extra={"condition": True},
    )

    @classmethod
    def annotation(cls, field: str, data: Mapping[str, Json]) -> Any:
        """Return the type of a field, which another field may decide; `data` is the stage as written."""
        return cls.model_fields[field].annotation

    def questions(self) -> Sequence[Question]:
        """Return the questions that it asks: conditions may name their answers, and datasets have them as columns."""
        return ()

    def names(self) -> list[str]:
        """Return the names that it adds to the plan's namespace."""
        return [*([self.name] if self.name else []), *(item.name for item in self.questions())]


_kinds: dict[str, type[Stage]] = {}


def register(kind: type[Stage]) -> type[Stage]:
    """Class decorator: register a kind of stage under the literal of its field `stage`."""
    (literal,) = get_args(kind.model_fields["stage"].annotation)
    _kinds[literal] = kind
    return kind


def kinds() -> Mapping[str, type[Stage]]:
    """Return every kind of stage by name."""
    return _kinds


@register
class Consent(Stage):
    """Asks for consent and for a name in the game."""

    label = "Consent"

    stage: Literal["consent"]
    text: Text = Field(
        DEFAULT_TEXT,
        title="Text",
        description="Markdown. In a file, “default” is a text made from your settings that is accurate for them.",
    )


@register
class Page(Stage):
    """Shows a page until the participant continues."""

    label = "Page"
    needs_name = True

    stage: Literal["page"]
    title: Annotated[str, Field(max_length=200)] = Field("", title="Heading")
    text: Text = Field("", title="Text", description="Markdown.")
    image: str | None = Field(
        None, title="Image", description="PNG, JPEG, WebP or GIF, at most 5 MB.", json_schema_extra={"media": "image"}
    )
    video: str | None = Field(
        None, title="Video", description="MP4 or WebM, at most 50 MB.", json_schema_extra={"media": "video"}
    )
    media_text: Annotated[str, Field(max_length=500)] = Field(
        "", title="Description of the image or video", description="For participants who cannot see it."
    )
    seconds: Annotated[int, Field(ge=0, le=3600), IN_SECONDS] = Field(0, title="Shown for at least")


@register
class Questions(Stage):
    """Asks questions on one page."""

    label = "Questions"
    needs_name = True

    stage: Literal["questions"]
    title: Annotated[str, Field(max_length=200)] = Field("", title="Heading")
    items: Annotated[list[Question], Field(max_length=MAX_QUESTIONS)] = Field(default_factory=list, title="Questions")
    order: Literal["fixed", "random"] = Field(
        "fixed", title="Order", description="random: in an order drawn for each participant."
    )

    def questions(self) -> Sequence[Question]:
        return self.items


class CodeWord(PlanModel):
    """A word hidden in the instructions; participants type it to show that they have read them."""

    tries: Annotated[int, Field(ge=1, le=5)] = Field(
        2,
        title="Tries",
        description="Capitals, quotation marks, extra words and one wrong letter are always accepted.",
    )


class ComprehensionQuestion(PlanModel):
    """A question about the rules with one right answer."""

    model_config = ConfigDict(title="Comprehension question")

    text: Annotated[str, Field(min_length=1, max_length=1000)] = Field(title="Question")
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=2, max_length=10)
    ] = Field(title="Answers")
    answer: str = Field(title="Right answer")
    explanation: Annotated[str, Field(max_length=1000)] = Field("", title="Explanation after a wrong answer")


class Comprehension(PlanModel):
    """Questions about the rules before play."""

    questions: Literal["default"] | list[ComprehensionQuestion] = Field(
        "default", title="Questions", description="default: the game's own questions."
    )
    tries: Annotated[int, Field(ge=1, le=10)] = Field(3, title="Tries")
    failed: Literal["end", "continue"] = Field(
        "end", title="After the last try", description="end: the study ends there. continue: recorded only."
    )


class Timing(PlanModel):
    """How long a game waits for its participants."""

    turn: Annotated[int, Field(ge=5), IN_SECONDS] = Field(180, title="Time per turn")
    extension: Seconds = Field(
        60,
        title="Extra time",
        description="Added once per turn when the time is up. 0 for none.",
    )
    report: Seconds = Field(
        60,
        title="Extra time for problem reports",
        description="Added once per turn when a player opens “Report a problem”.",
    )
    absence: Annotated[int, Field(ge=0, le=3600), IN_SECONDS] = Field(
        120,
        title="Lost connection",
        description="How long a match waits for a participant who loses the connection during their turns, in total "
        "per match. After that, the time counts as up. 0: not longer than for others.",
    )
    grace: Annotated[int, Field(ge=0, le=600), IN_SECONDS] = Field(
        60,
        title="Late delivery",
        description="After a lost connection or an outage of your server, an answer that was given in time still "
        "counts if it arrives within this time, but never longer than the connection was lost.",
    )
    on_timeout: Literal["end", "default", "agent"] = Field(
        "end",
        title="When the time is up",
        description="end: the match ends. default: a default move, flagged in the data. agent: the stand-in takes "
        "over the seat, if others are playing.",
        json_schema_extra={"titles": _AT_TIMEOUT},
    )
    on_absence: Literal["as_timeout", "end", "default", "agent"] = Field(
        "as_timeout",
        title="When a lost connection does not come back",
        description="as_timeout: the same as when the time is up.",
        json_schema_extra={"titles": {"as_timeout": "as when the time is up", **_AT_TIMEOUT}},
    )
    stand_in: Label | None = Field(
        None, title="Stand-in", description="The agent that takes over a seat.", json_schema_extra={"agent": True}
    )
    returns: bool = Field(
        True,
        title="Participants may return to their seat",
        description="A participant whose seat the stand-in has taken plays again from their next turn. The "
        "stand-in's moves are flagged in the data.",
    )


class Lobby(PlanModel):
    """How participants wait for each other."""

    wait: Annotated[int, Field(ge=10, le=3600), IN_SECONDS] = Field(300, title="Longest wait")
    ready: Annotated[int, Field(ge=0, le=300), IN_SECONDS] = Field(
        20,
        title="Time to get ready",
        description="When a group is complete, everyone in it is asked “Ready?” for this long. Anyone who does not "
        "press the button goes back to the queue, once. 0 to start at once.",
    )
    otherwise: Literal["leave", "agents", "fewer"] = Field(
        "leave",
        title="If too few participants arrive",
        description="leave: the study ends for those who waited, with pay. agents: an agent fills each free seat, "
        "flagged in the data. fewer: the game is played with fewer seats, if its rules allow it.",
        json_schema_extra={
            "titles": {
                "leave": "the study ends for them",
                "agents": "agents fill the seats",
                "fewer": "play with fewer",
            }
        },
    )
    fill: Label | None = Field(
        None, title="Filling agent", description="Takes free seats.", json_schema_extra={"agent": True}
    )


Seat = Label | list[Label]
"""`PERSON`, an agent's label, or a list of labels from which each match draws one."""


@register
class Game(Stage):
    """Plays a game, with everything around it: instructions, comprehension, lobby, play, quiz."""

    label = "Game"
    needs_name = True

    stage: Literal["game"]
    game: str = Field(title="Game", json_schema_extra={"game": True})
    amounts: Literal["points", "dollars"] = Field(
        "points",
        title="Unit of payoffs",
        description="How participants and models see payoffs. Points cannot be mistaken for real pay. dollars: as "
        "in the published studies.",
    )
    config: dict[str, Any] = Field(default_factory=dict, title="Parameters", json_schema_extra={"config": True})
    seats: dict[str, Seat] = Field(
        default_factory=lambda: dict[str, Seat]({"*": PERSON}),
        title="Seats",
        description="Who takes which seat: a participant, an agent, or one of several agents, drawn for each match. "
        "In a file, * stands for all other seats.",
        json_schema_extra={"seats": True},
    )
    instructions: Text = Field(
        DEFAULT_TEXT,
        title="Instructions",
        description="Markdown with the game's variables, such as {{ money }}. In a file, “default” is the game's own.",
    )
    examples: Text = Field(
        "", title="Examples", description="Shown below the rules; Markdown with the game's variables."
    )
    code_word: CodeWord | None = Field(
        CodeWord(), title="Code word", description="Asked once, in the instructions of the first game."
    )
    comprehension: Comprehension | None = Field(None, title="Comprehension questions before play")
    repeats: Annotated[int, Field(ge=1, le=20)] = Field(1, title="Matches", description="Played one after the other.")
    partners: Literal["new", "same", "any"] = Field(
        "new",
        title="Partners",
        description="new: people who have met are kept apart as long as others may arrive. same: the group stays "
        "together. any: everyone who is available.",
    )
    roles: Literal["keep", "rotate"] = Field(
        "keep",
        title="Roles over several matches",
        description="rotate: everyone takes each participant's seat in turn.",
    )
    timing: Timing = Field(Timing(), title="Timing")
    lobby: Lobby = Field(Lobby(), title="Lobby", description="If several participants play together.")
    chat: Chat | None = Field(None, title="Chat")
    quiz: bool = Field(
        False, title="Quiz after the game", description="GLEE's published procedure: a wrong answer excludes the data."
    )
    pay: Bonus | None = Field(
        None, title="Its own bonus", description="Leave empty for the study's bonus rule. The study's maximum holds."
    )

    @classmethod
    def annotation(cls, field: str, data: Mapping[str, Json]) -> Any:
        game = data.get("game")
        if field == "config" and isinstance(game, str) and game in registry.keys():
            return registry.get(game).Config
        return super().annotation(field, data)

    def agent_labels(self) -> list[str]:
        """Return the labels of the agents that may take part: in its seats, as stand-in or filling, or as mediator."""
        players = [label for seat in self.seats.values() for label in ([seat] if isinstance(seat, str) else seat)]
        mediator = self.chat.mediator.agent if self.chat and self.chat.mediator else None
        labels = [*players, self.timing.stand_in, self.lobby.fill, mediator]
        return list(dict.fromkeys(label for label in labels if label is not None and label != PERSON))


class OpenChat(Chat):
    """How long the chat lasts, and who may write what to whom."""

    model_config = ConfigDict(title="Chat")

    when: Literal["during"] = "during"
    early: Literal[False] = False
    seconds: Annotated[int, Field(ge=5, le=3600)] = Field(
        300, title="Time", description="It ends earlier if everyone is ready.", json_schema_extra={"unit": "seconds"}
    )


@register
class Conversation(Game):
    """Lets participants talk in a chat, with each other, models or a mediator, and then go on. Pays nothing."""

    label = "Chat"
    lacks = frozenset(Game.model_fields) - {
        *("stage", "name", "show_if", "seats", "partners", "lobby", "chat"),
    }

    stage: Literal["chat"]  # type: ignore[assignment]
    players: Annotated[int, Field(ge=1, le=20)] = Field(2, title="Seats")
    topic: Annotated[str, Field(max_length=20_000)] = Field(
        "", title="Topic", description="Shown beside the chat, and told to models."
    )
    chat: OpenChat = Field(OpenChat(), title="Chat")
    game: str = registry.CONVERSATION
    code_word: CodeWord | None = None

    @model_validator(mode="before")
    @classmethod
    def _only_own(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and (others := sorted(cls.lacks & data.keys())):
            raise PydanticCustomError("chat", _("A chat has no setting “{name}”."), {"name": others[0]})
        return data

    @model_validator(mode="after")
    def _as_game(self) -> Self:
        timing = Timing(turn=self.chat.seconds, extension=0, report=0, absence=0, on_timeout="default")
        config = {"players": self.players, "topic": self.topic}
        return self.model_copy(update={"config": config, "timing": timing})


class Groups(PlanModel):
    """Groups that stay together through a block."""

    form: Literal["once"] = Field("once", title="Formed", description="once: before the block's first game.")
    lobby: Lobby = Field(Lobby(), title="Lobby")
    cohort: Annotated[int, Field(ge=2, le=200)] | None = Field(
        None,
        title="Cohort",
        description="Participants who meet only each other, with new partners in each game. Exported as a cluster.",
    )


MAX_PLACE_LENGTH = 40


def place_of(name: str, passes: Sequence[str]) -> str:
    """Return what tells a stage in one pass from the same stage in others: "talk.short".

    Args:
        passes: the keys of the levels, block by block; of long ones, the beginning and a hash.
    """
    place, key = ".".join([name, *passes]), ".".join(passes)
    if len(place) <= MAX_PLACE_LENGTH:
        return place
    return f"{name[:22]}.{key[:8]}-{sha256(place.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Pass:
    """One way through a block: the levels of the factors within it so far, and its stages under them."""

    levels: Mapping[str, str]
    stages: tuple[Stage, ...]


@register
class Block(Stage):
    """Stages that belong together, played once for each combination of the factors within it."""

    label = "Block"
    needs_name = True

    stage: Literal["block"]
    passes: Literal["fixed", "random", "balanced"] = Field(
        "fixed",
        title="Order of the levels within participants",
        description="balanced: every order equally often, as far as participants go around.",
    )
    take: Annotated[int, Field(ge=1)] | None = Field(
        None,
        title="Number of passes",
        description="Draws some of the combinations per participant, balanced. All if empty.",
    )
    order: Literal["fixed", "random", "balanced"] = Field("fixed", title="Order of the stages")
    groups: Groups | None = Field(None, title="Groups formed once")
    of: list[SerializeAsAny[Stage]] = Field(default_factory=list, title="Stages")

    _each_pass: tuple[Pass, ...] = PrivateAttr(())

    @property
    def each_pass(self) -> tuple[Pass, ...]:
        """The block once for each combination of the factors within it; one pass if there are none."""
        return self._each_pass


@register
class Debriefing(Stage):
    """A text on the last page for everyone who started a game."""

    label = "Debriefing"

    stage: Literal["debriefing"]
    text: Text = Field(
        DEFAULT_TEXT,
        title="Text",
        description="Markdown. In a file, “default” thanks participants and says that programs may have played.",
    )


@dataclass(frozen=True)
class Met:
    """A stage as participants meet it.

    Attributes:
        levels: of the factors within participants, in this pass.
        times: the mean number of times, if a block draws some of its passes.
        lobby: where groups wait that stay together through a block around it; None outside such blocks.
    """

    stage: Stage
    levels: Mapping[str, str]
    times: float
    lobby: Lobby | None


def walk(
    journey: Iterable[Stage], levels: Mapping[str, str] | None = None, times: float = 1.0, lobby: Lobby | None = None
) -> Iterator[Met]:
    """Yield every stage of a journey, blocks before what they hold, in every pass."""
    for stage in journey:
        yield Met(stage, levels or {}, times, lobby)
        if isinstance(stage, Block):
            passes = stage.each_pass
            share = min(stage.take, len(passes)) / len(passes) if stage.take and passes else 1
            own = stage.groups.lobby if stage.groups else lobby
            for each in passes:
                yield from walk(each.stages, {**(levels or {}), **each.levels}, times * share, own)
