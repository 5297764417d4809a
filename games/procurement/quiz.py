"""The question after the game: did players notice that a plan over the budget fails and uses up the period?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "over_budget",
        _("What happens to a plan that costs more than the budget?"),
        _("It fails, supports nobody, and the period is used up"),
        _("It is reduced until it fits"),
        _("It is refused and you try again in the same period"),
        _("The rest is borrowed from the next period"),
    ),
)
