"""How Economics Arena asked its models for numbers: with remarks beside them (appendix B.1 to B.4)."""

from __future__ import annotations

from collections.abc import Mapping

from games.beauty_contest.rules import BeautyContest
from games.econarena import CONVERSATION, GOAL, REASON, UNDERSTANDING
from games.interface import Role
from games.sessions import Session
from games.strategies import Remark, Strategy

POPULAR = Remark("popular_answer", "the number that you think the others are most likely to name", "number", first=True)
PREVIOUS = Remark("previous_answer", "the number that you named in the last run", "number", first=True)


def remarks(game: BeautyContest, state: Session, role: Role) -> tuple[Remark, ...]:
    """Once earlier runs are shown, models are asked for their goal and last number instead."""
    if game.visible(state):
        return (GOAL, PREVIOUS, REASON)
    return (UNDERSTANDING, POPULAR, REASON)


STRATEGIES: Mapping[str, Strategy] = {
    "chain_of_thought": Strategy(
        "Chain of thought: to think step by step first, and to guess the others' number.",
        reasons=True,
        remarks=lambda game, state, role: (POPULAR,),
    ),
    "conversation": CONVERSATION,
    "published": Strategy("As in Economics Arena: with remarks beside the number.", remarks=remarks),
}
