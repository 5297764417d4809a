"""One play of a game: check, seal, apply, log, replay. All functions are pure, and every front end uses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from games.errors import BadConfig, LogMismatch, Refused, UnknownGame
from games.interface import Event, Form, Game, Information, Json, Move, MoveData, Role, Turn, View
from games.words import Amounts, localized, quoted
from games.words import gettext as _

T = TypeVar("T")


class _Logged(Protocol):
    """An event of a log, from whatever store."""

    @property
    def number(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def data(self) -> Mapping[str, Json]: ...


E = TypeVar("E", bound=_Logged)


@dataclass
class SeededChance:
    """Random draws that depend only on (seed, step, name), so that a replay draws the same again.

    `redraw` salts the draws that none of the given roles may know: only for tests of hidden information.
    """

    seed: int
    step: int
    redraw_unknown_to: Role | None = None
    draws: list[dict[str, Json]] = field(default_factory=list)

    def draw(self, name: str, sample: Callable[[Random], T], *, known_to: Sequence[Role] | None = None) -> T:
        if any(draw["name"] == name for draw in self.draws):
            raise ValueError(f"drawn twice in one step: {name}")
        hidden = known_to is not None and self.redraw_unknown_to is not None and self.redraw_unknown_to not in known_to
        salt = "/redrawn" if hidden else ""
        value = sample(Random(f"{self.seed}/{self.step}/{name}{salt}"))
        roles = None if known_to is None else list(known_to)
        self.draws.append({"name": name, "value": value, "known_to": roles})
        return value


def turn_in(game: Game[Any, Any], state: Any) -> Turn | None:
    """Return the turn in a state, with its forms as the game words them for whom it is told."""
    turn = game.turn(state)
    if turn is None or game.told is None or not game.told_as_published:
        return turn
    word = game.told.form
    forms = {role: tuple(word(game, form) for form in role_forms) for role, role_forms in turn.forms.items()}
    return replace(turn, forms=forms)


@dataclass(frozen=True)
class Play:
    """The current state of a match.

    Attributes:
        opened: per role that may move, the number of the event that opened its current turn. A
            move names the turn that it answers; sealed moves of others do not change it.
        sealed: moves of the current turn that nobody else has seen yet.
        sealed_at: the numbers of the events of those sealed moves that the role's own player made.
        kept_open: per role, how many moves it made in the current turn that left the turn open.
        last: number of the last event.
        abandoned: why the match ended without a result, if it did.
    """

    game: Game[Any, Any]
    seed: int
    state: Any
    turn: Turn | None
    step: int = 0
    sealed: Mapping[Role, MoveData] = field(default_factory=dict)
    sealed_at: Mapping[Role, int] = field(default_factory=dict)
    opened: Mapping[Role, int] = field(default_factory=dict)
    kept_open: Mapping[Role, int] = field(default_factory=dict)
    last: int = 0
    abandoned: str | None = None
    redraw_unknown_to: Role | None = None

    @property
    def over(self) -> bool:
        return self.turn is None or self.abandoned is not None

    @property
    def finished(self) -> bool:
        """Whether the match ended by its rules, with payoffs and metrics."""
        return self.turn is None and self.abandoned is None

    def waiting_for(self) -> tuple[Role, ...]:
        """Return the roles that still have to move."""
        if self.over or self.turn is None:
            return ()
        return tuple(role for role in self.turn.forms if role not in self.sealed)

    def awaits_answer(self, role: Role, answering: int) -> bool:
        """Whether the turn that event `answering` opened for the role still needs its move."""
        return role in self.waiting_for() and self.opened[role] == answering

    def changeable(self, role: Role) -> int | None:
        """Return the number of the role's sealed move if its player may still replace it."""
        return None if self.over or not self.game.answers_can_change else self.sealed_at.get(role)

    def reopened(self, role: Role, number: int) -> Play:
        """Return the play as if the role had not made its sealed move, event `number`.

        Raises:
            Refused: this is not the role's sealed move, or it cannot be replaced.
        """
        if self.changeable(role) != number:
            raise Refused(_("This answer can no longer be changed."))
        sealed, sealed_at = dict(self.sealed), dict(self.sealed_at)
        del sealed[role], sealed_at[role]
        return replace(self, sealed=sealed, sealed_at=sealed_at)

    def forms(self, role: Role) -> tuple[Form, ...]:
        """Return the forms open to `role`; empty if it is not its turn."""
        if role not in self.waiting_for() or self.turn is None:
            return ()
        return self.turn.forms[role]

    def informed(self, information: Information) -> Play:
        """Return the play as it is told to a seat with this information: its view, notices, forms and tools."""
        if information == self.game.information:
            return self
        game = self.game.informed(information)
        turn = turn_in(game, self.state)
        return replace(self, game=game, turn=None if self.turn is None else turn)

    def with_tools(self) -> Play:
        """Return the play as it is told to a player who looks things up with tools."""
        return replace(self, game=self.game.with_tools())

    def view(self, role: Role) -> View:
        if self.game.told is not None and self.game.told_as_published:
            return self.game.told.view(self.game, self.state, role)
        return self.game.view(self.state, role)

    def payoffs(self) -> dict[Role, float] | dict[Role, None]:
        """Return payoffs by role; None for each role of a match without a result."""
        if not self.finished:
            return dict.fromkeys(self.game.roles())
        return dict(self.game.payoffs(self.state))

    def metrics(self) -> dict[str, Json]:
        """Return the match's metrics, and each seat's as "<role>_<name>"."""
        if not self.finished:
            return {}
        seats = {
            f"{role}_{name}": value
            for role in self.game.roles()
            for name, value in vars(self.game.seat_metrics(self.state, role)).items()
        }
        return {**vars(self.game.metrics(self.state)), **seats}

    def records(self) -> list[dict[str, Json]]:
        """Return the game's rows of the match, empty for a match without a result."""
        return [vars(row) for row in self.game.records(self.state)] if self.finished else []


