"""Questions before play, and the one after it: do players notice what a product costs?"""

from __future__ import annotations

from collections.abc import Callable

from games.glee import amount_question
from games.interface import Question
from games.words import gettext as _

SPARE_MULTIPLES = (8.0, 16.0, 32.0, 1e3, 1e6)


def cost(price: float, shown: Callable[[float], str]) -> Question:
    """Return a question with four options that depend only on the price."""
    return amount_question(
        "price",
        _("What does a product cost?"),
        price,
        shown,
        SPARE_MULTIPLES,
        seed="persuasion/quiz",
        explanation=_("The price of every product is {amount}."),
    )


def truth() -> Question:
    """Return a question on whether the seller's words are true."""
    return Question.with_answer(
        "truth",
        _("Is what the seller says about a product always true?"),
        _("No: it may be true or not"),
        _("Yes, always"),
        _("Only about products of high quality"),
        explanation=_("Sellers see the quality and may say what they like about it."),
    )


def selling(price: float, shown: Callable[[float], str]) -> Question:
    """Return a question on what the seller earns by a product of low quality."""
    return Question.with_answer(
        "low_quality",
        _("The buyer buys a product of low quality from you. What do you earn?"),
        shown(price),
        _("Nothing"),
        shown(price / 2),
        _("You lose {amount}").format(amount=shown(price)),
        explanation=_("You earn {price} for every product that is bought, whatever its quality.").format(
            price=shown(price)
        ),
    )


def buying(price: float, low_worth: float, shown: Callable[[float], str]) -> Question:
    """Return a question on what the buyer loses by a product of low quality."""
    lost = shown(price - low_worth)
    return Question.with_answer(
        "low_quality",
        _("You buy a product, and its quality is low. What happens?"),
        _("You lose {amount}").format(amount=lost),
        _("You earn nothing and lose nothing"),
        _("You get your money back"),
        explanation=_("It costs {price} and is worth only {worth} to you: you lose {amount}.").format(
            price=shown(price), worth=shown(low_worth), amount=lost
        ),
    )
