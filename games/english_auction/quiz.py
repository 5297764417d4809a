"""The question after the game: did players notice that dropping out is final?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions() -> tuple[Question, ...]:
    """Return a question on whether a bidder can return after dropping out."""
    never = _("No, never")
    return (
        Question(
            key="return",
            prompt=_("Can a bidder who has dropped out bid again later?"),
            options=(
                _("Yes, on their next turn"),
                _("Yes, with a bid twice as high"),
                _("Only if nobody else is left"),
                never,
            ),
            answer=never,
        ),
    )
