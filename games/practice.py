"""Practice before an environment of periods: three periods with numbers and names of their own, which do not count.

When they are over, the player reads what the last one gave and begins the game, where nothing of practice is shown.
The moves of practice are in the match's log like all others; exports mark its decisions with the phase "practice" and
round 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from random import Random
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter

from games.interface import (
    Chance,
    Form,
    Json,
    Move,
    MoveData,
    MoveWarning,
    Payoffs,
    Prospect,
    Role,
    Script,
    Text,
    Turn,
    Usual,
    View,
)
from games.periods import AGENT, C, PeriodGame, S
from games.words import gettext as _
from games.words import gettext_noop

T = TypeVar("T")
PRACTICE_PERIODS = 3
"""To try, to see what comes of it, and to use what was seen."""
PRACTICE_OVER = "practice_over"
"""The key of the label on the page between practice and the game."""
GREEK = (
    *("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota", "Kappa", "Lambda", "Mu"),
    *("Nu", "Xi", "Omicron", "Pi", "Rho", "Sigma", "Tau", "Upsilon", "Phi", "Chi", "Psi", "Omega"),
)
TREES = (
    *("Acacia", "Alder", "Ash", "Beech", "Birch", "Cedar", "Cherry", "Chestnut", "Cypress", "Ebony", "Elm", "Fir"),
    *("Hazel", "Juniper", "Larch", "Lime", "Maple", "Oak", "Olive", "Pine", "Poplar", "Rowan", "Spruce", "Willow"),
)


def practice_names(count: int) -> tuple[list[str], list[str]]:
    """Return two lists of this many names that mean nothing after practice: Alpha, Beta, … and Acacia, Alder, …"""
    numbers = [""] + [str(number) for number in range(2, count // len(GREEK) + 2)]
    first, second = ([f"{name}{number}" for number in numbers for name in names][:count] for names in (GREEK, TREES))
    return first, second


class BeginMove(Move):
    """Begin the game after practice."""

    begin: Literal["now"] = Field(title=gettext_noop("Begin"))


BEGIN = Form(
    "begin",
    gettext_noop("Begin the game"),
    BeginMove,
    help=gettext_noop("From now on, every period counts. Numbers and names are different from those of practice."),
    tool="begin",
)


@dataclass(frozen=True)
class _PracticeChance:
    """The match's `Chance`, with names that the game itself does not use."""

    chance: Chance

    def draw(self, name: str, sample: Callable[[Random], T], *, known_to: Sequence[Role] | None = None) -> T:
        return self.chance.draw(f"practice_{name}", sample, known_to=known_to)


