"""Questions before play: do players know what a plan costs, when it fails, and that it needs every category?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

QUESTIONS = (
    Question.with_answer(
        "cost",
        _("A two-part offer costs 4 per unit and 6 upfront. What do 3 units of it cost?"),
        "18",
        "12",
        "30",
        "10",
        explanation=_("3 units cost 3 × 4 = 12, and the fixed amount is paid once: 12 + 6 = 18."),
    ),
    Question.with_answer(
        "over_budget",
        _("What happens to a plan that costs more than the budget?"),
        _("It fails, supports nobody, and the period is used up"),
        _("It is reduced until it fits"),
        _("It is refused and you try again in the same period"),
        _("The rest is borrowed from the next period"),
        explanation=_("A plan over the budget fails. It supports nobody, and the next period follows."),
    ),
    Question.with_answer(
        "category",
        _("A plan buys nothing in one of the categories. How many workers does it support?"),
        _("None"),
        _("Half of what it could"),
        _("As many as the other categories allow"),
        explanation=_("Workers need equipment from every category: a plan that leaves one out supports nobody."),
    ),
)
