"""The question after the game: did players notice which periods count?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "which_count",
        _("Which periods count for your result?"),
        _("The later ones, once you have had time to learn"),
        _("All of them equally"),
        _("Only the best one"),
        _("Only the first ones"),
    ),
)
