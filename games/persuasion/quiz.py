"""The question after the game: did players notice what a product cost?"""

from __future__ import annotations

from collections.abc import Callable

from games.glee import amount_question
from games.interface import Question
from games.words import gettext as _

SPARE_MULTIPLES = (8.0, 16.0, 32.0, 1e3, 1e6)


def questions(price: float, shown: Callable[[float], str]) -> tuple[Question, ...]:
    """Return one question with four options that depend only on the price."""
    return (
        amount_question("price", _("What did a product cost?"), price, shown, SPARE_MULTIPLES, seed="persuasion/quiz"),
    )