# ---- configurations ----------------------------------------------------------------------------


def configure(
    game: type[Game[Any, Any]], config: Mapping[str, Json], *, amounts: Amounts = "dollars"
) -> Game[Any, Any]:
    """Return a game with its configuration; missing keys get their defaults.

    Args:
        amounts: how amounts are written for players.

    Raises:
        BadConfig: naming the key and the problem.
    """
    try:
        return game(game.Config.model_validate_json(_as_json(config)), amounts=amounts)
    except ValidationError as error:
        raise BadConfig(
            _("Configuration of {game}: {problems}").format(game=game.key, problems=_explain(error, game.Config))
        ) from None
    except (ValueError, RecursionError) as error:
        raise BadConfig(_("Configuration of {game}: {problems}").format(game=game.key, problems=error)) from None


def config_faults(game: type[Game[Any, Any]], config: Mapping[str, Json]) -> list[tuple[tuple[str | int, ...], str]]:
    """Return what is wrong with a configuration, each with the path of the parameter and a sentence."""
    try:
        game.Config.model_validate_json(_as_json(config))
    except ValidationError as error:
        return [(_place(detail, game.Config), _about_this(detail)) for detail in _reported(error)]
    except (ValueError, RecursionError) as error:
        return [((), str(error))]
    return []


def _place(detail: Any, model: type[Any]) -> tuple[str | int, ...]:
    """Return the path of a validation error; a contradiction may name the parameter as its type."""
    return detail["loc"] or ((detail["type"],) if detail["type"] in model.model_fields else ())


def _about_this(detail: Any) -> str:
    describe = _PROBLEMS.get(detail["type"])
    if describe is None:
        message: str = detail["msg"]
        return message.removeprefix("Value error, ").replace("Input should", "This should")
    return _("This {problem}.").format(problem=describe(detail))


