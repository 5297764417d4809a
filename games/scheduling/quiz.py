"""Questions before play: do players know what a blocking pair is, and when the game ends early?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "blocking",
        _(
            "Cleo does the cleaning and would rather cook. Dan does the cooking, and does it better than Cleo would. "
            "Are Cleo and the cooking a blocking pair?"
        ),
        _("No: the cooking is done better by Dan"),
        _("Yes: Cleo would rather cook"),
        _("Yes, but only if Dan would rather clean"),
        explanation=_(
            "A blocking pair needs both: the worker likes the task better than their own, and does it better than the "
            "one who has it. Cleo does not cook better than Dan."
        ),
    ),
    Question.with_answer(
        "ends_early",
        _("When does the game end before its last period?"),
        _("As soon as a schedule has no blocking pair"),
        _("When the same schedule is submitted twice"),
        _("When every worker has their favourite task"),
        _("Never"),
        explanation=_("The game ends as soon as a schedule has no blocking pair."),
    ),
)
