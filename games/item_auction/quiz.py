"""The questions after the game: did players notice losses, withdrawals and their own budget?"""

from __future__ import annotations

from collections.abc import Callable

from games.interface import Question
from games.words import gettext as _

MULTIPLES = (0.5, 1, 2, 4)
"""The budgets offered as answers, as multiples of the correct one."""


def questions(budget: int, money: Callable[[float], str]) -> tuple[Question, ...]:
    """Return three questions about the rules and the bidder's own budget."""
    final = _("No: withdrawing is final for that item")
    return (
        Question.with_answer(
            "overpaying",
            _("You buy an item for more than it is really worth. What is your profit on it?"),
            _("Negative: you lose the difference"),
            _("Zero"),
            _("Your estimate minus the price"),
            _("Your profit does not change"),
        ),
        Question(
            key="withdrawing",
            prompt=_("You have withdrawn from an item. Can you bid on it again?"),
            options=(
                _("Yes, in the next round"),
                _("Yes, if nobody else bids"),
                final,
                _("Yes, but only once"),
            ),
            answer=final,
        ),
        Question(
            key="budget",
            prompt=_("How much money did you have at the beginning of the auction?"),
            options=tuple(money(budget * multiple) for multiple in MULTIPLES),
            answer=money(budget),
        ),
    )
