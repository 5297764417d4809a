"""Shared by environments of many periods: a player reads data, writes notes, and submits once per period.

Source: EconEvals, section 3 and appendix A. Tools number periods from 0, pages from 1. A note leaves the period open;
the submission closes it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from games.errors import Refused
from games.interface import (
    OBSERVER,
    Attempt,
    Bars,
    Block,
    Chance,
    Config,
    Fact,
    Form,
    Game,
    Json,
    Move,
    MoveData,
    MoveWarning,
    Role,
    Table,
    Text,
    Tool,
    Turn,
    Usual,
    View,
    Words,
)
from games.results import in_unit
from games.strategies import PLAIN, TOOLS, Strategy
from games.words import gettext as _
from games.words import gettext_noop, number, quoted

AGENT: Role = "agent"
MAX_NOTES_PER_PERIOD = 20
MAX_NOTE_LENGTH = 5000
MAX_SUBMISSION_LENGTH = 200_000
"""Maximum characters of a submission in text form."""
Quantity = Annotated[float, in_unit("units", 0)]


class PeriodsConfig(Config):
    """How long an environment lasts."""

    periods: int = Field(100, ge=1, le=300, title="Periods", description="Number of periods; players are not told.")
    practice: bool = Field(
        False,
        title="Practice",
        description="Three periods, played first with other numbers and other names; they do not count.",
    )


class InstanceConfig(PeriodsConfig):
    """The seed from which an environment's instance is drawn."""

    instance_seed: Annotated[int, Field(ge=0)] | None = Field(
        None, title="Instance seed", description="The same seed gives the same instance. Empty: the match's own seed."
    )

    def rng_for(self, rng: Random, *kind: object, part: str = "") -> Random:
        """Return the generator that draws this kind of instance: from `instance_seed` if set, else the match's."""
        if self.instance_seed is None:
            return rng
        return Random("/".join(map(str, (*kind, self.instance_seed, *filter(None, [part])))))


M = TypeVar("M", bound=BaseModel)


def instance_of(model: type[M], drawn: Mapping[str, Json]) -> M:
    """Return the instance made of drawn data, validated like one from the configuration."""
    return model.model_validate_json(json.dumps(drawn))


@dataclass(frozen=True)
class Note:
    """A player's private note in a period (from 0)."""

    period: int
    text: str
    role: Role = AGENT


@dataclass(frozen=True, kw_only=True)
class Periods:
    """The part of the state that all these environments share."""

    notes: tuple[Note, ...] = ()
    rehearsal: dict[str, Any] | None = None
    """The state of practice as plain data until the game begins (`games.practice`)."""


class NoteMove(Move):
    """A private note."""

    note: Annotated[Words, Field(min_length=1, max_length=MAX_NOTE_LENGTH)] = Field(title=gettext_noop("Note"))


NOTE = Form(
    "note",
    gettext_noop("Write a note"),
    NoteMove,
    help=gettext_noop("Only you can read it, in this and all later periods."),
    ends_turn=False,
    tool="write_notes",
    tool_keys={"notes": "note"},
)


class PeriodArgument(Move):
    """The period whose notes are read."""

    attempt_number: int = Field(title=gettext_noop("Period"), description=gettext_noop("From 0."))


def as_object(value: Any) -> Any:
    """Return a submission as an object; text is read as JSON or as a Python literal.

    Raises:
        PydanticCustomError: it is not an object.
    """
    if isinstance(value, str):
        value = _read(value)
    if not isinstance(value, dict):
        raise PydanticCustomError("no_object", "must be an object, such as {example}", {"example": '{"name": 1}'})
    return value


def _read(text: str) -> Any:
    if len(text) > MAX_SUBMISSION_LENGTH:
        raise PydanticCustomError("no_object", "is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise PydanticCustomError(
            "no_object", "could not be read: write an object such as {example}", {"example": '{"name": 1}'}
        ) from None


Submitted = Annotated[Any, BeforeValidator(as_object)]
"""A submission's object; its entries are checked against the instance one by one."""


def form_for_instance(
    form: Form, names: Sequence[str], choices: Sequence[str] = (), *, every: bool = True, last: MoveData | None = None
) -> Form:
    """Return a submission's form with a control for each name on pages; a menu if there are choices.

    Args:
        form: has a single field, an object with a value by name.
        every: whether each name needs a value.
        last: the initial values of the controls.
    """
    return replace(form, model=_named(form.model, tuple(names), tuple(choices), every), begins_with=last)


