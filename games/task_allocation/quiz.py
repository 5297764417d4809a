"""Questions before play: do players know what pay and revenue depend on?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "pay",
        _("What does a worker's pay depend on?"),
        _("The sizes of the tasks they are given"),
        _("The revenue they make"),
        _("How productive they are"),
        _("Nothing: all are paid the same"),
        explanation=_("The larger a worker's task, the more the worker earns, however productive they are."),
    ),
    Question.with_answer(
        "revenue",
        _("What does a task's revenue depend on?"),
        _("Its size, and how productive the worker is who does it"),
        _("Only its size"),
        _("What the worker has been paid so far"),
        explanation=_("A task makes more revenue the larger it is and the more productive the worker who does it."),
    ),
)
