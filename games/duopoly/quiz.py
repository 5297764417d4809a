"""What a firm should have understood: what it learns after a period."""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions(rival: bool) -> tuple[Question, ...]:
    """What is learnt of the rival; alone, of the own sales."""
    if rival:
        price = _("Its price alone")
        return (
            Question(
                "learns",
                _("What did you learn of the other firm after each period?"),
                (price, _("Its price and its profit"), _("Its costs"), _("Nothing")),
                price,
            ),
        )
    sales = _("How much was sold, and the profit")
    return (
        Question(
            "learns",
            _("What did you learn after each period?"),
            (sales, _("How many customers there are"), _("The best price"), _("Nothing")),
            sales,
        ),
    )
