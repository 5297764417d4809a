"""Questions before play: do players know how a profit is made up, and what they learn after each period?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions(rival: bool) -> tuple[Question, ...]:
    """Return a question on profit, and one on what a firm learns about its rival or, without one, about its sales."""
    profit = Question.with_answer(
        "profit",
        _("Each unit costs you 2. At a price of 6, you sell 10 units. What is your profit?"),
        "40",
        "60",
        "20",
        "80",
        explanation=_("You earn 6 - 2 = 4 on each unit: 10 × 4 = 40."),
    )
    if rival:
        learns = Question.with_answer(
            "learns",
            _("What do you learn about the other firm after each period?"),
            _("Only its price"),
            _("Its price and its profit"),
            _("Its costs"),
            _("Nothing"),
            explanation=_("After every period, you see the other firm's price, but not its profit."),
        )
    else:
        learns = Question.with_answer(
            "learns",
            _("What do you learn after each period?"),
            _("How much you sold, and your profit"),
            _("How many customers there are"),
            _("The best price"),
            _("Nothing"),
            explanation=_("After every period, you see how much you sold and the profit that it made."),
        )
    return profit, learns
