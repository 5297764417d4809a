"""A practice period before an environment of periods: it has its own instance and does not count.

Its moves are in the match's log like all others; exports mark its decisions with the phase "practice" and round 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from random import Random
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from games.interface import Block, Chance, Json, MoveData, Payoffs, Prospect, Role, Script, Text, View
from games.periods import AGENT, C, PeriodGame, S
from games.words import gettext as _

T = TypeVar("T")


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
    """An environment that can begin with a practice period (`practice` in its configuration).

    During practice, all methods delegate to `practice_game`, a game of that one period with its own state, which
    the match's state stores as plain data.
    """

    is_practice: bool = False
    """Whether this is the practice period of another game: what holds for a last period then does not."""

    @cached_property
    def practice_game(self) -> WithPractice[C, S]:
        """The game of the practice period."""
        overrides = {"periods": 1, "practice": False, **self.practice_config()}
        game = type(self)(self.config.model_copy(update=overrides), amounts=self.amounts)
        game.is_practice = True
        return game

    def practice_config(self) -> Mapping[str, Json]:
        """Return the parameters that differ in the practice period, so that it reveals nothing about the real game."""
        return {"instance": None, "instance_seed": None}

    def practice_state(self, state: S) -> S | None:
        """Return the state of the practice period, even when it is over; None if there is none."""
        return None if state.rehearsal is None else _adapter(self.State).validate_python(state.rehearsal)

    def active_practice_state(self, state: S) -> S | None:
        """Return the state of the practice period while it lasts; None otherwise."""
        practice = self.practice_state(state)
        return None if practice is None or self.practice_game.over(practice) else practice

    def _with_practice_state(self, state: S, rehearsal: S) -> S:
        return replace(state, rehearsal=_adapter(self.State).dump_python(rehearsal, mode="json"))

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
        practice = self.active_practice_state(state)
        return (self, state) if practice is None else (self.practice_game, practice)

    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        practice = self.active_practice_state(state)
        if practice is None:
            return super().apply(state, moves, chance)
        return self._with_practice_state(state, self.practice_game.apply(practice, moves, _PracticeChance(chance)))

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        """Return each move's period, from 1, and "note" or "submission"; for practice, 0 and "practice"."""
        if not self.config.practice:
            return super().stages(moves)
        stages = ((period - 1, phase) for period, phase in super().stages(moves))
        return [(period, phase if period else "practice") for period, phase in stages]

    # ---- what players see --------------------------------------------------------------------------

    def template_variables(self, role: Role) -> Mapping[str, Json]:
        return {**super().template_variables(role), "practice": self.config.practice}

    def view(self, state: S, role: Role) -> View:
        practice = self.practice_state(state)
        if practice is None or self.period(state):
            return super().view(state, role)
        if self.practice_game.over(practice):
            announcement = _("The practice period is over and does not count. From now on, every period counts.")
            status, *blocks = super().view(state, role)
            return (
                _with_text_before(announcement, status),
                *self.practice_game.screen.outcome(self.practice_game, practice, role),
                *blocks,
            )
        status, *blocks = self.practice_game.view(practice, role)
        return (_with_text_before(_("This is a practice period: it does not count."), status), *blocks)

    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        practice, finished = self.active_practice_state(before), self.practice_state(after)
        if practice is None or finished is None:
            return super().notices(before, moves, after, role)
        if not self.practice_game.over(finished):
            return ()
        outcome = self.practice_game.screen.outcome(self.practice_game, finished, role)
        return (*outcome, Text("practice", _("That was practice and does not count.")))

    def prospects(self, state: S, role: Role) -> tuple[Prospect, ...]:
        """Return the game so far (`so_far`); nothing counts during practice."""
        if self.active_practice_state(state) is not None:
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


def _with_text_before(words: str, status: Block) -> Text:
    assert isinstance(status, Text)
    return Text(status.key, f"{words} {status.body}", tone="notice")


def closes_a_period(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return whether a step closed a period, practice or not: the feedback then depends on hidden information."""
    closed = game.active_practice_state(before) is not None and game.active_practice_state(after) is None
    return closed or game.period(after) > game.period(before)


def also_in_practice(*scripts: Script) -> dict[str, Script]:
    """Return scripts by the names of their functions; they play a practice period like any other."""

    def playing(script: Script) -> Script:
        def play(game: Any, state: Any, role: Role, rng: Random) -> MoveData:
            current, its_state = game.current(state)
            return script(current, its_state, role, rng)

        return play

    return {script.__name__: playing(script) for script in scripts}
