"""A match as somebody watches it who plays no seat: what is public of it now, and what each seat sees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from games.errors import GameError
from matches.models import Match
from matches.screens import render_watched


@dataclass(frozen=True)
class Watched:
    """A match at one moment.

    Attributes:
        public: what anybody may know of it, as HTML; empty where its game has no such view.
        seats: role, title, who plays it, whether that is a person.
        last: the newest event's number; 0 where it cannot be shown.
        problem: why it cannot be shown; else empty.
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
        """The same for as long as nothing that is shown changes."""
        said = (self.match.status, self.last, self.public, self.problem, self.seats)
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def watched(match: Match) -> Watched:
    """The match as it is now; it costs the same however long the match is."""
    try:
        play = match.play()
        game = play.game
        sitting = {seat.role: seat for seat in match.seats.all()}
        seats = [
            {
                "role": role,
                "title": game.role_title(role),
                "who": str(sitting[role].enrolment or sitting[role].label or sitting[role].agent),
                "person": sitting[role].enrolment is not None,
            }
            for role in game.roles()
            if role in sitting
        ]
        return Watched(match, render_watched(play, fates=match.fates), seats, play.last)
    except GameError as error:
        return Watched(match, problem=_("The present rules cannot show this match: {reason}").format(reason=error))
