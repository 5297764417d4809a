"""Questions before play: do players know what counts, when withdrawing is final, and their own budget?"""

from __future__ import annotations

from collections.abc import Callable

from games.interface import Question
from games.words import gettext as _

MULTIPLES = (0.5, 1, 2, 4)
"""The budgets offered as answers, as multiples of the correct one."""


def questions(budget: int, money: Callable[[float], str], *, counts_items: bool) -> tuple[Question, ...]:
    """Return three questions about the rules, the bidder's aim and their own budget."""
    final = _("No: withdrawing is final for that item")
    if counts_items:
        aim = Question.with_answer(
            "aim",
            _("What counts for your result?"),
            _("How many items you buy"),
            _("How much money you have left"),
            _("What the items are truly worth"),
            explanation=_("Your aim is to buy as many items as you can. It does not matter what you pay for them."),
        )
    else:
        aim = Question.with_answer(
            "overpaying",
            _("You buy an item for more than it is really worth. What is your profit on it?"),
            _("Negative: you lose the difference"),
            _("Zero"),
            _("Your estimate minus the price"),
            _("Your profit does not change"),
            explanation=_("Your profit on an item is its true value minus the price you pay."),
        )
    return (
        aim,
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
            explanation=_("A bidder who withdraws is out for that item, and back in for the next one."),
        ),
        Question(
            key="budget",
            prompt=_("How much money do you have for the whole auction?"),
            options=tuple(money(budget * multiple) for multiple in MULTIPLES),
            answer=money(budget),
            explanation=_(
                "You have {budget} for all items together: what you spend on one, you cannot spend again."
            ).format(budget=money(budget)),
        ),
    )
