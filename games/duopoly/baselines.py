"""Scripts for the duopoly. `nash`, `collusive` and `best_reply` know the market."""

from __future__ import annotations

from random import Random

from games.duopoly.state import DuopolyCore as Duopoly
from games.duopoly.state import History
from games.interface import MoveData, Role
from games.practice import also_in_practice


def _price_move(price: float | None, game: Duopoly) -> MoveData:
    """Return a move with a reference price; the monopoly price if there is no rival."""
    return {"price": game.references.highest if price is None else price}


def nash(game: Duopoly, state: History, role: Role, rng: Random) -> MoveData:
    """Set the price of the one-period equilibrium."""
    return _price_move(game.references.nash_price, game)


def collusive(game: Duopoly, state: History, role: Role, rng: Random) -> MoveData:
    """Set the price that maximises joint profit."""
    return _price_move(game.references.collusive_price, game)


def best_reply(game: Duopoly, state: History, role: Role, rng: Random) -> MoveData:
    """Set the best reply to the rival's last price; start with the equilibrium price."""
    if not state.prices or not game.config.rival:
        return nash(game, state, role, rng)
    rival = next(other for other in game.roles() if other != role)
    return {"price": game.market.best_reply((state.prices[-1][rival],))}


def tit_for_tat(game: Duopoly, state: History, role: Role, rng: Random) -> MoveData:
    """Set the rival's last price; start with half the advised price, and keep that price without a rival."""
    if not state.prices or not game.config.rival:
        return game.default(state, role)
    rival = next(other for other in game.roles() if other != role)
    return {"price": state.prices[-1][rival]}


def random(game: Duopoly, state: History, role: Role, rng: Random) -> MoveData:
    """Set a random price up to the advised one."""
    return {"price": rng.uniform(0, game.shown_advice)}


SCRIPTS = also_in_practice(nash, collusive, best_reply, tit_for_tat, random)
