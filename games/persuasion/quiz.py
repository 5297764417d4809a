"""The question after the game: did players notice what a product cost?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from games.interface import Question
from games.words import gettext as _

MULTIPLES = (0.25, 0.5, 2.0, 4.0)
"""Wrong answers, as multiples of the correct one (GLEE, Appendix E)."""
SPARE_MULTIPLES = (8.0, 16.0, 32.0, 1e3, 1e6)
"""Used for prices so small that other multiples look the same."""


def questions(price: float, format_amount: Callable[[float], str]) -> tuple[Question, ...]:
    """Return one question with four options that depend only on the price."""
    answer = format_amount(price)
    # A different multiple is left out for each price; otherwise the correct answer would have a fixed position.
    multiples = Random(f"persuasion/quiz/{price!r}").sample(MULTIPLES, len(MULTIPLES))
    options = {answer: price}
    for multiple in (*multiples, *SPARE_MULTIPLES):
        if len(options) < 4:
            options.setdefault(format_amount(price * multiple), price * multiple)
    return (
        Question(
            key="price",
            prompt=_("What did a product cost?"),
            options=tuple(sorted(options, key=lambda option: options[option])),
            answer=answer,
        ),
    )
