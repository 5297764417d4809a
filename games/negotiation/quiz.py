"""Questions before play, and the one after it: do players notice what the product is worth to them?"""

from __future__ import annotations

from collections.abc import Callable

from games.glee import amount_question
from games.interface import Question
from games.words import gettext as _

SPARE_MULTIPLES = (1.5, 0.8, 1.2, 8.0, 16.0, 32.0)


def worth(own_value: float, shown: Callable[[float], str]) -> Question:
    """Return a question with four options that depend only on the player's own value."""
    return amount_question(
        "own_value",
        _("What is the product worth to you?"),
        own_value,
        shown,
        SPARE_MULTIPLES,
        seed="negotiation/quiz",
        explanation=_("To you, the product is worth {amount}, whatever the price."),
    )


def earnings(own_value: float, shown: Callable[[float], str], *, sells: bool) -> Question:
    """Return a question on what a price a quarter better than the player's own value earns."""
    gain = own_value / 4
    price = own_value + gain if sells else own_value - gain
    if sells:
        prompt = _("You sell the product for {price}. How much do you earn?")
        why = _("You earn the price minus what the product is worth to you: {price} minus {value} is {gain}.")
    else:
        prompt = _("You buy the product for {price}. How much do you earn?")
        why = _("You earn what the product is worth to you minus the price: {value} minus {price} is {gain}.")
    amounts = {"price": shown(price), "value": shown(own_value), "gain": shown(gain)}
    wrong = (shown(price), shown(own_value), shown(2 * gain))
    return Question.with_answer(
        "earnings", prompt.format(**amounts), shown(gain), *wrong, explanation=why.format(**amounts)
    )


def rejecting(rounds: int | None) -> Question:
    """Return a question on what follows a rejected price."""
    prompt = (
        _("What happens when a price is rejected?")
        if rounds == 1
        else _("What happens when the first price is rejected?")
    )
    ends, goes_on = _("The game ends without a trade"), _("The player who rejected names the next price")
    again, value = _("The same player names another price"), _("The product is sold at what it is worth to the seller")
    if rounds == 1:
        why = _("There is only one round: without an agreement in it, there is no trade.")
        return Question.with_answer("rejecting", prompt, ends, goes_on, again, value, explanation=why)
    why = _("After a rejection, the next round begins, and the player who rejected names the price.")
    return Question.with_answer("rejecting", prompt, goes_on, ends, again, value, explanation=why)
