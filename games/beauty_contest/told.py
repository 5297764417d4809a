"""What a player is told as Economics Arena tells its models: earlier runs as data, and no targets or winners."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from games.beauty_contest.state import BeautyContestCore as BeautyContest
from games.interface import Role, Text, Told, View
from games.sessions import Session
from games.words import gettext as _


def view(game: BeautyContest, state: Session, role: Role) -> View:
    """Return everybody's numbers in the earlier runs that are shown."""
    if not game.visible(state) or game.over(state):
        return ()
    numbers = {game.role_title(seat): game.shown_numbers(state, seat) for seat in game.roles()}
    words = _("The game has been played {times} times so far. Everybody's numbers: {numbers}. You may adjust yours.")
    return (Text("history", words.format(times=len(state.runs), numbers=json.dumps(numbers))),)


def notices(game: BeautyContest, before: Session, moves: Mapping[Role, Any], after: Session, role: Role) -> View:
    """Return the earlier runs: every prompt contains everything."""
    return view(game, after, role)


TOLD = Told(view, notices)
