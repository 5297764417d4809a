"""The question after the game: did the player notice that dropping out is for good?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions() -> tuple[Question, ...]:
    """Whether one may return after dropping out."""
    never = _("No, never")
    return (
        Question(
            key="return",
            prompt=_("May a bidder who has dropped out bid again later?"),
            options=(
                _("Yes, at its next turn"),
                _("Yes, with a bid twice as high"),
                _("Only if nobody else is left"),
                never,
            ),
            answer=never,
        ),
    )
