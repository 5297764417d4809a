"""Questions before play: do players know what pay and revenue depend on?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext_noop

QUESTIONS = (
    Question.with_answer(
        "pay",
        gettext_noop("What does a worker's pay depend on?"),
        gettext_noop("The sizes of the tasks they are given"),
        gettext_noop("The revenue they make"),
        gettext_noop("How productive they are"),
        gettext_noop("Nothing: all are paid the same"),
        explanation=gettext_noop("The larger a worker's task, the more the worker earns, however productive they are."),
    ),
    Question.with_answer(
        "revenue",
        gettext_noop("What does a task's revenue depend on?"),
        gettext_noop("Its size, and how productive the worker is who does it"),
        gettext_noop("Only its size"),
        gettext_noop("What the worker has been paid so far"),
        explanation=gettext_noop(
            "A task makes more revenue the larger it is and the more productive the worker who does it."
        ),
    ),
)
