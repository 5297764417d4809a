"""A match as a spectator sees it: what is public now, and what each seat sees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from games.errors import GameError
from matches.models import Match
from matches.picturing import seat_class
from matches.screens import render_watched


@dataclass(frozen=True)
class Watched:
    """A match at one moment.

    Attributes:
        public: what spectators may see, as HTML; empty if the game has no such view.
        seats: role, title, classes of the colour and mark, player, and whether that is a participant.
        last: the newest event's number; 0 if it cannot be shown.
        problem: why it cannot be shown; usually empty.
    """

    match: Match
    public: str = ""
    seats: list[dict[str, Any]] = field(default_factory=list)
    last: int = 0
    problem: str = ""

    @property
    def live(self) -> bool:
        return self.match.status == Match.Status.LIVE

    @property
    def version(self) -> str:
        """Return a value that changes only when something shown changes."""
        content = (self.match.status, self.last, self.public, self.problem, self.seats)
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def watched(match: Match) -> Watched:
    """Return the match as it is now, at a cost that doesn't depend on the match's length."""
    try:
        play = match.play()
        game = play.game
        seats_by_role = {seat.role: seat for seat in match.seats.all()}
        seats = [
            {
                "role": role,
                "title": game.role_title(role),
                "style": seat_class(game, role),
                "who": str(seats_by_role[role].enrolment or seats_by_role[role].label or seats_by_role[role].agent),
                "person": seats_by_role[role].enrolment is not None,
            }
            for role in game.roles()
            if role in seats_by_role
        ]
        return Watched(match, render_watched(play, absences=match.absences), seats, play.last)
    except GameError as error:
        return Watched(match, problem=_("The current rules cannot show this match: {reason}").format(reason=error))
