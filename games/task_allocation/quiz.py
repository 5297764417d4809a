"""The question after the game: did players notice what a worker's pay depends on?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "pay",
        _("What does a worker's pay depend on?"),
        _("The sizes of the tasks they were given"),
        _("The revenue they made"),
        _("How productive they are"),
        _("Nothing: all are paid the same"),
    ),
)
