"""Questions before play: do players know which periods count, and that the market changes?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext_noop

QUESTIONS = (
    Question.with_answer(
        "which_count",
        gettext_noop("Which periods count for your result?"),
        gettext_noop("The later ones, once you have had time to learn"),
        gettext_noop("All of them equally"),
        gettext_noop("Only the best one"),
        gettext_noop("Only the first ones"),
        explanation=gettext_noop(
            "Your total profit in the later periods counts. The earlier ones are for trying prices."
        ),
    ),
    Question.with_answer(
        "changes",
        gettext_noop("A price made a good profit. Does the same price make the same profit ten periods later?"),
        gettext_noop("Not necessarily: the exchange rate changes over time"),
        gettext_noop("Yes, always"),
        gettext_noop("Yes, if you have not changed it in between"),
        explanation=gettext_noop(
            "The exchange rate between the customers' currency and yours changes over time: the same price may be good "
            "now and bad later."
        ),
    ),
)
