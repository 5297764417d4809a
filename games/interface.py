"""What every game is.

A game says once what a role may know (`view`, `notices`, `instructions`) and what it may do
(`turn`); screens for people and prompts for models are both made from that. All of it is pure:
state in, state out, random draws only through `Chance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from games import texts
from games.words import Amounts, in_amounts

Role = str
Json = Any
"""Plain data: what `json.loads` returns."""


# ---- what can be set and what can be done ---------------------------------------------------


class Config(BaseModel):
    """The treatment: one value per parameter. Field titles and descriptions make the set-up form."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True)


class Move(BaseModel):
    """A filled-in form, as plain data. Unknown keys, booleans for numbers, NaN and infinity are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


MoveData = Mapping[str, Json]
MESSAGE_LIMIT = 2000
"""Characters allowed in a message, for people and models alike (GLEE, platform rules)."""


def _storable(text: str) -> str:
    if "\x00" in text:
        raise PydanticCustomError("unstorable_text", "contains a character that cannot be kept")
    return text


def _absent_if_empty(value: Any) -> Any:
    return None if value == "" else value


Words = Annotated[str, AfterValidator(_storable)]
"""Free text of a player: always text, never markup or instruction."""

Message = Annotated[
    Annotated[Words, Field(max_length=MESSAGE_LIMIT)] | None,
    BeforeValidator(_absent_if_empty),
]
"""An optional message; an empty one counts as none."""


def _refuse_message(value: Any) -> None:
    if value not in (None, ""):
        raise PydanticCustomError("messages_off", "is not allowed: this game is played without messages")


NoMessage = SkipJsonSchema[Annotated[None, BeforeValidator(_refuse_message)]]
"""The message field of a game played without messages: hidden from schemas, refused unless empty."""


@dataclass(frozen=True)
class Form:
    """One thing a role may do now: a form on a page, a tool or JSON schema for a model.

    Forms open to a role at the same time must not share required keys: the keys of a move tell
    which form it fills in. A form with `ends_turn=False` (keeping a note) is applied at once and
    leaves the turn open.

    A form may have a short one: the fewest numbers that determine the move, for models that cannot
    do sums. Its fields must say by themselves what is asked, since `help` speaks of the full form.

    Attributes:
        ends_turn: False: the move is applied at once and the turn stays open (a note, a plan).
        begins_with: the move whose values a page's controls begin with, such as the player's last one.
        on_request: legal whenever it is open, but shown only by strategies that ask for it by name, and on
            pages of configurations that do (`Game.on_pages`).
        short: the model of the short form; None: the full one is the shortest.
        expand: (filled-in `short`) → the full move, which is then checked like any other. Each move of
            `short` whose values are legal must expand to a legal one.
        labels: what this role's page calls a field, where that is not the field's title.
        limits: which values are allowed now, as a sentence that follows whenever a value cannot be read.
    """

    name: str
    title: str
    model: type[Move]
    help: str = ""
    ends_turn: bool = True
    on_request: bool = False
    tool: str = ""
    tool_keys: Mapping[str, str] = field(default_factory=dict)
    begins_with: MoveData | None = None
    short: type[Move] | None = None
    expand: Callable[[Any], MoveData] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: str = ""


@dataclass(frozen=True)
class Turn:
    """Whose move it is, with their forms.

    Moves stay sealed until the turn closes, so that nobody's move can depend on another's of the
    same turn. `closes="all"`: when everybody named has moved. `closes="first"`: with the first move.
    """

    forms: Mapping[Role, tuple[Form, ...]]
    closes: Literal["all", "first"] = "all"


@dataclass(frozen=True)
class Doubt:
    """Why a person's page hesitates to send a legal move; models and replays never meet it.

    Attributes:
        words: what is odd about the move, in words for the player.
        may_send: True: the page asks "send anyway?"; False: the page refuses it.
    """

    words: str
    may_send: bool = True


@dataclass(frozen=True)
class Prospect:
    """A result that a page translates into real money, with the study's pay rule.

    Attributes:
        words: when it is earned, as the beginning of a sentence: "If you accept".
        payoff: in the game's money; None: it depends on what the role may not know.
        share: the `bonus_share` of it; None: it depends on what the role may not know.
        key: of the choice that leads to it ("accept"); empty: none does alone.
    """

    words: str
    payoff: float | None = None
    share: float | None = None
    key: str = ""


@dataclass(frozen=True)
class Tool:
    """A read-only look at data: `answer(arguments)` returns plain data and changes nothing.

    Other players' words stand in it as `Said`, wherever they are.

    Attributes:
        block: key of the view's block that shows a person the same data (see `games.looks`); a model that can
            call the tool is not shown this block beforehand.
    """

    name: str
    help: str
    arguments: type[Move]
    answer: Callable[[Any], Json]
    block: str = ""


# ---- what can be seen --------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A player's own words inside a view. Renderers escape them on pages and fence them in prompts."""

    speaker: str
    words: str


