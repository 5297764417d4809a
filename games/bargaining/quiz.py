"""Questions before play, and the one after it: do players notice how fast money loses value for them?"""

from __future__ import annotations

from games.interface import Question
from games.words import gettext as _
from games.words import percent

GRID = (0.0, 0.05, 0.1, 0.2)
"""Losses per round in the published configurations, as shares."""
NEARBY = (0.15, 0.25, 0.3)


def loss(own_factor: float) -> Question:
    """Return a question with four options that depend only on the player's own discount factor."""
    answer = percent(1 - own_factor)
    options = {answer: 1 - own_factor}
    for share in (*GRID, *NEARBY):
        option = percent(share)
        if option not in options and len(options) < 4:
            options[option] = share
    lost = _("For you, money loses {share} of its value with every round that passes.").format(share=answer)
    return Question(
        key="loss_rate",
        prompt=_("How much of its value does money lose for you with every round that passes?"),
        options=tuple(sorted(options, key=options.__getitem__)),
        answer=answer,
        explanation=lost if own_factor < 1 else _("For you, money keeps its full value: it loses 0% per round."),
    )


def rejecting(rounds: int | None) -> Question:
    """Return a question on what follows a rejected offer."""
    prompt = (
        _("What happens when an offer is rejected?")
        if rounds == 1
        else _("What happens when the first offer is rejected?")
    )
    ends, goes_on = _("The game ends, and neither of you gets anything"), _("The other player makes the next offer")
    again, half = _("The same player makes another offer"), _("Each of you gets half of the money")
    if rounds == 1:
        why = _("There is only one round: without an agreement in it, neither of you gets anything.")
        return Question.with_answer("rejecting", prompt, ends, goes_on, again, half, explanation=why)
    why = _("After a rejection, the next round begins, and the player who rejected makes the offer.")
    return Question.with_answer("rejecting", prompt, goes_on, ends, again, half, explanation=why)
