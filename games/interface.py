"""The interface of every game.

A game states once what a role may know (`view`, `notices`, `instructions`) and what it may do (`turn`);
people's pages and models' prompts are both made from that. Games are pure: state in, state out, and
randomness only through `Chance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from games import texts
from games.results import Row
from games.words import Amounts, gettext_noop, in_amounts
from games.words import gettext as _

Role = str
Json = Any
"""Plain data: what `json.loads` returns."""
Information = Literal["published", "explained"]
"""What a seat is told: "published", every fact that the authors' program tells, when it tells it, and nothing else; or
"explained", what people are told."""


# ---- parameters and moves -------------------------------------------------------------------


class PlainData(BaseModel):
    """Data read strictly: unknown keys, booleans as numbers, NaN and infinity are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Config(PlainData):
    """A configuration: one value per parameter. Field titles and descriptions make up the researcher's form."""

    model_config = ConfigDict(validate_default=True)


class TwoSources(Config):
    """A published game whose paper and program differ; the documentation lists the differences."""

    source: Literal["paper", "program"] = Field(
        "paper", title="Source", description="Which one holds where the authors' paper and program differ."
    )


class Move(PlainData):
    """A filled-in form."""


MoveData = Mapping[str, Json]
MESSAGE_LIMIT = 2000
"""Characters allowed in a message, for people and models alike (GLEE, platform rules)."""


def _storable(text: str) -> str:
    if "\x00" in text:
        raise PydanticCustomError("unstorable_text", "contains a character that cannot be stored")
    return text


def _absent_if_empty(value: Any) -> Any:
    return None if value == "" else value


Words = Annotated[str, AfterValidator(_storable)]
"""A player's free text: always text, never markup or an instruction."""

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

    Forms open to a role at the same time must not share required keys: the keys of a move identify
    its form. A move in a form with `ends_turn=False` (writing a note) is applied at once and leaves
    the turn open.

    A form may have a short version: the fewest numbers that determine the move, for models that are bad
    at arithmetic. Its fields must explain themselves, since `help` describes the full form.

    Attributes:
        ends_turn: False: the move is applied at once and the turn stays open (a note, a plan).
        begins_with: the move that a page's controls start from, such as the player's last one.
        on_request: always legal while open, but shown only by strategies that ask for it by name, and on
            pages if the configuration says so (`Game.on_pages`).
        short: the model of the short version; None: there is none.
        expand: (filled-in `short`) → the full move, which is then checked like any other. Every move of
            `short` with legal values must expand to a legal move.
        labels: this role's labels for fields, if different from their titles.
        limits: a sentence on the values allowed now, appended when a value cannot be read.
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
    """The roles to move, with their forms.

    Moves stay sealed until the turn closes, so that no move can depend on another move of the same turn.
    `closes="all"`: when every role has moved. `closes="first"`: with the first move.
    """

    forms: Mapping[Role, tuple[Form, ...]]
    closes: Literal["all", "first"] = "all"


@dataclass(frozen=True)
class MoveWarning:
    """A warning about an unusual or irreversible move, shown on people's pages; models and replays ignore it.

    Attributes:
        words: what is unusual about the move or what it leads to, as a sentence for the player.
        may_send: True: the page asks for confirmation; False: the page refuses the move.
        button: the label of the button that sends the move; empty: "Send anyway".
    """

    words: str
    may_send: bool = True
    button: str = ""


@dataclass(frozen=True)
class Usual:
    """What a number in a move is compared with on people's pages: ten times as much, or a tenth, is likely a slip.

    Attributes:
        what: the number in a sentence: "your last price".
        only_above: whether a much smaller number is nothing unusual.
    """

    value: float
    what: str
    only_above: bool = False

    def contains(self, number: float) -> bool:
        """Return whether a number is in line with it; all are if it is not positive."""
        return self.value <= 0 or (number < 10 * self.value and (self.only_above or number > self.value / 10))


@dataclass(frozen=True)
class Prospect:
    """A possible result that a page converts into real money with the study's pay rule.

    Attributes:
        words: when it is earned, as the beginning of a sentence: "If you accept".
        payoff: in the game's own unit; None: it depends on what the role may not know.
        share: its `bonus_share`; None: it depends on what the role may not know.
        key: the choice that leads to it ("accept"); empty: no single choice does.
        unknown: what the pay depends on, as a sentence, shown if it cannot be computed from what the role may know.
    """

    words: str
    payoff: float | None = None
    share: float | None = None
    key: str = ""
    unknown: str = ""


