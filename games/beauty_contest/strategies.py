"""How Economics Arena asked models for numbers: with remarks (appendix B.1 to B.4)."""

from __future__ import annotations

from collections.abc import Mapping

from games.beauty_contest.rules import BeautyContest
from games.econarena import CONVERSATION, GOAL, REASON, UNDERSTANDING
from games.interface import Role
from games.sessions import Session
from games.strategies import Remark, Strategy

POPULAR = Remark("popular_answer", "the number you think the others are most likely to choose", "number", first=True)
PREVIOUS = Remark("previous_answer", "the number that you chose in the last run", "number", first=True)


def remarks(game: BeautyContest, state: Session, role: Role) -> tuple[Remark, ...]:
    """Return the goal and last number once earlier runs are shown; before, the understanding of the rules."""
    if game.visible(state):
        return (GOAL, PREVIOUS, REASON)
    return (UNDERSTANDING, POPULAR, REASON)


STRATEGIES: Mapping[str, Strategy] = {
    "chain_of_thought": Strategy(
        "Chain of thought: the model thinks step by step first and guesses the others' numbers.",
        reasons=True,
        remarks=lambda game, state, role: (POPULAR,),
    ),
    "conversation": CONVERSATION,
    "published": Strategy("As in Economics Arena: the model adds remarks to its number.", remarks=remarks),
}