MAX_EXACT = 2**53
"""Larger integers are not exact in a browser."""


def _as_json(data: Any) -> str:
    """Return `data` as JSON text for strict validation; NaN passes here and is refused by the model."""
    if not _exact(data):
        raise ValueError(_("a whole number is too large"))
    return json.dumps(data)


def _exact(data: Any) -> bool:
    if isinstance(data, int):
        return abs(data) <= MAX_EXACT
    if isinstance(data, Mapping):
        return all(map(_exact, data.values()))
    return not isinstance(data, list) or all(map(_exact, data))


def _explain(error: ValidationError, model: type[Any]) -> str:
    return "; ".join(_problem(detail, model)[0] for detail in _reported(error))


def _reported(error: ValidationError) -> list[Any]:
    """Return the errors; a list with invalid entries is also reported as too short, which is left out."""
    errors = error.errors()
    parents = [detail["loc"][:length] for detail in errors for length in range(1, len(detail["loc"]))]
    return [detail for detail in errors if detail["type"] != "too_short" or detail["loc"] not in parents]


_PROBLEMS: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda e: _("is required"),
    "extra_forbidden": lambda e: _("is unknown"),
    "finite_number": lambda e: _("must be a finite number"),
    "float_type": lambda e: _("must be a number"),
    "float_parsing": lambda e: _("must be a number"),
    "int_type": lambda e: _("must be a whole number"),
    "int_from_float": lambda e: _("must be a whole number"),
    "int_parsing": lambda e: _("must be a whole number"),
    "int_parsing_size": lambda e: _("must be a smaller whole number"),
    "bool_type": lambda e: _("must be true or false"),
    "string_type": lambda e: _("must be text"),
    "greater_than_equal": lambda e: _("must be at least {limit}").format(limit=_without_point_zero(e["ctx"]["ge"])),
    "greater_than": lambda e: _("must be more than {limit}").format(limit=_without_point_zero(e["ctx"]["gt"])),
    "less_than_equal": lambda e: _("must be at most {limit}").format(limit=_without_point_zero(e["ctx"]["le"])),
    "less_than": lambda e: _("must be less than {limit}").format(limit=_without_point_zero(e["ctx"]["lt"])),
    "literal_error": lambda e: _("must be one of {choices}").format(choices=e["ctx"]["expected"]),
    "string_too_long": lambda e: _too_long(e),
    "too_long": lambda e: _too_long(e),
    "too_short": lambda e: _("needs at least {limit} of them").format(limit=e["ctx"]["min_length"]),
}


def _too_long(error: dict[str, Any]) -> str:
    if isinstance(error["input"], str):
        words = _("is too long: at most {limit} characters are allowed")
    else:
        words = _("is too long: at most {limit} entries are allowed")
    return words.format(limit=error["ctx"]["max_length"])


def _without_point_zero(number: float) -> str:
    return localized(f"{number:,.10g}")


def _problem(error: Any, form: Form | type[Any], *, on_page: bool = False) -> tuple[str, str | None]:
    """Return one validation error as a clause, and the top-level field it is about.

    Args:
        on_page: use the field's label on the page and give an example; programs need its name instead.
    """
    model = form.model if isinstance(form, Form) else form
    key = str(error["loc"][0]) if error["loc"] else None
    describe = _PROBLEMS.get(error["type"])
    clause = describe(error) if describe else error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if key is None:
        return clause, None
    info = model.model_fields.get(key)
    label = quoted(key) if info is None else info.title or key
    if on_page and isinstance(form, Form) and info is not None:
        label = quoted(form.labels.get(key, label), most=60)
    # Pydantic adds its own steps (validators, union branches) to the path, with brackets; leave them out.
    parts = [part for part in error["loc"][1:] if "[" not in str(part)]
    if on_page and info is not None and len(parts) == 1 and isinstance(parts[0], str):
        return f"{quoted(_part_label(info.annotation, parts[0]), most=60)} {clause}", key
    path = ".".join(map(str, parts))
    name = f"{label} ({key})" if not on_page and info is not None and info.title else label
    if on_page and info is not None and not path and (example := _example(model, key)):
        clause = _("{what}, for example {example}").format(what=clause, example=example)
    return f"{name}{f' [{path}]' if path else ''} {clause}", key