@lru_cache(maxsize=512)
def _named(model: type[Move], names: tuple[str, ...], choices: tuple[str, ...], every: bool) -> type[Move]:
    (field,) = model.model_fields

    def add_schema(schema: dict[str, Any]) -> None:
        field_schema = schema["properties"][field]
        field_schema["propertyNames"] = {"enum": list(names)}
        if every:
            field_schema["minProperties"] = len(names)
        if choices:
            field_schema["additionalProperties"] = {**field_schema["additionalProperties"], "enum": list(choices)}

    body = {
        "model_config": ConfigDict(json_schema_extra=add_schema),
        "__module__": model.__module__,
        "__doc__": model.__doc__,
    }
    metaclass: Any = type(model)
    subclass: type[Move] = metaclass(model.__name__, (model,), body)
    return subclass


C = TypeVar("C", bound=PeriodsConfig)
S = TypeVar("S", bound=Periods)
Blocks = Callable[[Any, Any, Role], Sequence[Block]]
"""(game, state, role) → blocks for that role."""


def _nothing(game: Any, state: Any, role: Role) -> Sequence[Block]:
    return ()


def _no_attempts(history: Table) -> Sequence[Attempt]:
    return ()


def with_best(attempts: Sequence[Attempt], scores: Sequence[float | None], words: str) -> tuple[Attempt, ...]:
    """Return the attempts, with `words` at the highest score, the last on ties; a score of None cannot be best."""
    _score, best = max(((score, at) for at, score in enumerate(scores) if score is not None), default=(None, None))
    return tuple(
        replace(attempt, best=(*attempt.best, words)) if at == best else attempt for at, attempt in enumerate(attempts)
    )


@dataclass(frozen=True)
class Screen:
    """The parts of an environment's view; `PeriodGame` puts them together.

    Attributes:
        outcome: the outcome of the last period.
        result: the final result, shown when the game is over.
        data: all data.
        bars: the result as a picture for a role.
        news: announced after each period in addition to its outcome.
        not_in_tools: what no tool returns, of bounded length: shown before the data on pages, and to models before
            they call tools.
        published: what the authors' program tells at the start of a period.
        attempts: the earlier submissions that the table "history" tells of, oldest first.
    """

    outcome: Blocks
    result: Blocks
    data: Blocks
    bars: Callable[[Any, Any, Role], Bars]
    news: Blocks = _nothing
    not_in_tools: Blocks = _nothing
    published: Blocks = _nothing
    attempts: Callable[[Table], Sequence[Attempt]] = _no_attempts


