"""Questions before play: do players know what a plan costs, when it fails, and that it needs every category?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext_noop

QUESTIONS = (
    Question.with_answer(
        "cost",
        gettext_noop("A two-part offer costs 4 per unit and 6 upfront. What do 3 units of it cost?"),
        "18",
        "12",
        "30",
        "10",
        explanation=gettext_noop("3 units cost 3 × 4 = 12, and the fixed amount is paid once: 12 + 6 = 18."),
    ),
    Question.with_answer(
        "over_budget",
        gettext_noop("What happens to a plan that costs more than the budget?"),
        gettext_noop("It fails, supports nobody, and the period is used up"),
        gettext_noop("It is reduced until it fits"),
        gettext_noop("It is refused and you try again in the same period"),
        gettext_noop("The rest is borrowed from the next period"),
        explanation=gettext_noop("A plan over the budget fails. It supports nobody, and the next period follows."),
    ),
    Question.with_answer(
        "category",
        gettext_noop("A plan buys nothing in one of the categories. How many workers does it support?"),
        gettext_noop("None"),
        gettext_noop("Half of what it could"),
        gettext_noop("As many as the other categories allow"),
        explanation=gettext_noop(
            "Workers need equipment from every category: a plan that leaves one out supports nobody."
        ),
    ),
)