Cell = str | int | float | bool | None | Said


@dataclass(frozen=True)
class Text:
    """A paragraph by the house, never by a player."""

    key: str
    body: str
    tone: Literal["plain", "good", "notice"] = "plain"


@dataclass(frozen=True)
class Fact:
    """One named value: `shown` is how it reads, `value` what a screen may compute with."""

    key: str
    label: str
    value: Cell
    shown: str


@dataclass(frozen=True)
class Facts:
    """A short list of named values."""

    key: str
    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells; every row has one cell per column. Empty tables are shown as nothing.

    Attributes:
        sortable: a page lets people sort and filter it.
        newest_first: a page shows the last row first, since rows are in the order of time.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = field(default=False, repr=False)
    newest_first: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Talk:
    """A conversation, oldest first."""

    key: str
    title: str
    lines: tuple[Said, ...]


@dataclass(frozen=True)
class Series:
    """One line of a chart: points (x, y) in order of x."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Chart:
    """A line chart; `mark` is the x that is now. Models read it as a table."""

    key: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    mark: float | None = None


Block = Text | Facts | Table | Talk | Chart
View = tuple[Block, ...]
NOBODY: Role = ""
"""The reader of `Game.watched`: no seat is theirs."""


@dataclass(frozen=True)
class Question:
    """A multiple-choice question that checks understanding; `answer` is one of `options`."""

    key: str
    prompt: str
    options: tuple[str, ...]
    answer: str


# ---- randomness --------------------------------------------------------------------------------------

T = TypeVar("T")


class Chance(Protocol):
    """The only source of randomness. Each draw has a name, unique within its step, and is logged."""

    def draw(self, name: str, sample: Callable[[Random], T], *, known_to: Sequence[Role] | None = None) -> T:
        """`sample(rng)` with an rng of this draw alone; the value must be plain data.

        Args:
            name: unique among the draws of one step.
            sample: how to draw.
            known_to: roles that learn the value at once; None: everybody may.
        """
        ...


# ---- a game ------------------------------------------------------------------------------------

C = TypeVar("C", bound=Config)
S = TypeVar("S")
Payoffs = Mapping[Role, float]
Metrics = Mapping[str, Json]


class Game(ABC, Generic[C, S]):
    """One game with one configuration. States are frozen dataclasses of plain data.

    Subclasses set the class attributes and the abstract methods; `games/contract.py` states, as
    tests, what every game promises.
    """

    key: ClassVar[str]
    """Name on the command line, in exports and of the folder."""
    title: ClassVar[str]
    summary: ClassVar[str]
    """One sentence for the researcher who chooses a game."""
    rules_version: ClassVar[int]
    """Raised whenever a replay of an old log would differ."""
    Config: ClassVar[type[Config]]
    State: ClassVar[type]
    scripts: ClassVar[Mapping[str, Script]]
    """Scripted players by name; there is always a "random" one."""
    sparring: ClassVar[str] = "random"
    """The scripted player that people meet where nobody chose another: in demonstrations, in a new study."""
    starting_config: ClassVar[Mapping[str, Json]] = {}
    """What a new study and the demonstration begin with, where that is not the configuration's own defaults."""
    own_words: ClassVar[tuple[str, ...]] = ()
    """Words of the game that nobody may take as a name: names are cut out of everything that is exported."""
    metric_meanings: ClassVar[Mapping[str, str]] = {}
    """What each metric says, with its unit and source: the codebook quotes it."""
    seat_metric_meanings: ClassVar[Mapping[str, str]] = {}
    """The same for what `seat_metrics` returns."""
    record_meanings: ClassVar[Mapping[str, str]] = {}
    """The same for the columns of `records`."""
    rated_by: ClassVar[str] = ""
    """The seat metric by which a collection rates its agents against each other; empty: it does not."""
    oracles: ClassVar[frozenset[str]] = frozenset()
    """Scripts that may know what is hidden from their role: benchmarks, never offered against people by default."""
    slow_setup: ClassVar[bool] = False
    """Whether `setup` may take seconds: `games.play.prepare` is then called before any lock is taken."""
    open_moves: ClassVar[int] = 100
    """Moves that leave the turn open which one role may make in one turn."""

    def __init__(self, config: C, *, amounts: Amounts = "dollars"):
        self.config: C = config
        self.amounts: Amounts = amounts
        """How the game's amounts are written: they are not real money, and need not look like it."""

    def money(self, amount: float) -> str:
        """An amount of the game as players read it: "4,860 points" or "$4,860"."""
        return in_amounts(amount, self.amounts)

    @abstractmethod
    def roles(self) -> tuple[Role, ...]:
        """The seats, in order."""

    def people(self) -> tuple[Role, ...]:
        """The roles a person may take under this configuration."""
        return self.roles()

    def with_seats(self, seats: int) -> Mapping[str, Json] | None:
        """The configuration of the same game with so many seats; None where the rules know no such one.

        It is checked like any other. A lobby asks for it when fewer people came than a match has seats.
        """
        return None

    def kind(self, role: Role) -> str:
        """Seats of one kind are interchangeable: what is played in one could have been played in the other."""
        return role

    @abstractmethod
    def role_title(self, role: Role) -> str:
        """How players are told apart on screens and in prompts."""

    def role_label(self, role: Role) -> str:
        """The role's title with what it does, for who chooses one: "Alice, who sells"."""
        return self.role_title(role)

    def length(self) -> str:
        """How many rounds people play, in words for who has not agreed yet: "up to 12 rounds"; empty: not said."""
        return ""

    @abstractmethod
    def text_variables(self, role: Role) -> Mapping[str, Json]:
        """What an instruction text may mention to this role; nothing that is hidden from it."""

    @classmethod
    def instruction_template(cls) -> str:
        """The game's own instruction text, a Jinja template in Markdown that researchers may edit."""
        return texts.read(cls.key, "instructions.md")

    def instructions(self, role: Role, template: str | None = None) -> str:
        """The rules as this role reads them (Markdown): a person's page and a model's system prompt.

        Raises:
            BadText: the template does not parse or names a variable that there is not.
        """
        return texts.render(template or self.instruction_template(), self.words_for(role))

    def words_for(self, role: Role) -> Mapping[str, Json]:
        """All that a text may mention to this role: the game's variables, and how amounts are written."""
        return {**self.text_variables(role), "amounts": self.amounts}

    def quiz(self, role: Role) -> tuple[Question, ...]:
        """Questions that a role which understood its situation can answer; never about hidden values."""
        return ()

    def secrets(self, role: Role) -> frozenset[str]:
        """Config keys that must not change anything this role can see.

        An entry of a list is named by its index: "values[2]".
        """
        return frozenset()

    @abstractmethod
    def setup(self, chance: Chance) -> S:
        """The state before the first move."""

    @abstractmethod
    def turn(self, state: S) -> Turn | None:
        """Whose move it is; None when the game is over."""

    def refuse(self, state: S, role: Role, move: Any) -> str | None:
        """Why this well-formed move is not allowed, in words for the player; None allows it."""
        return None

    def on_pages(self) -> frozenset[str]:
        """The forms on request that people's pages show under this configuration."""
        return frozenset()

    @abstractmethod
    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        """The state after the moves that closed the turn (or after one that leaves it open)."""

    def time_factor(self, state: S, role: Role) -> float:
        """How many times the usual time a person has for the present turn, such as a first one with much to read."""
        return 1.0

    @abstractmethod
    def default(self, state: S, role: Role) -> MoveData:
        """A legal move for a role that does not answer, where a study chooses to play one."""

    def forfeit(self, state: S, role: Role) -> MoveData | None:
        """The move that the rules make of an agent's unusable answer: a result, not a failure.

        It is logged with `by` "rules". None: the rules know no such thing, and the study's fallbacks decide.
        """
        return None

    def doubt(self, state: S, role: Role, move: Any) -> Doubt | None:
        """Why a person's page should hesitate to send this legal move; None sends it."""
        return None

    @abstractmethod
    def view(self, state: S, role: Role) -> View:
        """All that this role may know now, in or out of turn, and nothing else."""

    def watched(self, state: S) -> View:
        """What anybody may know now, worded for who watches and plays no seat; nothing: the game has no such view.

        It holds nothing that is hidden from any seat.
        """
        return ()

    @abstractmethod
    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        """What this role has just learnt from one applied step."""

    @abstractmethod
    def payoffs(self, state: S) -> Payoffs:
        """Each role's payoff in the game's money; defined when the game is over."""

    @abstractmethod
    def metrics(self, state: S) -> Metrics:
        """One flat row of the match's results; None where a metric has no value. Defined when the game is over."""

    def seat_metrics(self, state: S, role: Role) -> Metrics:
        """One flat row of one seat's results, the same keys for every role. Defined when the game is over.

        The command line shows them beside the match's as "<role>_<key>"; datasets keep them as rows.
        """
        return {}

    def records(self, state: S) -> Sequence[Mapping[str, Json]]:
        """The match's rows for `rounds.csv`, in order: flat, all with the same keys. Defined when the game is over."""
        return ()

    def ends(self, state: S, role: Role, move: Any) -> bool:
        """Whether this legal move ends the match, as far as the role may know: its button says so."""
        return False

    def prospects(self, state: S, role: Role) -> tuple[Prospect, ...]:
        """What the role's present choices, or its game so far, would earn it: pages say what that pays.

        Nothing about what the role may not know; nothing where it is not defined.
        """
        return ()

    def pays_alike(self) -> bool:
        """Whether every result pays the same, so that pay suggests no answer: consent and instructions say so."""
        return False

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Results that instructions use to show how pay follows from them, such as half of what can be earned."""
        return ()

    def stage(self, state: S) -> tuple[int | None, str | None]:
        """The round (from 1) and phase in which somebody is asked in this state, as the game's sources count them.

        Datasets say them beside each decision; (None, None): the game has none.
        """
        return None, None

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int | None, str | None]] | None:
        """The same for every move of a match, where the moves alone tell it; None: a replay asks `stage`."""
        return None

    def ended_how(self, moves: Sequence[tuple[Role, MoveData]]) -> str | None:
        """How a match with these moves ended by its rules ("accepted", "last round"); None: there is only one way."""
        return None

    @abstractmethod
    def bonus_share(self, role: Role, payoff: float) -> float:
        """How well this payoff pays, from 0 to 1 (the g of the share rule in the platform's pay rules)."""

    def pay_share(self, state: S, role: Role) -> float:
        """`bonus_share` where the final state is at hand, for games whose pay depends on more than the payoff."""
        return self.bonus_share(role, self.payoffs(state)[role])

    @classmethod
    def carry(cls, stage: int, results: Sequence[Mapping[str, Json]]) -> Sequence[Mapping[str, Json]]:
        """The configurations of a collection's stage `stage` (from 1), made from the matches of the stages before.

        Args:
            results: per earlier match {config, agents, payoffs, metrics, records}, in the plan's order.
        """
        raise NotImplementedError(f"{cls.key} has no stages")

    def remembers(self, role: Role) -> bool:
        """Whether a model in this role keeps its conversation from turn to turn.

        False: every turn begins from the rules and the present view alone.
        """
        return True

    def tools(self, state: S, role: Role) -> tuple[Tool, ...]:
        """Read-only looks at data that this role may take now."""
        return ()

    def before_looking(self, state: S, role: Role) -> View:
        """What a model that calls these tools is shown before it does; must not grow with the match where they tell it.

        The view without what the tools tell. A game whose view holds all of its past says it more cheaply.
        """
        told = {tool.block for tool in self.tools(state, role)}
        return tuple(block for block in self.view(state, role) if block.key.removesuffix("_chart") not in told)


Script = Callable[[Any, Any, Role, Random], MoveData]
"""A scripted player: (game, state, role, rng) → move. It uses only what its role may know."""


@dataclass(frozen=True)
class Event:
    """One line of a match's log, numbered 1, 2, 3…

    Kinds: "start" {game, rules_version, seed}, "draw" {name, value, known_to}, "move" {role, move}
    (with `by` where somebody else than the seat's player made it), "end" {payoffs, metrics},
    "abandoned" {reason, role?}.
    """

    number: int
    kind: str
    data: Mapping[str, Json] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Json]:
        """The flat form used in files."""
        return {"number": self.number, "kind": self.kind, **self.data}
