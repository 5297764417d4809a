"""The questions after the game: did players notice what wins and which numbers are allowed?"""

from __future__ import annotations

from games.interface import Question
from games.words import exact
from games.words import gettext as _


def questions(fraction: float, in_words: str, upper: float) -> tuple[Question, ...]:
    """Return questions on the fraction of the mean that wins, and on the largest number allowed."""
    parts = {fraction: in_words}
    for part, words in ((1 / 2, "1/2"), (1, ""), (4 / 3, "4/3"), (1 / 4, "1/4")):
        if len(parts) < 4:
            parts.setdefault(part, words)
    options = {part: _part_of_mean(words) for part, words in parts.items()}
    limits = [upper * factor for factor in (0.5, 1, 2, 10)]
    return (
        Question(
            key="winning_number",
            prompt=_("Which number wins?"),
            options=tuple(options[part] for part in sorted(options)),
            answer=options[fraction],
        ),
        Question(
            key="limit",
            prompt=_("What was the largest number allowed?"),
            options=tuple(exact(limit) for limit in limits),
            answer=exact(upper),
        ),
    )


def _part_of_mean(words: str) -> str:
    if not words:
        return _("the one closest to the mean")
    return _("the one closest to {part} of the mean").format(part=words)
