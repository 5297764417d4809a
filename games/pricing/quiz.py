"""Questions before play: do players know which periods count, and that the market changes?"""

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
        explanation=_("Your total profit in the later periods counts. The earlier ones are for trying prices."),
    ),
    Question.with_answer(
        "changes",
        _("A price made a good profit. Does the same price make the same profit ten periods later?"),
        _("Not necessarily: the exchange rate changes over time"),
        _("Yes, always"),
        _("Yes, if you have not changed it in between"),
        explanation=_(
            "The exchange rate between the customers' currency and yours changes over time: the same price may be good "
            "now and bad later."
        ),
    ),
)
