"""The question after the game: did players notice how fast money lost value for them?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _
from games.words import percent

GRID = (0.0, 0.05, 0.1, 0.2)
"""Losses per round in the published configurations, as shares."""
NEARBY = (0.15, 0.25, 0.3)


def questions(own_factor: float) -> tuple[Question, ...]:
    """Return one question with four options that depend only on the player's own discount factor."""
    answer = percent(1 - own_factor)
    options = [answer]
    for loss in (*GRID, *NEARBY):
        option = percent(loss)
        if option not in options and len(options) < 4:
            options.append(option)
    return (
        Question(
            key="loss_rate",
            prompt=_("How much of its value did money lose for you with every round that passed?"),
            options=tuple(sorted(options, key=lambda option: float(option.rstrip("%")))),
            answer=answer,
        ),
    )
