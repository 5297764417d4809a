"""The question after the game: did players notice what they learn after each period?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions(rival: bool) -> tuple[Question, ...]:
    """Return a question on what a firm learns about its rival or, without one, about its sales."""
    if rival:
        price = _("Only its price")
        return (
            Question(
                "learns",
                _("What did you learn about the other firm after each period?"),
                (price, _("Its price and its profit"), _("Its costs"), _("Nothing")),
                price,
            ),
        )
    sales = _("How much you sold, and your profit")
    return (
        Question(
            "learns",
            _("What did you learn after each period?"),
            (sales, _("How many customers there are"), _("The best price"), _("Nothing")),
            sales,
        ),
    )