def _part_label(annotation: Any, part: str) -> str:
    """Return how a page labels one entry of a field: its title, or its name."""
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    info = annotation.model_fields.get(part) if is_model else None
    return (info.title if info else None) or part.replace("_", " ")


_EXAMPLE_NUMBER = 12.5
"""The example of a number, if the limits allow it."""


def _example(model: type[Any], key: str) -> str:
    """Return a valid number for the field, as people type it; empty for other kinds of fields."""
    schema = model.model_json_schema()["properties"].get(key, {})
    schema = next((kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"), schema)
    if schema.get("type") not in ("number", "integer"):
        return ""
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", max(_EXAMPLE_NUMBER, 2 * low)))
    example = _EXAMPLE_NUMBER if low <= _EXAMPLE_NUMBER <= high else (low + high) / 2
    return _without_point_zero(round(example) if schema["type"] == "integer" else example)


# ---- playing -----------------------------------------------------------------------------------


def prepare(game: Game[Any, Any], seed: int) -> None:
    """Do the slow part of `start` in advance; games with a slow setup cache its result.

    Call it before opening a match under a lock. Games of several people cannot use it, since their seed is drawn
    together with the group.
    """
    if game.slow_setup:
        game.setup(SeededChance(seed, 0))


def start(game: Game[Any, Any], seed: int, *, redraw_unknown_to: Role | None = None) -> tuple[Play, tuple[Event, ...]]:
    """Return a new play and its first events."""
    opening = [("start", {"game": game.key, "rules_version": game.rules_version, "seed": seed})]
    chance = SeededChance(seed, 0, redraw_unknown_to)
    state = game.setup(chance)
    before = Play(game=game, seed=seed, state=None, turn=None, redraw_unknown_to=redraw_unknown_to)
    return _close_turn(before, state, 0, opening, chance)


def submit(
    play: Play, role: Role, move: MoveData, *, by: str | None = None, replaces: int | None = None
) -> tuple[Play, tuple[Event, ...]]:
    """Check and apply one move; return the play after it and the new events.

    Args:
        role: who moves.
        move: plain data, the keys of one of the role's forms.
        by: who made the move, if not the seat's player ("clock", "script:fair").
        replaces: the number of the role's sealed move in whose place this one counts.

    Raises:
        Refused: the move is not allowed now; nothing has changed.
    """
    if replaces is not None:
        play = play.reopened(role, replaces)
    return _apply(play, role, *check(play, role, move), by=by, replaces=replaces)


def submit_logged(play: Play, data: Mapping[str, Json]) -> tuple[Play, tuple[Event, ...]]:
    """Submit a move as a log has it.

    Raises:
        Refused: the rules do not allow it.
    """
    return submit(play, data["role"], data["move"], by=data.get("by"), replaces=data.get("replaces"))


def moves_that_count(log: Iterable[E]) -> list[E]:
    """Return the moves of a log without those that were replaced before their turn closed."""
    events = list(log)
    replaced = {event.data.get("replaces") for event in events if event.kind == "move"}
    return [event for event in events if event.kind == "move" and event.number not in replaced]


def _apply(
    play: Play, role: Role, form: Form, move: Move, *, by: str | None = None, replaces: int | None = None
) -> tuple[Play, tuple[Event, ...]]:
    """Seal a move or, if it closes the turn or leaves it open, apply what was moved."""
    data, turn = plain_move(move), play.turn
    about = {name: value for name, value in (("by", by), ("replaces", replaces)) if value}
    logged: list[tuple[str, dict[str, Json]]] = [("move", {"role": role, "move": data, **about})]
    assert turn is not None
    if form.ends_turn and turn.closes == "all" and len(play.sealed) + 1 < len(turn.forms):
        events = _numbered_events(play.last, logged)
        last = events[-1].number
        sealed_at = play.sealed_at if by else {**play.sealed_at, role: last}
        return _changed(play, sealed={**play.sealed, role: data}, sealed_at=sealed_at, last=last), events
    step = play.step + 1
    chance = SeededChance(play.seed, step, play.redraw_unknown_to)
    moves = {**(_sealed_moves(play) if form.ends_turn else {}), role: move}
    state = play.game.apply(play.state, moves, chance)
    if not form.ends_turn:
        return _keep_turn_open(play, role, state, step, logged, chance)
    return _close_turn(play, state, step, logged, chance)


def _changed(play: Play, **changes: Any) -> Play:
    """Do what `dataclasses.replace` does: it calls a constructor of frozen attributes, which every move would pay."""
    changed = object.__new__(Play)
    vars(changed).update(vars(play), **changes)
    return changed


def _sealed_moves(play: Play) -> dict[Role, Move]:
    """Return the sealed moves of the current turn, parsed."""
    assert play.turn is not None
    forms = play.turn.forms
    return {role: filled_in(form_for(forms[role], data), data) for role, data in play.sealed.items()}


def ends_turn(play: Play, role: Role, move: MoveData) -> bool:
    """Return whether `move` would end the role's turn; a note leaves it open."""
    return form_for(play.forms(role), move).ends_turn


def _keep_turn_open(
    play: Play, role: Role, state: Any, step: int, logged: list[Any], chance: SeededChance
) -> tuple[Play, tuple[Event, ...]]:
    """Return the play after a move that leaves the turn open: only the mover's own turn gets a new number."""
    logged += [("draw", draw) for draw in chance.draws]
    events = _numbered_events(play.last, logged)
    last = events[-1].number
    turn = turn_in(play.game, state)
    kept_open = {**play.kept_open, role: play.kept_open.get(role, 0) + 1}
    opened = {**play.opened, role: last}
    return _changed(play, state=state, turn=turn, step=step, opened=opened, kept_open=kept_open, last=last), events


def _close_turn(
    play: Play, state: Any, step: int, logged: list[Any], chance: SeededChance
) -> tuple[Play, tuple[Event, ...]]:
    """Return the play after a closed turn: every role that may move next gets a new turn."""
    logged = logged + [("draw", draw) for draw in chance.draws]
    turn = turn_in(play.game, state)
    opens_at = play.last + len(logged)
    opened = dict.fromkeys(turn.forms, opens_at) if turn else {}
    after = _changed(
        play, state=state, turn=turn, step=step, sealed={}, sealed_at={}, opened=opened, kept_open={}, last=opens_at
    )
    if turn is None:
        logged = [*logged, ("end", {"payoffs": after.payoffs(), "metrics": after.metrics()})]
        after = _changed(after, last=opens_at + 1)
    return after, _numbered_events(play.last, logged)


def abandon(play: Play, reason: str, role: Role | None = None) -> tuple[Play, tuple[Event, ...]]:
    """End a match without a result; `role` caused it, if any did."""
    if play.over:
        raise Refused(_("The game is over."))
    events = _numbered_events(play.last, [("abandoned", {"reason": reason, **({"role": role} if role else {})})])
    return replace(play, abandoned=reason, opened={}, last=events[-1].number), events


def _numbered_events(last: int, logged: Iterable[tuple[str, Mapping[str, Json]]]) -> tuple[Event, ...]:
    return tuple(Event(last + i, kind, data) for i, (kind, data) in enumerate(logged, start=1))


# ---- checking ----------------------------------------------------------------------------------


def check(play: Play, role: Role, move: Any) -> tuple[Form, Move]:
    """Return the form that `move` fills in, and the move as the form's model.

    Raises:
        Refused: with the reason, for the player.
    """
    if play.over or play.turn is None:
        raise Refused(_("The game is over."))
    if role not in play.game.roles():
        raise Refused(_("There is no role “{role}” in this game.").format(role=role))
    if role not in play.turn.forms:
        raise Refused(_("It is not your turn."))
    if role in play.sealed:
        raise Refused(_("You have already moved. Others have not moved yet."))
    if not isinstance(move, Mapping):
        raise Refused(_("A move must be a JSON object."))
    form = form_for(play.turn.forms[role], move)
    checked = filled_in(form, move)
    if not form.ends_turn and play.kept_open.get(role, 0) >= play.game.open_moves:
        raise Refused(_("You can make at most {most} such entries per turn.").format(most=play.game.open_moves))
    if reason := play.game.refuse(play.state, role, checked):
        raise Refused(reason)
    return form, checked


def form_for(forms: Sequence[Form], move: MoveData) -> Form:
    """Return the form that shares most keys with `move`; the only form if there is just one."""
    return forms[0] if len(forms) == 1 else max(forms, key=lambda form: len(_fields(form.model) & move.keys()))


@cache
def _fields(model: type[Move]) -> frozenset[str]:
    """Return the names of a model's fields; cached because pydantic is slow."""
    return frozenset(model.model_fields)


def filled_in(form: Form, move: MoveData) -> Move:
    """Return the form filled in with these values, without checking the rules.

    Raises:
        Refused: the values do not fit the form; with the reason, for the player.
    """
    try:
        return form.model.model_validate_json(_as_json(move))
    except ValidationError as error:
        first_error = error.errors()[0]
        problem, field_name = _problem(first_error, form)
        if field_name is None:
            raise Refused(_("The move could not be read.")) from None
        plain_problem = _problem(first_error, form, on_page=True)[0]
        raise Refused(_with_limits(problem, form), field_name, _with_limits(plain_problem, form)) from None
    except (TypeError, ValueError, RecursionError):
        raise Refused(_("The move could not be read.")) from None


def _with_limits(problem: str, form: Form) -> str:
    return f"{_sentence(problem)} {form.limits}".rstrip()


def _sentence(words: str) -> str:
    sentence = words[:1].upper() + words[1:]
    return sentence if sentence.endswith(".") else sentence + "."


def expand(form: Form, short: MoveData) -> MoveData:
    """Return the full move for a filled-in short form, as plain data, not yet checked.

    Raises:
        Refused: the short form is invalid; with the reason, for the player.
    """
    assert form.short is not None and form.expand is not None
    return form.expand(filled_in(replace(form, model=form.short), short))


def plain_move(move: Move) -> dict[str, Json]:
    """Return a checked move as logged: plain data without default values."""
    # A recorded move that breaks limits may not match its model.
    return move.model_dump(mode="json", exclude_defaults=True, warnings=False)


def use_tool(play: Play, role: Role, name: str, arguments: MoveData) -> Json:
    """Return the answer of a read-only tool.

    Raises:
        Refused: the tool is not available now, or its arguments are invalid.
    """
    tools = {tool.name: tool for tool in play.game.tools(play.state, role)}
    tool = tools.get(name)
    if tool is None:
        raise Refused(
            _("There is no tool “{name}” now; there are {names}.").format(name=name, names=", ".join(tools) or "none")
        )
    return tool.answer(filled_in(Form(tool.name, tool.name, tool.arguments), arguments))


# ---- replaying ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One applied step of a replay; `moves` hold the parsed moves that it applied."""

    before: Any
    moves: Mapping[Role, Any]
    after: Any


def replay_moves(
    game: Game[Any, Any], seed: int, moves: Iterable[tuple[Role, MoveData]]
) -> tuple[Play, tuple[Event, ...]]:
    """Play `moves` from the start; return the play after them and all its events.

    Raises:
        Refused: an illegal move; the message names its number (from 1), role and reason.
    """
    play, new_events = start(game, seed)
    events = list(new_events)
    for number, (role, move) in enumerate(moves, start=1):
        try:
            play, new_events = submit(play, role, move)
        except Refused as refusal:
            raise Refused(
                _("Move {number} by {role}: {reason}").format(number=number, role=role, reason=refusal)
            ) from None
        events += new_events
    return play, tuple(events)


_OVER_A_LIMIT = frozenset(
    "greater_than greater_than_equal less_than less_than_equal string_too_long too_long messages_off".split()
)
"""Validation errors of fields that can still be read."""


def record_moves(
    game: Game[Any, Any], seed: int, moves: Iterable[tuple[Role, MoveData]]
) -> tuple[Play, tuple[Event, ...], str | None]:
    """Record a match that was played elsewhere, possibly under looser rules.

    A move that breaks a limit (a message too long, parts with a wrong sum) is recorded unchanged. Only for
    games in which one role moves at a time.

    Returns:
        The play after the moves, its events, and the first refusal (None: all was legal).

    Raises:
        Refused: a move out of turn or one that cannot be read; the message names its number, role and reason.
    """
    play, new_events = start(game, seed)
    events, first_refusal = list(new_events), None
    for number, (role, move) in enumerate(moves, start=1):
        try:
            play, new_events = submit(play, role, move)
        except Refused as refusal:
            reason = _("Move {number} by {role}: {reason}").format(number=number, role=role, reason=refusal)
            first_refusal = first_refusal or reason
            try:
                play, new_events = _submit_beyond_limits(play, role, move)
            except Refused:
                raise Refused(reason) from None
        events += new_events
    return play, tuple(events), first_refusal


def _submit_beyond_limits(play: Play, role: Role, move: MoveData) -> tuple[Play, tuple[Event, ...]]:
    """Apply a move of the only role in turn, even if it breaks limits.

    Raises:
        Refused: it is not this role's turn, or the move cannot be read.
    """
    if play.waiting_for() != (role,):
        raise Refused(_("It is not your turn."))
    form = form_for(play.forms(role), move)
    try:
        checked = form.model.model_validate_json(_as_json(move))
    except ValidationError as error:
        if {problem["type"] for problem in error.errors()} - _OVER_A_LIMIT:
            raise Refused(_("The move could not be read.")) from None
        checked = form.model.model_construct(**move)
    except (TypeError, ValueError, RecursionError):
        raise Refused(_("The move could not be read.")) from None
    return _apply(play, role, form, checked)


def replay_events(game: Game[Any, Any], events: Sequence[Event]) -> Play:
    """Replay a whole log and check that it gives the same events.

    Raises:
        LogMismatch: the log was not made by these rules, or was changed.
    """
    if not events or events[0].kind != "start":
        raise LogMismatch(_("The log does not begin with a start."))
    play, new_events = start(game, events[0].data["seed"])
    log = list(new_events)
    for event in events:
        try:
            if event.kind == "move":
                play, new_events = submit_logged(play, event.data)
            elif event.kind == "abandoned":
                play, new_events = abandon(play, event.data["reason"], event.data.get("role"))
            else:
                continue
        except Refused as refusal:
            raise LogMismatch(
                _("Event {number} is not legal: {reason}").format(number=event.number, reason=refusal)
            ) from None
        log += new_events
    for expected, replayed in zip(events, log, strict=False):
        if _comparable(expected) != _comparable(replayed):
            raise LogMismatch(
                _("Event {number} differs: the log has {logged}, the rules give {made}").format(
                    number=expected.number, logged=_comparable(expected), made=_comparable(replayed)
                )
            )
    if len(events) != len(log):
        raise LogMismatch(
            _("The log has {logged} events, the rules give {made}.").format(logged=len(events), made=len(log))
        )
    return play


def _comparable(event: Event) -> Json:
    return json.loads(json.dumps(event.as_dict()))


def stages(
    game: Game[Any, Any], seed: int, moves: Sequence[tuple[Role, MoveData]]
) -> Sequence[tuple[int | None, str | None]]:
    """Return the round and phase of each move of a match, in order; needs a replay if the moves alone do not tell."""
    if (from_moves := game.stages(moves)) is not None:
        return from_moves
    if type(game).stage is Game.stage:
        return [(None, None)] * len(moves)
    play, from_replay = start(game, seed)[0], []
    for role, move in moves:
        from_replay.append(game.stage(play.state))
        play, _new_events = submit(play, role, move)
    return from_replay


@dataclass(frozen=True)
class OwnMove:
    """A role's own move in its story: its event number, the forms that were open, the move, and the play before."""

    number: int
    forms: tuple[Form, ...]
    move: MoveData
    before: Play


def story(play: Play, events: Sequence[Event], role: Role) -> list[View | OwnMove]:
    """Return what `role` has learnt and done so far, in order: views are notices, `OwnMove` are its own moves.

    Needs one replay; meant for prompts and transcripts, not for making moves.
    """
    entries: list[View | OwnMove] = []
    current, _events = start(play.game, play.seed)
    for event in events:
        if event.kind != "move":
            continue
        if event.data["role"] == role:
            replaced = event.data.get("replaces")
            asked = current if replaced is None else current.reopened(role, replaced)
            entries.append(OwnMove(event.number, asked.forms(role), event.data["move"], asked))
        before = current
        current, _new_events = submit_logged(current, event.data)
        if notices := learnt(before, event.data["role"], event.data["move"], current, role):
            entries.append(notices)
    return entries


def learnt(before: Play, mover: Role, move: MoveData, after: Play, role: Role) -> View:
    """Return the notices to `role` from the step that `move` led to; empty while moves stay sealed."""
    if after.step == before.step:
        return ()
    game, moves = before.game, applied_moves(before, mover, move)
    if game.told is not None and game.told_as_published:
        return game.told.notices(game, before.state, moves, after.state, role)
    return game.notices(before.state, moves, after.state, role)


def applied_moves(before: Play, mover: Role, move: MoveData) -> dict[Role, Move]:
    """Return the parsed moves of the step that a legal `move` of `mover` leads to."""
    assert before.turn is not None
    form = form_for(before.turn.forms[mover], move)
    return {**(_sealed_moves(before) if form.ends_turn else {}), mover: filled_in(form, move)}


# ---- snapshots ---------------------------------------------------------------------------------


@cache
def _states(game: type[Game[Any, Any]]) -> TypeAdapter[Any]:
    return TypeAdapter(game.State)


_SAVED = ("seed", "step", "sealed", "sealed_at", "opened", "kept_open", "last", "abandoned")
"""The plain attributes of a play that a snapshot holds."""


def snapshot(play: Play) -> dict[str, Json]:
    """Return a play as plain data, derived from the log and disposable."""
    state = _states(type(play.game)).dump_python(play.state, mode="json")
    return {"state": state, **{name: copy(getattr(play, name)) for name in _SAVED}}


def restore(game: Game[Any, Any], saved: Mapping[str, Json]) -> Play:
    """Return the play that `snapshot` saved."""
    state = _states(type(game)).validate_python(saved["state"])
    return Play(game, state=state, turn=turn_in(game, state), **{name: saved[name] for name in _SAVED})


# ---- scripts -----------------------------------------------------------------------------------


def script_move(play: Play, role: Role, name: str) -> MoveData:
    """Return the script's move now; its generator is seeded with the match's seed and the turn.

    Raises:
        UnknownGame: the game has no such scripted player.
    """
    scripts = play.game.scripts
    if name not in scripts:
        raise UnknownGame(
            _("{game} has no scripted player “{name}”; use one of {names}.").format(
                game=play.game.key, name=name, names=", ".join(sorted(scripts))
            )
        )
    rng = Random(f"{play.seed}/{role}/{name}/{play.opened[role]}")
    return scripts[name](play.game, play.state, role, rng)
