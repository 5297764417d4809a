"""Questions before play: do players know that dropping out is final, and what the winner pays?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions() -> tuple[Question, ...]:
    """Return a question on whether a bidder can return after dropping out, and one on the price."""
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
            explanation=_("A bidder who drops out is out for good."),
        ),
        Question.with_answer(
            "price",
            _("What does the winner pay?"),
            _("Their own last bid"),
            _("The second-highest bid"),
            _("What the item is worth to them"),
            _("Nothing"),
            explanation=_("The bidder with the standing bid gets the item and pays that bid."),
        ),
    )
