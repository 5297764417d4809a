"""The question after the game: did players notice when the game ends early?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "ends_early",
        _("When does the game end before its last period?"),
        _("As soon as a schedule has no blocking pair"),
        _("When the same schedule is submitted twice"),
        _("When every worker has their favourite task"),
        _("Never"),
    ),
)
