"""Matches and views in a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.interface import Block, Facts, Game, MoveData, Role
from games.play import Play, learnt, script_move, start, submit


def played(game: Game[Any, Any], *moves: MoveData, seed: int = 1) -> Play:
    """Return the play after these moves, each by the first role that is asked for one."""
    play, _events = start(game, seed)
    for move in moves:
        play, _events = submit(play, play.waiting_for()[0], move)
    return play


def finished(game: Game[Any, Any], *scripts: str, seed: int = 1) -> Play:
    """Return the end of a match between these scripts, one per seat; a single one takes every seat."""
    roles = game.roles()
    seats = dict(zip(roles, scripts * len(roles) if len(scripts) == 1 else scripts, strict=True))
    play, _events = start(game, seed)
    while not play.over:
        role = play.waiting_for()[0]
        play, _events = submit(play, role, script_move(play, role, seats[role]))
    return play


def payoff_after(play: Play, role: Role, move: MoveData | None = None) -> float | None:
    """Return the role's payoff if it makes `move` (None: the equilibrium's) and all other moves are in equilibrium."""
    while not play.over:
        mover = play.waiting_for()[0]
        play, _events = submit(play, mover, move or script_move(play, mover, "equilibrium"))
        move = None
    return play.payoffs()[role]


def blocks(play: Play, role: Role) -> dict[str, Block]:
    """Return the role's view, by key."""
    return {block.key: block for block in play.view(role)}


def shown(block: Block | None) -> Mapping[str, str]:
    """Return the facts of a block as they are shown, by key."""
    assert isinstance(block, Facts)
    return {fact.key: fact.shown for fact in block.facts}


def notices(game: Game[Any, Any], role: Role, *moves: MoveData) -> dict[str, Block]:
    """Return the notices that the role gets after the last of these moves, by key."""
    before, after = played(game, *moves[:-1]), played(game, *moves)
    return {block.key: block for block in learnt(before, before.waiting_for()[0], moves[-1], after, role)}
