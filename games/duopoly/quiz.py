"""The question after the game: did players notice what they learn after each period?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _


def questions(rival: bool) -> tuple[Question, ...]:
    """Return a question on what a firm learns about its rival or, without one, about its sales."""
    if rival:
        prompt = _("What did you learn about the other firm after each period?")
        options = (_("Only its price"), _("Its price and its profit"), _("Its costs"), _("Nothing"))
    else:
        prompt = _("What did you learn after each period?")
        options = (
            _("How much you sold, and your profit"),
            _("How many customers there are"),
            _("The best price"),
            _("Nothing"),
        )
    return (Question.with_answer("learns", prompt, *options),)
