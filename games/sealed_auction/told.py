"""What a bidder is told as Economics Arena tells its models: its own value, and earlier runs as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from games.interface import Role, Text, Told, View
from games.sealed_auction.state import SealedAuctionCore as SealedAuction
from games.sessions import Session
from games.words import gettext as _
from games.words import rounded


def view(game: SealedAuction, state: Session, role: Role) -> View:
    """Return its own value and, in later runs, everybody's bids, with the values if they are revealed."""
    if game.over(state):
        return ()
    value = Text("value", _("The item's value to you is {value} units.").format(value=rounded(game.value(state, role))))
    if not game.visible(state):
        return (value,)
    bids: dict[str, Any] = {game.role_title(seat): game.shown_numbers(state, seat) for seat in game.roles()}
    if game.reveals_values:
        bids = {
            game.role_title(seat): {"value": round(worth, 2), "bids": bids[game.role_title(seat)]}
            for seat, worth in zip(game.roles(), state.values, strict=True)
        }
    words = _(
        "The auction has been held {times} times so far, with the same assets and values. Everybody's bids: {bids}. "
        "You may adjust yours."
    )
    return value, Text("history", words.format(times=len(state.runs), bids=json.dumps(bids)))


def notices(game: SealedAuction, before: Session, moves: Mapping[Role, Any], after: Session, role: Role) -> View:
    """Return the value and the earlier runs: every prompt contains everything."""
    return view(game, after, role)


TOLD = Told(view, notices)
