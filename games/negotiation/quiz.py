"""The question after the game: did players notice what the product was worth to them?"""

from __future__ import annotations

from collections.abc import Callable

from games.glee import amount_question
from games.interface import Question
from games.words import gettext as _

SPARE_MULTIPLES = (1.5, 0.8, 1.2, 8.0, 16.0, 32.0)


def questions(own_value: float, shown: Callable[[float], str]) -> tuple[Question, ...]:
    """Return one question with four options that depend only on the player's own value."""
    prompt = _("What was the product worth to you?")
    return (amount_question("own_value", prompt, own_value, shown, SPARE_MULTIPLES, seed="negotiation/quiz"),)
