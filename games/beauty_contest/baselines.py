"""Scripts for the beauty contest, where no seat has private information."""

from __future__ import annotations

from random import Random

from games.beauty_contest.state import BeautyContestCore as BeautyContest
from games.interface import MoveData, Role, Script
from games.scripts import by_name
from games.sessions import Session


def random(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
    """Choose a number within the limits, all equally likely."""
    return {"answer": rng.uniform(0, game.config.upper)}


def rational(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
    """Choose the equilibrium: 0."""
    return {"answer": 0.0}


def level(k: int) -> Script:
    """Think k steps ahead of a player who chooses half of the upper limit (Nagel 1995)."""

    def move(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
        return {"answer": 0.5 * game.config.upper * game.config.fraction**k}

    return move


def adaptive(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
    """Choose the fraction of the last visible mean; without one, play like `level_1`."""
    for index in reversed(game.visible(state)):
        if (target := game.target(state.runs[index])) is not None:
            return {"answer": target}
    return level(1)(game, state, role, rng)


def fouler(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
    """Choose a number above the limit, or the limit itself if fouls are refused."""
    return {"answer": game.config.upper + (1 if game.config.fouls == "count" else 0)}


def no_answer(game: BeautyContest, state: Session, role: Role, rng: Random) -> MoveData:
    """Choose no number."""
    return {"answer": None}


LEVELS = {f"level_{k}": level(k) for k in (1, 2, 3, 4)}
SCRIPTS = by_name(random, rational, **LEVELS, adaptive=adaptive, fouler=fouler, no_answer=no_answer)