@cache
def _adapter(state: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(state)


class WithPractice(PeriodGame[C, S], Generic[C, S]):
    """An environment that can begin with practice (`practice` in its configuration).

    During practice, all methods delegate to `practice_game`, a game of those periods alone with its own state, which
    the match's state stores as plain data until the game begins.
    """

    rules_version = 2
    is_practice: bool = False
    """Whether this is the practice of another game: what holds for a last period then does not."""

    @cached_property
    def practice_game(self) -> WithPractice[C, S]:
        """The game of the practice periods."""
        overrides = {"periods": PRACTICE_PERIODS, "practice": False, **self.practice_config()}
        game = type(self)(self.config.model_copy(update=overrides), amounts=self.amounts)
        game.is_practice, game.first_period = True, self.first_period
        game.notepad = replace(self.notepad, help=_("Only you can read it. Your notes of practice are not kept."))
        return game

    def practice_config(self) -> Mapping[str, Json]:
        """Return the parameters that differ in practice, so that it reveals nothing about the real game."""
        return {"instance": None, "instance_seed": None}

    def with_tools(self) -> Self:
        game = super().with_tools()
        game.__dict__.pop("practice_game", None)  # it counts its periods as the game does
        return game

    def practice_state(self, state: S) -> S | None:
        """Return the state of practice until the game begins; None from then on, and without practice."""
        return None if state.rehearsal is None else _adapter(self.State).validate_python(state.rehearsal)

    def _with_practice_state(self, state: S, rehearsal: S) -> S:
        return replace(state, rehearsal=_adapter(self.State).dump_python(rehearsal, mode="json"))

    def begins_next(self, state: S) -> bool:
        """Return whether the practice periods are over and the game has not begun yet."""
        practice = self.practice_state(state)
        return practice is not None and self.practice_game.over(practice)

    def practises(self) -> bool:
        return self.config.practice

    def is_last(self, state: S) -> bool:
        """Return whether the current period is the last one that counts."""
        return not self.is_practice and self.period(state) == self.config.periods - 1

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> S:
        state = self.begin(chance)
        return (
            self._with_practice_state(state, self.practice_game.begin(_PracticeChance(chance)))
            if self.config.practice
            else state
        )

    def current(self, state: S) -> tuple[PeriodGame[C, S], S]:
        practice = self.practice_state(state)
        return (self, state) if practice is None else (self.practice_game, practice)

    def turn(self, state: S) -> Turn | None:
        return Turn(dict.fromkeys(self.roles(), (BEGIN,))) if self.begins_next(state) else super().turn(state)

    def refuse(self, state: S, role: Role, move: Any) -> str | None:
        return None if isinstance(move, BeginMove) else super().refuse(state, role, move)

    def warning(self, state: S, role: Role, move: Any) -> MoveWarning | None:
        return None if isinstance(move, BeginMove) else super().warning(state, role, move)

    def usual(self, state: S, role: Role) -> Mapping[str, Usual]:
        return {} if self.begins_next(state) else super().usual(state, role)

    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        practice = self.practice_state(state)
        if practice is None:
            return super().apply(state, moves, chance)
        if self.begins_next(state):
            return replace(state, rehearsal=None)
        return self._with_practice_state(state, self.practice_game.apply(practice, moves, _PracticeChance(chance)))

    def default(self, state: S, role: Role) -> MoveData:
        return {"begin": "now"} if self.begins_next(state) else super().default(state, role)

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        """Return each move's period, from 1, and "note" or "submission"; for practice, 0 and "practice"."""
        if not self.config.practice:
            return super().stages(moves)
        began = next((number for number, (_role, move) in enumerate(moves, start=1) if "begin" in move), len(moves))
        return [*[(0, "practice")] * began, *super().stages(moves[began:])]

    # ---- what players see --------------------------------------------------------------------------

    def template_variables(self, role: Role) -> Mapping[str, Json]:
        return {**super().template_variables(role), "practice": self.config.practice}

    def view(self, state: S, role: Role) -> View:
        if self.begins_next(state):
            return self.before_lookups(state, role)
        game, current = self.current(state)
        return super().view(state, role) if game is self else (self._band(current), *game.view(current, role))

    def before_lookups(self, state: S, role: Role) -> View:
        """Return the task, the last outcome, and what no tool returns; between practice and game, only the outcome."""
        game, current = self.current(state)
        if self.begins_next(state):
            outcome = game.screen.outcome(game, current, role)
            over = Text("status", _("Practice is over. This is what its last period gave:"))
            return (Text(PRACTICE_OVER, _("Practice – does not count"), tone="practice"), over, *outcome)
        if game is not self:
            return (self._band(current), *game.before_lookups(current, role))
        return super().before_lookups(state, role)

    def _band(self, practice: S) -> Text:
        """Return the label of a practice period."""
        words = _("Practice – does not count. Practice period {number} of {periods}.")
        number = self.practice_game.period(practice) + 1
        return Text("practice", words.format(number=number, periods=PRACTICE_PERIODS), tone="practice")

    def status(self, state: S) -> Text:
        """Return the current task; in the first period after practice, that periods count from now on."""
        status = super().status(state)
        if not self.config.practice or self.period(state) or self.told_as_published:
            return status
        return replace(status, body=f"{_('Practice is over: from now on, every period counts.')} {status.body}")

    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        (game, earlier), (later_game, later) = self.current(before), self.current(after)
        if game is self:
            return super().notices(before, moves, after, role)
        if later_game is self or game.period(later) == game.period(earlier):
            return ()
        if self.begins_next(after):
            return self.before_lookups(after, role)
        return (*game.notices(earlier, moves, later, role), self._band(later))

    def prospects(self, state: S, role: Role) -> tuple[Prospect, ...]:
        """Return the game so far (`so_far`); nothing counts during practice."""
        if self.practice_state(state) is not None:
            return (Prospect("", unknown=_("What you do in practice does not count.")),)
        if self.over(state):
            return (self.prospect(_("For this game"), role, self.payoffs(state)[role]),)
        return (self.so_far(state, role),)

    def so_far(self, state: S, role: Role) -> Prospect:
        """Return what the game would earn if it ended now, as far as the role may know."""
        raise NotImplementedError


class Benchmark(WithPractice[C, S], Generic[C, S]):
    """An environment whose payoff is a score: how close the play came to the best possible."""

    def score(self, state: S) -> float | None:
        """Return the score, 1 for the best possible; None if nothing is possible."""
        raise NotImplementedError

    def payoffs(self, state: S) -> Payoffs:
        return {AGENT: self.score(state) or 0.0}

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return the score, within [0, 1]."""
        return min(max(payoff, 0.0), 1.0)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        return (
            Prospect(_("if you reach half of the best possible result"), 0.5, 0.5),
            Prospect(_("if you reach the best possible result"), 1.0, 1.0),
        )


def closes_a_period(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return whether a step closed a period, practice or not: the feedback then depends on hidden information."""
    (game_before, earlier), (game_after, later) = game.current(before), game.current(after)
    return bool(game_before is game_after and game_after.period(later) > game_before.period(earlier))


def also_in_practice(*scripts: Script) -> dict[str, Script]:
    """Return scripts by the names of their functions; they play practice periods like any other."""

    def playing(script: Script) -> Script:
        def play(game: Any, state: Any, role: Role, rng: Random) -> MoveData:
            if game.begins_next(state):
                return dict(game.default(state, role))
            current, its_state = game.current(state)
            return script(current, its_state, role, rng)

        return play

    return {script.__name__: playing(script) for script in scripts}
