"""Questions before play: do players know what wins and which numbers are allowed?"""

from __future__ import annotations

from games.interface import Question
from games.words import exact
from games.words import gettext as _


def questions(fraction: float, in_words: str, upper: float) -> tuple[Question, ...]:
    """Return questions on the fraction of the mean that wins, and on the largest number allowed."""
    fractions = {fraction: in_words}
    for share, share_in_words in ((1 / 2, "1/2"), (1, ""), (4 / 3, "4/3"), (1 / 4, "1/4")):
        if len(fractions) < 4:
            fractions.setdefault(share, share_in_words)
    options = {share: _part_of_mean(share_in_words) for share, share_in_words in fractions.items()}
    limits = [upper * factor for factor in (0.5, 1, 2, 10)]
    return (
        Question(
            key="winning_number",
            prompt=_("Which number wins?"),
            options=tuple(options[share] for share in sorted(options)),
            answer=options[fraction],
            explanation=_(
                "The target is {part} of the mean of all valid numbers. The number closest to the target wins."
            ).format(part=in_words),
        ),
        Question(
            key="limit",
            prompt=_("What is the largest number allowed?"),
            options=tuple(exact(limit) for limit in limits),
            answer=exact(upper),
            explanation=_("Numbers from 0 to {upper} are valid. Others do not count and cannot win.").format(
                upper=exact(upper)
            ),
        ),
    )


def _part_of_mean(share: str) -> str:
    if not share:
        return _("the one closest to the mean")
    return _("the one closest to {part} of the mean").format(part=share)
