"""The question after the game: did the player notice how fast their own money lost value?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _
from games.words import percent

GRID = (0.0, 0.05, 0.1, 0.2)
"""Losses per round of the published configurations, as shares."""
NEARBY = (0.15, 0.25, 0.3)


def questions(own_factor: float) -> tuple[Question, ...]:
    """One question with four options, which depend on the player's own factor alone."""
    answer = percent(1 - own_factor)
    options = [answer]
    for loss in (*GRID, *NEARBY):
        shown = percent(loss)
        if shown not in options and len(options) < 4:
            options.append(shown)
    return (
        Question(
            key="loss_rate",
            prompt=_("By how much did money lose value for you with every round that passed?"),
            options=tuple(sorted(options, key=lambda shown: float(shown.rstrip("%")))),
            answer=answer,
        ),
    )
