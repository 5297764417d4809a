"""A practice period before an environment of periods: played on an instance of its own, and counting for nothing.

It belongs to the match's log like every other move; exports mark its decisions with the phase "practice" and round 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from random import Random
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from games.interface import (
    Block,
    Chance,
    Json,
    MoveData,
    Payoffs,
    Prospect,
    Role,
    Script,
    Text,
    Tool,
    Turn,
    View,
)
from games.periods import AGENT, C, PeriodGame, S
from games.words import gettext as _

T = TypeVar("T")


@dataclass(frozen=True)
class _OfPractice:
    """The match's random draws, under names that the game itself does not draw."""

    chance: Chance

    def draw(self, name: str, sample: Callable[[Random], T], *, known_to: Sequence[Role] | None = None) -> T:
        return self.chance.draw(f"practice_{name}", sample, known_to=known_to)


@cache
def _adapter(state: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(state)


class WithPractice(PeriodGame[C, S], Generic[C, S]):
    """An environment that can begin with a practice period (`practice` in its configuration).

    While it lasts everything that is asked of the game is answered by `rehearser`, the game of that one period, from
    its own state, which the match's state keeps as plain data.
    """

    @cached_property
    def rehearser(self) -> WithPractice[C, S]:
        """The game of the practice period."""
        own = {"periods": 1, "practice": False, **self.practised()}
        return type(self)(self.config.model_copy(update=own), amounts=self.amounts)

    def practised(self) -> Mapping[str, Json]:
        """What the configuration of the practice period has of its own, so that it tells nothing of the game's."""
        return {"instance": None, "instance_seed": None}

    def rehearsed(self, state: S) -> S | None:
        """The state of the practice period, also when it is over; None where there is none."""
        return None if state.rehearsal is None else _adapter(self.State).validate_python(state.rehearsal)

    def rehearsing(self, state: S) -> S | None:
        """The state of the practice period while it lasts."""
        now = self.rehearsed(state)
        return None if now is None or self.rehearser.over(now) else now

    def _kept(self, state: S, rehearsal: S) -> S:
        return replace(state, rehearsal=_adapter(self.State).dump_python(rehearsal, mode="json"))

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> S:
        state = self.begin(chance)
        return self._kept(state, self.rehearser.begin(_OfPractice(chance))) if self.config.practice else state

    def turn(self, state: S) -> Turn | None:
        now = self.rehearsing(state)
        return super().turn(state) if now is None else self.rehearser.turn(now)

    def refuse(self, state: S, role: Role, move: Any) -> str | None:
        now = self.rehearsing(state)
        return super().refuse(state, role, move) if now is None else self.rehearser.refuse(now, role, move)

    def apply(self, state: S, moves: Mapping[Role, Any], chance: Chance) -> S:
        now = self.rehearsing(state)
        if now is None:
            return super().apply(state, moves, chance)
        return self._kept(state, self.rehearser.apply(now, moves, _OfPractice(chance)))

    def default(self, state: S, role: Role) -> MoveData:
        now = self.rehearsing(state)
        return super().default(state, role) if now is None else self.rehearser.default(now, role)

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        """The period, from 1, and whether it is a note or the submission; of practice 0 and "practice"."""
        if not self.config.practice:
            return super().stages(moves)
        found = ((period - 1, phase) for period, phase in super().stages(moves))
        return [(period, phase if period else "practice") for period, phase in found]

    # ---- looking -----------------------------------------------------------------------------------

    def tools(self, state: S, role: Role) -> tuple[Tool, ...]:
        now = self.rehearsing(state)
        return super().tools(state, role) if now is None else self.rehearser.tools(now, role)

    def words_for(self, role: Role) -> Mapping[str, Json]:
        return {**super().words_for(role), "practice": self.config.practice}

    def view(self, state: S, role: Role) -> View:
        now = self.rehearsed(state)
        if now is None or self.period(state):
            return super().view(state, role)
        if self.rehearser.over(now):
            begins = _("The practice period is over and counts for nothing. From now on every period counts.")
            first, *others = super().view(state, role)
            return (_after(begins, first), *self.rehearser.screen.outcome(self.rehearser, now, role), *others)
        first, *others = self.rehearser.view(now, role)
        return (_after(_("This is a practice period: it counts for nothing."), first), *others)

    def notices(self, before: S, moves: Mapping[Role, Any], after: S, role: Role) -> View:
        now, then = self.rehearsing(before), self.rehearsed(after)
        if now is None or then is None:
            return super().notices(before, moves, after, role)
        told = self.rehearser.notices(now, moves, then, role)
        return (*told, Text("practice", _("That was practice and counts for nothing."))) if told else ()


class Benchmark(WithPractice[C, S], Generic[C, S]):
    """An environment with a score that says how close one came to the best possible; it is the payoff and pays."""

    def score(self, state: S) -> float | None:
        """1 is the best possible; None where nothing is."""
        raise NotImplementedError

    def payoffs(self, state: S) -> Payoffs:
        return {AGENT: self.score(state) or 0.0}

    def bonus_share(self, role: Role, payoff: float) -> float:
        """The score, within [0, 1]."""
        return min(max(payoff, 0.0), 1.0)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        return (
            Prospect(_("if you reach half of what is possible"), 0.5, 0.5),
            Prospect(_("if you reach all of it"), 1.0, 1.0),
        )


def _after(words: str, status: Block) -> Text:
    assert isinstance(status, Text)
    return Text(status.key, f"{words} {status.body}", tone="notice")


def closes_a_period(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Whether a step closed a period, of practice or not: its feedback depends on what is hidden."""
    closed = game.rehearsing(before) is not None and game.rehearsing(after) is None
    return closed or game.period(after) > game.period(before)


def also_in_practice(scripts: Mapping[str, Script]) -> dict[str, Script]:
    """Scripted players that play a practice period as they play any other."""

    def playing(script: Script) -> Script:
        def play(game: Any, state: Any, role: Role, rng: Random) -> MoveData:
            now = game.rehearsing(state)
            return script(game, state, role, rng) if now is None else script(game.rehearser, now, role, rng)

        return play

    return {name: playing(script) for name, script in scripts.items()}