class PeriodGame(Game[C, S], Generic[C, S]):
    """An environment of periods with notes, read-only tools, and a tool that submits."""

    system = "EconEvals"
    screen: ClassVar[Screen]
    first_period: int = 1
    """Number of the first period as it is shown: 1 on pages; tools, and texts beside them, count from 0."""
    notepad: Form = NOTE
    """The form for notes."""
    asks: ClassVar[str]
    """The task of a period, with its number as {period}."""
    get_number: ClassVar[str] = "get_attempt_number"
    """The tool that returns the number of the period."""
    notes_of: ClassVar[type[Move]] = PeriodArgument
    """The argument of the tool that reads notes; its only field is the period's number."""

    def roles(self) -> tuple[Role, ...]:
        return (AGENT,)

    def role_title(self, role: Role) -> str:
        return _("You")

    def remembers(self, role: Role) -> bool:
        """Return False: each period is a separate conversation, and notes carry information to the next."""
        return False

    def secrets(self, role: Role) -> frozenset[str]:
        """Return the key of the number of periods."""
        return frozenset({"periods"})

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        """Return each move's period, from 1, and "note" or "submission"."""
        submissions = dict.fromkeys(self.roles(), 0)
        stages = []
        for role, move in moves:
            is_note = "note" in move
            stages.append((submissions[role] + 1, "note" if is_note else "submission"))
            submissions[role] += not is_note
        return stages

    def template_variables(self, role: Role) -> Mapping[str, Json]:
        return (
            {**super().template_variables(role), "by_tools": BY_TOOLS}
            if self.told_as_published
            else super().template_variables(role)
        )

    def with_tools(self) -> Self:
        game = copy(self)
        game.first_period = 0
        return game

    def shown_period(self, t: int) -> int:
        """Return the number of period t (from 0) as it is shown."""
        return t + self.first_period

    def players_write(self) -> bool:
        """Return False: notes are private."""
        return False

    # ---- implemented by each environment -----------------------------------------------------------

    def begin(self, chance: Chance) -> S:
        """Return the state before the first period."""
        raise NotImplementedError

    def period(self, state: S) -> int:
        """Return the number of the current period, from 0."""
        raise NotImplementedError

    def progress(self, state: S) -> tuple[float, float]:
        """Return the periods played, of all; practice does not count."""
        return self.period(state), self.config.periods

    def submission(self, state: S, role: Role) -> Form:
        """Return the form that closes the period."""
        raise NotImplementedError

    def over(self, state: S) -> bool:
        """Return whether the last period is over."""
        return self.period(state) >= self.config.periods

    def submitted(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        """Return the state after the period's submissions."""
        raise NotImplementedError

    def refuse_submission(self, state: S, role: Role, move: Any) -> str | None:
        """Return why a submission is malformed, if it is; this does not use up the period."""
        raise NotImplementedError

    def harm(self, state: S, role: Role, move: Any) -> str:
        """Return what a submission costs its maker whatever happens, as a sentence; empty: nothing that is certain."""
        return ""

    def submitted_before(self, state: S, role: Role, move: Any) -> int | None:
        """Return the period (from 0) of the same submission, if submitting it again can only bring the same result."""
        return None

    def usual_numbers(self, state: S, role: Role) -> Mapping[str, Usual]:
        """Return `usual` for the submission's numbers."""
        return {}

    def lookups(self, state: S, role: Role) -> Sequence[Tool]:
        """Return the environment's own tools."""
        raise NotImplementedError

    def past_period(self, state: S, t: int, role: Role) -> Mapping[str, Json]:
        """Return an earlier period as tools show it, to two decimals."""
        raise NotImplementedError

    def last_submission(self, state: S, role: Role) -> MoveData | None:
        """Return the role's last submission, which fills its page and is repeated on time-out; None without any."""
        return None

    def first_submission(self, state: S, role: Role) -> MoveData:
        """Return the default submission of a role that has not submitted anything yet."""
        raise NotImplementedError

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> S:
        return self.begin(chance)

    def current(self, state: S) -> tuple[PeriodGame[C, S], S]:
        """Return the game that is being played, and its state: practice is a game of its own."""
        return self, state

    def turn(self, state: S) -> Turn | None:
        game, state = self.current(state)
        if game.over(state):
            return None
        return Turn({role: (game.submission(state, role), game.notepad) for role in game.roles()})

    def refuse(self, state: S, role: Role, move: Any) -> str | None:
        game, state = self.current(state)
        if not isinstance(move, NoteMove):
            return game.refuse_submission(state, role, move)
        period = game.period(state)
        note_count = sum(note.period == period and note.role == role for note in state.notes)
        if note_count >= MAX_NOTES_PER_PERIOD:
            return _("You can write at most {most} notes per period.").format(most=MAX_NOTES_PER_PERIOD)
        return None

    def warning(self, state: S, role: Role, move: Any) -> MoveWarning | None:
        """Warn about a submission that harms its maker, or that was made before with the same result."""
        game, state = self.current(state)
        if isinstance(move, NoteMove):
            return None
        words, before = game.harm(state, role, move), game.submitted_before(state, role, move)
        if not words and before is not None:
            words = _("You submitted exactly this in period {period}. The result will be the same.").format(
                period=game.shown_period(before)
            )
        return MoveWarning(words) if words else None

    def usual(self, state: S, role: Role) -> Mapping[str, Usual]:
        game, state = self.current(state)
        return game.usual_numbers(state, role)

    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        role, move = next(iter(moves.items()))
        if isinstance(move, NoteMove):
            return replace(state, notes=(*state.notes, Note(self.period(state), move.note, role)))
        return self.submitted(state, moves, chance)

    def default(self, state: S, role: Role) -> MoveData:
        """Repeat the last submission."""
        game, state = self.current(state)
        return game.last_submission(state, role) or game.first_submission(state, role)

    # ---- tools -------------------------------------------------------------------------------------

    def tools(self, state: S, role: Role) -> tuple[Tool, ...]:
        """Return the tools of the environment, for the period's number, and for the role's notes."""
        game, state = self.current(state)
        number_now = _("The number of the current period, from 0.")
        return (
            *game.lookups(state, role),
            lookup(self.get_number, number_now, lambda: {"number": game.period(state)}),
            Tool(
                "read_notes",
                _("Your notes of one period."),
                self.notes_of,
                lambda arguments: {"notes": game._notes_of(state, role, next(iter(arguments.model_dump().values())))},
                block="notes",
                example=dict.fromkeys(self.notes_of.model_fields, game.period(state)),
            ),
        )

    def history(self, state: S, role: Role, name: str, help: str, under: str) -> Tool:
        """Return the tool for all earlier periods, as a list named `under`."""
        if self.told_as_published:
            help = f"{help} " + _("Read the data before you submit.")
        return lookup(name, help, lambda: {under: self.past_periods(state, role)}, "history")

    def past_periods(self, state: S, role: Role) -> Sequence[Mapping[str, Json]]:
        """Return every earlier period as tools show it."""
        return [self.past_period(state, t, role) for t in range(self.period(state))]

    def _notes_of(self, state: S, role: Role, period: int) -> str:
        """Return the notes of one period, separated by line breaks.

        Raises:
            Refused: there is no such period yet.
        """
        latest = self.period(state)
        if not 0 <= period <= latest:
            raise Refused(_("There is no period {period} yet; there are 0 to {now}.").format(period=period, now=latest))
        return "\n".join(note.text for note in state.notes if note.period == period and note.role == role)

    # ---- what players see --------------------------------------------------------------------------

    def view(self, state: S, role: Role) -> View:
        """Return the task, the last outcome, the data, and the role's notes; as published, what the tools return."""
        if self.told_as_published:
            read = (
                Text(tool.name, f"{tool.name}: {json.dumps(use_example(tool), ensure_ascii=False)}")
                for tool in self.tools(state, role)
            )
            return (*self.before_lookups(state, role), *read)
        data = self.screen.data(self, state, role)
        return (*self.before_lookups(state, role), *data, self.notes_block(state, role))

    def result_bars(self, state: S, role: Role) -> Bars | None:
        return None if role == OBSERVER else self.screen.bars(self, state, role)

    def attempts(self, view: View) -> Sequence[Attempt]:
        history = next((block for block in view if isinstance(block, Table) and block.key == "history"), None)
        return () if history is None else self.screen.attempts(history)

    def before_lookups(self, state: S, role: Role) -> View:
        """Return the task, the last outcome, and what no tool returns."""
        if self.told_as_published:
            return tuple(self.screen.published(self, state, role))
        blocks: Sequence[Block] = ()
        if self.over(state):
            blocks = self.screen.result(self, state, role)
        elif self.period(state):
            blocks = self.screen.outcome(self, state, role)
        return (self.status(state), *blocks, *self.screen.not_in_tools(self, state, role))

    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        """Return the outcome of the last submission; nothing for a note."""
        if self.told_as_published or self.period(after) == self.period(before):
            return ()
        blocks = (*self.screen.outcome(self, after, role), *self.screen.news(self, after, role))
        return (*blocks, *self.screen.result(self, after, role)) if self.over(after) else blocks

    def notes_block(self, state: S, role: Role) -> Block:
        """Return the role's own notes, by period."""
        rows = tuple((self.shown_period(note.period), note.text) for note in state.notes if note.role == role)
        return Table("notes", _("Your notes"), (_("Period"), _("Note")), rows, newest_first=True, folds=True)

    def status(self, state: S) -> Text:
        """Return the current task, or that the game is over."""
        if self.over(state):
            return Text("status", _("The last period is over."), tone="good")
        return Text("status", _(self.asks).format(period=self.shown_period(self.period(state))))

    def period_fact(self, state: S) -> Fact:
        """Return the number of the current period, or of the last one when the game is over."""
        period = self.shown_period(self.period(state) - self.over(state))
        return Fact("period", _("Period"), period, str(period))


BY_TOOLS = (
    "You act only by calling tools. Let the data decide what you do. Read your notes, and write new ones: your "
    "reasons, your strategies and your insights."
)
"""What every environment is told as published (EconEvals, appendices A to C)."""


# ---- how models are asked ----------------------------------------------------------------------


def opening(game: Any, state: Any, role: Role) -> str:
    """Return the start of a period's conversation, after the rules (EconEvals, appendices A to C)."""
    submit = game.turn(state).forms[role][0].tool
    if game.told_as_published:
        history = game.lookups(state, role)[0].name
        return (
            f"Calling {submit} ends this conversation, which is then wiped. The data and your notes remain: read them "
            f"with {history} and read_notes."
        )
    playing, now = game.current(state)
    if playing.over(now):
        return f"Call {submit} to begin the game. Nothing of practice is kept."
    return (
        f"This is the beginning of period {playing.period(now)}. Every period is a new conversation: you remember "
        "nothing of earlier ones. The data and your notes are kept: read the notes of earlier periods with read_notes, "
        "and write down with write_notes what you will want to know later.\n\n"
        f"Look at whatever you like, and then submit by calling {submit}. That closes the period and erases this "
        "conversation."
    )


_TOOLS = Strategy(
    "As published: the model reads data, writes notes and submits by calling tools.", layout="tools", opening=opening
)
STRATEGIES: Mapping[str, Strategy] = {PLAIN: _TOOLS, TOOLS: _TOOLS}
"""By default, models play environments of periods with tools."""


# ---- checking submissions --------------------------------------------------------------------------


def is_count(value: Any, most: int) -> bool:
    """Return whether a value is an integer from 0 to `most`, and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def refuse_names(
    entries: Mapping[Any, Any], known_names: Sequence[str], kind: str, *, every: bool = True
) -> str | None:
    """Return a refusal that names the first unknown entry, or the first missing one if all are needed; None otherwise.

    Args:
        kind: what is named, such as "offer".
    """
    unknown = next((name for name in entries if name not in known_names), None)
    if unknown is not None:
        names = ", ".join(known_names[:12]) + (", …" if len(known_names) > 12 else "")
        words = _("There is no {what} {name}; there are {names}.")
        return words.format(what=kind, name=quoted(str(unknown)), names=names)
    missing = next((name for name in known_names if name not in entries), None)
    if missing is None or not every:
        return None
    return _("The {what} {name} is missing: all of them are needed.").format(what=kind, name=quoted(missing))


def refuse_matching(
    entries: Mapping[Any, Any], lines: Sequence[str], options: Sequence[str], line_kind: str, option_kind: str
) -> str | None:
    """Return a refusal unless every line has a different option; it names the first wrong entry.

    Args:
        line_kind: the kind of the lines, such as "worker".
        option_kind: the kind of the options, such as "task".
    """
    if problem := refuse_names(entries, lines, line_kind):
        return problem
    assigned: dict[str, str] = {}
    for line, option in entries.items():
        if not isinstance(option, str) or option not in options:
            words = _("{line} needs one {of_what}, such as {option}; {found} is not one.")
            return words.format(line=line, of_what=option_kind, option=options[0], found=quoted(str(option)))
        if option in assigned:
            words = _("The {of_what} {option} is assigned twice: to {one} and to {other}.")
            return words.format(of_what=option_kind, option=option, one=assigned[option], other=line)
        assigned[option] = line
    return None


class NoArguments(Move):
    """The arguments of a tool that takes none."""


def use_example(tool: Tool) -> Json:
    """Return a tool's answer to its example."""
    return tool.answer(tool.arguments.model_validate(tool.example))


def lookup(name: str, help: str, answer: Callable[[], Json], block: str = "") -> Tool:
    """Return a read-only tool without arguments."""
    return Tool(name, help, NoArguments, lambda _arguments: answer(), block=block)


def two_decimals(value: float) -> float:
    """Return a number as shown to players and in tools."""
    return round(value, 2)


def shown(value: float) -> str:
    """Return the rounded number as text."""
    return number(two_decimals(value))


def as_number(text: str) -> float | None:
    """Return the number that `shown` wrote; None if it is another text."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def plain(value: Json) -> Json:
    """Return data with every float rounded to two decimals."""
    if isinstance(value, float):
        return two_decimals(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
