"""The question after the game: did players notice when the game ends early?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _

STABLE = _("As soon as a schedule has no blocking pair")

QUESTIONS = (
    Question(
        key="ends_early",
        prompt=_("When does the game end before its last period?"),
        options=(
            STABLE,
            _("When the same schedule is submitted twice"),
            _("When every worker has their favourite task"),
            _("Never"),
        ),
        answer=STABLE,
    ),
)
