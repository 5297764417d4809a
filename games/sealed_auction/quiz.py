"""Questions before play: do players know what the winner pays and which bids are allowed?"""

from __future__ import annotations

from typing import Literal

from games.interface import Question
from games.words import exact
from games.words import gettext as _


def questions(price_rule: Literal["second", "first"], assets: float) -> tuple[Question, ...]:
    """Return questions on what the winner pays, and on the largest bid allowed."""
    payments = {
        "first": _("Their own bid"),
        "second": _("The second-highest bid"),
        "value": _("Their own value"),
        "mean": _("The mean of all bids"),
    }
    return (
        Question(
            key="price",
            prompt=_("What does the winner of an auction pay?"),
            options=tuple(payments.values()),
            answer=payments[price_rule],
            explanation=_("The highest bid wins, and the winner pays the second-highest bid.")
            if price_rule == "second"
            else _("The highest bid wins, and the winner pays that bid."),
        ),
        Question(
            key="limit",
            prompt=_("What is the largest bid allowed?"),
            options=tuple(exact(assets * factor) for factor in (0.5, 1, 2, 10)),
            answer=exact(assets),
            explanation=_("Nobody can bid more than their assets: {assets} units.").format(assets=exact(assets)),
        ),
    )
