"""Questions before play: do players know what a blocking pair is, and when the game ends early?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext_noop

QUESTIONS = (
    Question.with_answer(
        "blocking",
        gettext_noop(
            "Cleo does the cleaning and would rather cook. Dan does the cooking, and does it better than Cleo would. "
            "Are Cleo and the cooking a blocking pair?"
        ),
        gettext_noop("No: the cooking is done better by Dan"),
        gettext_noop("Yes: Cleo would rather cook"),
        gettext_noop("Yes, but only if Dan would rather clean"),
        explanation=gettext_noop(
            "A blocking pair needs both: the worker likes the task better than their own, and does it better than the "
            "one who has it. Cleo does not cook better than Dan."
        ),
    ),
    Question.with_answer(
        "ends_early",
        gettext_noop("When does the game end before its last period?"),
        gettext_noop("As soon as a schedule has no blocking pair"),
        gettext_noop("When the same schedule is submitted twice"),
        gettext_noop("When every worker has their favourite task"),
        gettext_noop("Never"),
        explanation=gettext_noop("The game ends as soon as a schedule has no blocking pair."),
    ),
)
