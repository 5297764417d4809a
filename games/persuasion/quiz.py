"""The question after the game: did the player notice what a product cost?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from games.interface import Question
from games.words import gettext as _

MULTIPLES = (0.25, 0.5, 2.0, 4.0)
"""Wrong answers, as multiples of the right one (GLEE, Appendix E)."""
SPARE_MULTIPLES = (8.0, 16.0, 32.0, 1e3, 1e6)
"""For prices so small that others read alike."""


def questions(price: float, written: Callable[[float], str]) -> tuple[Question, ...]:
    """One question with four options, which depend on the price alone."""
    answer = written(price)
    # Which of the multiples is left out differs from price to price: else the right answer had a fixed place.
    multiples = Random(f"persuasion/quiz/{price!r}").sample(MULTIPLES, len(MULTIPLES))
    options = {answer: price}
    for multiple in (*multiples, *SPARE_MULTIPLES):
        if len(options) < 4:
            options.setdefault(written(price * multiple), price * multiple)
    return (
        Question(
            key="price",
            prompt=_("What did a product cost?"),
            options=tuple(sorted(options, key=lambda shown: options[shown])),
            answer=answer,
        ),
    )
