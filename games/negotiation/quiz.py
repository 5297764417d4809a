"""The question after the game: did players notice what the product was worth to them?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from games.interface import Question
from games.words import gettext as _

MULTIPLES = (0.25, 0.5, 2.0, 4.0)
"""Wrong answers, as multiples of the correct one (GLEE, Appendix E)."""
SPARE_MULTIPLES = (1.5, 0.8, 1.2, 8.0, 16.0, 32.0)
"""Used for values so small that other multiples look the same."""


def questions(own_value: float, format_amount: Callable[[float], str]) -> tuple[Question, ...]:
    """Return one question with four options that depend only on the player's own value."""
    answer = format_amount(own_value)
    # A different multiple is left out for each value; otherwise the correct answer would have a fixed position.
    multiples = Random(f"negotiation/quiz/{own_value!r}").sample(MULTIPLES, len(MULTIPLES))
    options = {answer: own_value}
    for multiple in (*multiples, *SPARE_MULTIPLES):
        if len(options) < 4:
            options.setdefault(format_amount(own_value * multiple), own_value * multiple)
    return (
        Question(
            key="own_value",
            prompt=_("What was the product worth to you?"),
            options=tuple(sorted(options, key=lambda option: options[option])),
            answer=answer,
        ),
    )
