"""How Economics Arena asked models for bids: with remarks (appendix B.5 to B.8)."""

from __future__ import annotations

from collections.abc import Mapping

from games.econarena import CONVERSATION, GOAL, REASON, UNDERSTANDING
from games.interface import Role
from games.sealed_auction.rules import SealedAuction
from games.sessions import Session
from games.strategies import Remark, Strategy

PREVIOUS = (
    Remark("previous_bid", "what you bid in the last run", "number", first=True),
    Remark("previous_payoff", "what you ended the last run with", "number", first=True),
)


def remarks(game: SealedAuction, state: Session, role: Role) -> tuple[Remark, ...]:
    """Return the goal, last bid and payoff once earlier runs are shown; before, the understanding of the rules."""
    if game.visible(state):
        return (GOAL, *PREVIOUS, REASON)
    return (UNDERSTANDING, REASON)


STRATEGIES: Mapping[str, Strategy] = {
    "conversation": CONVERSATION,
    "published": Strategy("As in Economics Arena: the model adds remarks to its bid.", remarks=remarks),
}
