"""The question after the game: did players notice which periods count?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

LATER = _("The later ones, once you have had time to learn")

QUESTIONS = (
    Question(
        key="which_count",
        prompt=_("Which periods count for your result?"),
        options=(LATER, _("All of them equally"), _("Only the best one"), _("Only the first ones")),
        answer=LATER,
    ),
)