ON_THE_LAST_PAGE = gettext_noop("You will read the amount on the last page.")
"""The `unknown` of a result whose pay follows from what stays hidden while the game is open."""


@dataclass(frozen=True)
class Tool:
    """A read-only tool: `answer(arguments)` returns plain data and changes nothing.

    Other players' words in the data are always wrapped in `Said`.

    Attributes:
        block: key of the view's block that shows a person the same data; a model that can call the tool is not shown
            this block before it does.
        example: arguments of a call that is possible now.
    """

    name: str
    help: str
    arguments: type[Move]
    answer: Callable[[Any], Json]
    block: str = ""
    example: Mapping[str, Json] = field(default_factory=dict)


# ---- views -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A player's own words inside a view. They are escaped on pages and delimited in prompts."""

    speaker: str
    words: str


Cell = str | int | float | bool | None | Said


@dataclass(frozen=True)
class Text:
    """A paragraph written by the game, never by a player."""

    key: str
    body: str
    tone: Literal["plain", "good", "notice", "practice"] = "plain"


@dataclass(frozen=True)
class Fact:
    """One named value: `shown` is the text to display, `value` the raw value for computation."""

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
    """Rows of cells; every row has one cell per column. Empty tables are not shown.

    Attributes:
        sortable: people can sort and filter the table on a page.
        newest_first: rows are in chronological order, and a page shows the last one first.
        folds: a page shows the title and the number of rows, and the rows when the player opens it.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = field(default=False, repr=False)
    newest_first: bool = field(default=False, repr=False)
    folds: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Talk:
    """A conversation, oldest first."""

    key: str
    title: str
    lines: tuple[Said, ...]


@dataclass(frozen=True)
class Series:
    """One line of a chart: points (x, y) in order of x. `role` is the seat that it belongs to, if any."""

    name: str
    points: tuple[tuple[float, float], ...]
    role: Role = field(default="", repr=False)


@dataclass(frozen=True)
class Chart:
    """A line chart; `mark` is the current x. Models get it as a table.

    Attributes:
        cuts_outliers: whether a value far beyond the others is drawn at the edge, so that it does not flatten the rest:
            for numbers that people may type as they like.
    """

    key: str
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    mark: float | None = None
    cuts_outliers: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Bar:
    """One bar of a result's picture, from `start` to `end` on the picture's axis.

    Attributes:
        label: whose or what it is; for a seat, its title.
        shown: the value as text; also what is said instead if the reader may not know it.
        end: None: there is no value, or the reader may not know it.
        role: the seat whose colour and mark it has; empty: none.
        tone: of a bar without a seat: "rest" is what stays over or was merely possible.
    """

    label: str
    shown: str
    end: float | None
    start: float = 0.0
    role: Role = ""
    tone: Literal["plain", "good", "bad", "rest"] = "plain"


@dataclass(frozen=True)
class Bars:
    """How a match ended, as a picture for people's pages: who got what, and by whose move.

    Attributes:
        title: what the bars show.
        low, high: the ends of the axis; None: the smallest and largest value, and 0.
        line, line_label: a value that all bars are compared with, such as a price.
        moves: the moves that led to it, as (role, what it did), for example ("alice", "made this offer").
    """

    title: str
    bars: tuple[Bar, ...]
    low: float | None = None
    high: float | None = None
    line: float | None = None
    line_label: str = ""
    moves: tuple[tuple[Role, str], ...] = ()


@dataclass(frozen=True)
class Attempt:
    """An earlier submission, as pages list, compare and copy it; made from a view, so it tells nothing new.

    Attributes:
        period: its number, as shown.
        entries: what was submitted, as "2 × Offer_1, 1 × Offer_3", "W1–T2, W2–T1" or "W1: 51, W2: 8".
        facts: what came of it, as (label, what is shown).
        best: in what it is the best so far, in words; such an attempt is pinned.
    """

    period: str
    entries: str
    facts: tuple[tuple[str, str], ...]
    best: tuple[str, ...] = ()


Block = Text | Facts | Table | Talk | Chart
View = tuple[Block, ...]
OBSERVER: Role = ""
"""The reader of `Game.public_view`, who has no seat."""


@dataclass(frozen=True)
class Question:
    """A multiple-choice question that checks understanding.

    Attributes:
        answer: one of `options`.
        explanation: why it is right, shown after a wrong answer.
    """

    key: str
    prompt: str
    options: tuple[str, ...]
    answer: str
    explanation: str = ""

    @classmethod
    def with_answer(cls, key: str, prompt: str, answer: str, *wrong: str, explanation: str = "") -> Self:
        """Return a question whose first option is the answer; wrong options that repeat one are left out."""
        return cls(key, prompt, tuple(dict.fromkeys((answer, *wrong))), answer, explanation)


# ---- chance ------------------------------------------------------------------------------------

T = TypeVar("T")


class Chance(Protocol):
    """The only source of randomness. Each draw has a name, unique within its step, and is logged."""

    def draw(self, name: str, sample: Callable[[Random], T], *, known_to: Sequence[Role] | None = None) -> T:
        """Return `sample(rng)` with a generator of this draw alone; the value must be plain data.

        Args:
            name: unique among the draws of one step.
            sample: how to draw.
            known_to: roles that learn the value at once; None: everybody.
        """
        ...


# ---- a game ------------------------------------------------------------------------------------

C = TypeVar("C", bound=Config)
S = TypeVar("S")
Payoffs = Mapping[Role, float]


def _same_form(game: Any, form: Form) -> Form:
    return form


@dataclass(frozen=True)
class Told:
    """What seats are told as published, where it differs from what people are told.

    Attributes:
        view: (game, state, role) → what is shown.
        notices: (game, state before, moves, state after, role) → what the role has just learnt.
        form: (game, form) → the form as it is worded.
    """

    view: Callable[[Any, Any, Role], View]
    notices: Callable[[Any, Any, Mapping[Role, Any], Any, Role], View]
    form: Callable[[Any, Form], Form] = _same_form


class Game(ABC, Generic[C, S]):
    """One game with one configuration. States are frozen dataclasses of plain data.

    Subclasses set the class attributes and implement the abstract methods; `games/contract.py` checks what
    every game must guarantee. `Config` and `State` are the types with which a subclass fills in C and S.
    """

    key: ClassVar[str]
    """Name of the game's folder, set from it; also on the command line and in exports."""
    title: ClassVar[str]
    summary: ClassVar[str]
    """One sentence for researchers choosing a game."""
    system: ClassVar[str] = ""
    """The published system that the game comes from."""
    rules_version: ClassVar[int] = 1
    """Incremented whenever a replay of an old log would differ."""
    Config: ClassVar[type[Config]]
    State: ClassVar[type]
    Results: ClassVar[type[Row]]
    """What `metrics` returns."""
    SeatResults: ClassVar[type[Row]] = Row
    """What `seat_metrics` returns."""
    Record: ClassVar[type[Row]] = Row
    """What `records` returns."""
    scripts: ClassVar[Mapping[str, Script]]
    """Scripts by name; always includes "random"."""
    default_script: ClassVar[str] = "random"
    """The script that people play against unless another is chosen: in demonstrations and new studies."""
    shown_by: ClassVar[tuple[str, ...]] = ()
    """Scripts that show the game well to spectators, for the seats in turn; empty: the default script in every seat.

    Each match begins with the next one, so that two in a row differ.
    """
    starting_config: ClassVar[Mapping[str, Json]] = {}
    """Parameters of new studies and demonstrations that differ from the configuration's defaults."""
    reserved_words: ClassVar[str] = ""
    """Words of the game, separated by spaces, that nobody may choose as a name: exports remove names from texts."""
    rated_by: ClassVar[str] = ""
    """The seat metric that collections use to rate agents against each other; empty: agents are not rated."""
    oracles: ClassVar[frozenset[str]] = frozenset()
    """Scripts that may use information hidden from their role: benchmarks, never the default against people."""
    slow_setup: ClassVar[bool] = False
    """Whether `setup` may take seconds; if so, `games.play.prepare` is called before any lock is taken."""
    unseated_title: ClassVar[str] = gettext_noop("a player")
    """What instructions call a player whose seat among several of the same kind is not yet known."""
    told: ClassVar[Told | None] = None
    """What is told as published; None: the game's own view leaves out what is not."""
    questions: ClassVar[tuple[Question, ...]] = ()
    """The questions before play, if every role of every configuration has the same."""
    answers_can_change: ClassVar[bool] = True
    """Whether people may replace a sealed move until the turn closes. The others learn only of the last one."""
    pays: ClassVar[bool] = True
    """Whether a match counts towards the bonus."""
    time_ends: ClassVar[bool] = False
    """Whether the default moves at the end of the time are part of the rules, rather than missing data.

    Agents are not asked: they make theirs at once.
    """
    open_moves: ClassVar[int] = 100
    """How many moves that leave the turn open a role may make in one turn."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        folder, _dot, module = cls.__module__.removeprefix("games.").rpartition(".")
        if module == "rules":
            cls.key = folder
        for base in cls.__dict__.get("__orig_bases__", ()):
            for part in get_args(base):
                if isinstance(part, type):
                    setattr(cls, "Config" if issubclass(part, Config) else "State", part)

    information: Information = "explained"
    """What the seat that is being told is told; the rules never depend on it."""

    def __init__(self, config: C, *, amounts: Amounts = "dollars"):
        self.config: C = config
        self.amounts: Amounts = amounts
        """How the game's amounts are written, as points or dollars; they are not real money."""

    def money(self, amount: float) -> str:
        """Return an amount in the game's own unit as players see it: "4,860 points" or "$4,860"."""
        return in_amounts(amount, self.amounts)

    @abstractmethod
    def roles(self) -> tuple[Role, ...]:
        """Return the seats, in order."""

    def people(self) -> tuple[Role, ...]:
        """Return the roles that people may take under this configuration."""
        return self.roles()

    def with_seats(self, seats: int) -> Mapping[str, Json] | None:
        """Return the configuration with this number of seats; None if the rules do not allow it.

        It is checked like any other. A lobby uses it when fewer people arrive than a match has seats.
        """
        return None

    def kind(self, role: Role) -> str:
        """Return the seat's kind; seats of the same kind are interchangeable."""
        return role

    def alike(self, role: Role) -> str:
        """Return a label that seats share if they have the same choices and payoffs, so that nobody need choose one."""
        return self.kind(role)

    @abstractmethod
    def role_title(self, role: Role) -> str:
        """Return the role's name on pages and in prompts."""

    def seat_name(self, seat: Role, reader: Role) -> str:
        """Return a seat's title as shown to the player in seat `reader`."""
        title = self.role_title(seat)
        return _("{title} (you)").format(title=title) if seat == reader else title

    def role_label(self, role: Role) -> str:
        """Return the role's title with what it does, for choosing a role: "Alice, the seller"."""
        return self.role_title(role)

    def length(self) -> str:
        """Return how long people play, for the consent page: "up to 12 rounds"; empty: not stated."""
        return ""

    def text_variables(self, role: Role) -> Mapping[str, Json]:
        """Return the variables of this role's instructions; unless overridden, the parameters that it may know."""
        hidden = {key.partition("[")[0] for key in self.secrets(role)}
        return self.config.model_dump(mode="json", exclude=hidden)

    def informed(self, information: Information) -> Self:
        """Return the same game as it is told to a seat with this information."""
        game = copy(self)
        game.information = information
        return game

    def with_tools(self) -> Self:
        """Return the same game as it is told to a player who looks things up with tools, which count from 0."""
        return self

    @property
    def told_as_published(self) -> bool:
        """Whether exactly what the authors' program tells is told."""
        return self.information == "published"

    @classmethod
    def is_published(cls) -> bool:
        """Return whether the game can be told as its authors' program tells it."""
        return texts.exists(cls.key, "published.md")

    def practises(self) -> bool:
        """Return whether the game begins with practice, which no publication had."""
        return False

    @classmethod
    def instruction_template(cls) -> str:
        """Return the game's own instructions, a Jinja template in Markdown that researchers may edit."""
        return texts.read(cls.key, "instructions.md")

    @classmethod
    def template_told(cls, information: Information) -> str:
        """Return the instructions that seats with this information are told."""
        return texts.read(cls.key, "published.md") if information == "published" else cls.instruction_template()

    def instructions(self, role: Role, template: str | None = None, *, seated: bool = True) -> str:
        """Return the rules for this role in Markdown: a person's page and a model's system prompt.

        Args:
            seated: whether the seat is final; otherwise the text does not name it if there are others of its kind.

        Raises:
            BadText: the template does not parse or uses an unknown variable.
        """
        variables = self.template_variables(role)
        if not seated and sum(self.kind(seat) == self.kind(role) for seat in self.roles()) > 1:
            variables = {**variables, "you": _(self.unseated_title)}
        return texts.render(template or self.template_told(self.information), variables)

    def players_write(self) -> bool:
        """Return whether players can read each other's own words."""
        return len(self.roles()) > 1

    def template_variables(self, role: Role) -> Mapping[str, Json]:
        """Return all variables of this role's texts: the game's own, and how amounts are written."""
        return {**self.text_variables(role), "amounts": self.amounts}

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        """Return at most four questions before play: does a role know its situation? Never about hidden values."""
        return self.questions

    def quiz(self, role: Role) -> tuple[Question, ...]:
        """Return the questions after play that the publication asked; none if it asked none."""
        return ()

    def secrets(self, role: Role) -> frozenset[str]:
        """Return the config keys that must not change anything this role can see.

        An entry of a list is named by its index: "values[2]".
        """
        return frozenset()

    def setup(self, chance: Chance) -> S:
        """Return the state before the first move; unless overridden, a state without arguments."""
        state: S = self.State()
        return state

    @property
    @abstractmethod
    def move_types(self) -> tuple[type[Move], ...]:
        """The moves of all forms that `turn` can ever show under this configuration; datasets have their fields."""

    @abstractmethod
    def turn(self, state: S) -> Turn | None:
        """Return the current turn; None when the game is over."""

    def refuse(self, state: S, role: Role, move: Any) -> str | None:
        """Return why this well-formed move is not allowed, as a sentence for the player; None allows it."""
        return None

    def on_pages(self) -> frozenset[str]:
        """Return the forms on request that people's pages show under this configuration."""
        return frozenset()

    @abstractmethod
    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        """Return the state after the moves that closed the turn, or after one that leaves it open."""

    def time_factor(self, state: S, role: Role) -> float:
        """Return the multiple of the usual time that a person has for this turn: a first turn may have much to read."""
        return 1.0

    @abstractmethod
    def default(self, state: S, role: Role) -> MoveData:
        """Return a legal move for a role that does not answer, used if the study plays one on time-out."""

    def forfeit(self, state: S, role: Role) -> MoveData | None:
        """Return the move that the rules assign to an agent's unusable answer: a result, not a failure.

        It is logged with `by` "rules". None: the rules assign none, and the study's fallback decides.
        """
        return None

    def warning(self, state: S, role: Role, move: Any) -> MoveWarning | None:
        """Return a warning to show on a person's page before this legal move is sent; None: no warning.

        It states what the move does to its maker: that it harms them whatever the others do, or is final. It never
        advises. Numbers far from all before are found with `usual`.
        """
        return None

    def usual(self, state: S, role: Role) -> Mapping[str, Usual]:
        """Return what numbers in the role's moves are compared with, by "field" or "field:key"."""
        return {}

    @abstractmethod
    def view(self, state: S, role: Role) -> View:
        """Return everything that this role may know now, in or out of turn, and nothing else."""

    def public_view(self, state: S) -> View:
        """Return public information only, worded for an observer without a seat; empty: no such view.

        It contains nothing that is hidden from any seat.
        """
        return ()

    @abstractmethod
    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        """Return what this role has just learnt from one applied step."""

    @abstractmethod
    def payoffs(self, state: S) -> Payoffs:
        """Return each role's payoff in the game's own unit; defined when the game is over."""

    @abstractmethod
    def metrics(self, state: S) -> Row:
        """Return the match's results. Defined when the game is over."""

    def seat_metrics(self, state: S, role: Role) -> Row:
        """Return a seat's results. Defined when the game is over.

        The command line adds them to the match's metrics as "<role>_<name>"; datasets store them as rows.
        """
        return Row()

    def records(self, state: S) -> Sequence[Row]:
        """Return the match's rows of `rounds.csv`. Defined when the game is over."""
        return ()

    def ends(self, state: S, role: Role, move: Any) -> bool:
        """Return whether this legal move ends the match, as far as the role may know; shown on its button."""
        return False

    def prospects(self, state: S, role: Role) -> tuple[Prospect, ...]:
        """Return what the role's current choices (with a key) and its game so far (without) earn; pages show the pay.

        A page shows the game so far at all times, also while the role waits and when the game is over. Nothing that the
        role may not know; without a result that it may know, `unknown` says what the pay depends on.
        """
        return ()

    def prospect(self, words: str, role: Role, payoff: float, key: str = "", unknown: str = "") -> Prospect:
        """Return a possible result with its share."""
        return Prospect(words, payoff, self.bonus_share(role, payoff), key, unknown)

    def pays_alike(self) -> bool:
        """Return whether every result pays the same; if so, the consent page and the instructions say so."""
        return False

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return example results, such as half of the maximum, with which the instructions explain the pay."""
        return ()

    def progress(self, state: S) -> tuple[float, float]:
        """Return how much has been played and the most there can be, in one unit of the game: moves, rounds, items.

        The default counts the match as one round. Games of open length count the most their rules allow.
        """
        return 0, 1

    def share_played(self, state: S) -> float:
        """Return how much of the match has been played: 0 at the start, never falling, 1 when it is over.

        Studies may pay by it those who do not stay to the end.
        """
        played, most = self.progress(state)
        return 1.0 if self.turn(state) is None else min(played / most, 1.0)

    def result_bars(self, state: S, role: Role) -> Bars | None:
        """Return the result as a picture for a role or, as far as it is public, for `OBSERVER`; None: there is none.

        Nothing that the role may not know. Defined when the game is over; models never get it.
        """
        return None

    def attempts(self, view: View) -> Sequence[Attempt]:
        """Return the earlier submissions that a view tells of, oldest first, for people's pages."""
        return ()

    def stage(self, state: S) -> tuple[int | None, str | None]:
        """Return the round (from 1) and phase of this state's turn, counted as in the game's source.

        Datasets show them with each decision; (None, None): the game has none.
        """
        return None, None

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int | None, str | None]] | None:
        """Return round and phase of every move of a match; None if only a replay with `stage` can tell."""
        return None

    def ended_how(self, moves: Sequence[tuple[Role, MoveData]]) -> str | None:
        """Return how a match with these moves ended ("accepted", "last round"); None: it can only end in one way."""
        return None

    @abstractmethod
    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return how well this payoff pays, from 0 to 1 (the g of the platform's share rule)."""

    def pay_share(self, state: S, role: Role) -> float:
        """Return `bonus_share` for a final state; for games whose pay depends on more than the payoff."""
        return self.bonus_share(role, self.payoffs(state)[role])

    @classmethod
    def stage_configurations(cls, stage: int, results: Sequence[Mapping[str, Json]]) -> Sequence[Mapping[str, Json]]:
        """Return the configurations of a collection's stage `stage` (from 1), given the matches of earlier stages.

        Args:
            results: per earlier match {config, agents, payoffs, metrics, records, repetition}, in the plan's order.
        """
        raise NotImplementedError(f"{cls.key} has no stages")

    def remembers(self, role: Role) -> bool:
        """Return whether a model in this role keeps its conversation from turn to turn.

        False: every turn starts from only the rules and the current view.
        """
        return True

    def tools(self, state: S, role: Role) -> tuple[Tool, ...]:
        """Return the read-only tools that this role may use now."""
        return ()

    def before_lookups(self, state: S, role: Role) -> View:
        """Return what a model is shown before it calls these tools: the view without the blocks that they return.

        Override it if computing the whole view is slow, and leave out everything that grows with the match.
        """
        returned = {tool.block for tool in self.tools(state, role)}
        return tuple(block for block in self.view(state, role) if block.key.removesuffix("_chart") not in returned)


Script = Callable[[Any, Any, Role, Random], MoveData]
"""A script: (game, state, role, rng) → move. It uses only what its role may know."""


@dataclass(frozen=True)
class Event:
    """One line of a match's log, numbered 1, 2, 3…

    Kinds: "start" {game, rules_version, seed}, "draw" {name, value, known_to}, "move" {role, move}
    (with `by` if someone other than the seat's player made it, and with `replaces`, the number of the sealed move in
    whose place it counts), "end" {payoffs, metrics},
    "abandoned" {reason, role?}.
    """

    number: int
    kind: str
    data: Mapping[str, Json] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Json]:
        """Return the flat form used in files."""
        return {"number": self.number, "kind": self.kind, **self.data}
