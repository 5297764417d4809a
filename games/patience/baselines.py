"""Scripts for patience."""

from __future__ import annotations

from math import exp
from random import Random as Rng

from games.interface import Game, MoveData, Role
from games.patience.rates import NOW, YEARS
from games.patience.state import Answers, PatienceConfig
from games.scripts import by_name

Patience = Game[PatienceConfig, Answers]

RATE = 0.05


def _choice_move(state: Answers, later: bool) -> MoveData:
    question = state.questions[len(state.choices)]
    return {"choice": "A" if question.now_first != later else "B"}


def patient(game: Patience, state: Answers, role: Role, rng: Rng) -> MoveData:
    """Always choose the later money."""
    return _choice_move(state, later=True)


def impatient(game: Patience, state: Answers, role: Role, rng: Rng) -> MoveData:
    """Always choose the money now."""
    return _choice_move(state, later=False)


def five_percent(game: Patience, state: Answers, role: Role, rng: Rng) -> MoveData:
    """Choose later if it is worth more at five percent per year."""
    future_value = NOW * exp(RATE * YEARS[game.config.horizon])
    return _choice_move(state, later=state.questions[len(state.choices)].amount > future_value)


def random(game: Patience, state: Answers, role: Role, rng: Rng) -> MoveData:
    """Toss a coin between A and B."""
    return {"choice": rng.choice(("A", "B"))}


def silent(game: Patience, state: Answers, role: Role, rng: Rng) -> MoveData:
    """Never give a readable answer."""
    return {"choice": "none"}


SCRIPTS = by_name(patient, impatient, five_percent, random, silent)
