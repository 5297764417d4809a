"""What a bargainer is told as GLEE's program tells its models: rounds, offers and answers, and no computed amounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.bargaining.state import BargainingCore as Bargaining
from games.bargaining.state import Rounds
from games.glee import other
from games.interface import Block, Role, Said, Talk, Text, Told, View
from games.words import gettext as _
from games.words import percent


def view(game: Bargaining, state: Rounds, role: Role) -> View:
    """Return the round and, if there is one, the offer to answer."""
    turn, offer = game.turn(state), state.on_table
    if turn is None or role not in turn.forms:
        return ()
    return _offer(game, state, role) if offer is not None and offer.by != role else (_round(game, state),)


def notices(game: Bargaining, before: Rounds, moves: Mapping[Role, Any], after: Rounds, role: Role) -> View:
    """Return a new offer, or a rejection and the next round."""
    ((mover, _move),) = moves.items()
    if game.turn(after) is None:
        return ()
    if after.on_table:
        return () if mover == role else _offer(game, after, role)
    rejected = _("{name} rejected your offer.").format(name=game.role_title(mover))
    return (_round(game, after),) if mover == role else (Text("answer", rejected),)


def _round(game: Bargaining, state: Rounds) -> Text:
    return Text("round", _("Round {number}.").format(number=game.round_of(state)))


def _offer(game: Bargaining, state: Rounds, role: Role) -> tuple[Block, ...]:
    """Return the round, what has been lost so far, and the offer."""
    offer, number = state.on_table, game.round_of(state)
    assert offer is not None
    name = game.role_title(offer.by)
    words = _("{name} offers you {yours} and keeps {theirs}.").format(
        name=name, yours=game.money(offer.gain(role)), theirs=game.money(offer.gain(offer.by))
    )
    message = (Talk("message", "", (Said(name, offer.message),)),) if offer.message else ()
    return (_round(game, state), *_losses(game, number, role), Text("offer", words), *message)


def _losses(game: Bargaining, number: int, role: Role) -> tuple[Block, ...]:
    """Return how much value money has lost since the first round; the other's loss only if the role may know it."""
    lost = 1 - game.worth(role, number)
    words = (
        [_("Money is now worth {lost} less to you than in the first round.").format(lost=percent(lost))] if lost else []
    )
    if game.knows_other() and (others := 1 - game.worth(other(role), number)):
        words.append(
            _("To {name}, it is worth {lost} less.").format(name=game.role_title(other(role)), lost=percent(others))
        )
    return (Text("lost", " ".join(words)),) if words else ()


TOLD = Told(view, notices)
