"""What a decision that takes many calls needs of whoever runs the match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from games.interface import MoveData
from games.play import Play
from games.strategies import Purpose
from llm_agents.record import CallRecord


class Hooks(Protocol):
    """All in the event loop of the decision, one after the other."""

    async def allow(self) -> None:
        """Before each call of a model.

        Raises:
            AgentError: no more may be spent.
        """
        ...

    async def keep(self, calls: Sequence[CallRecord]) -> None:
        """Write down calls as soon as they are made: also those of a decision that comes to nothing."""
        ...

    async def note(self, move: MoveData) -> Play:
        """Make a move that leaves the role's turn open; the play after it.

        Raises:
            GameError: it was not taken; Stale ones too.
        """
        ...

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        """The role's latest answered call of any of these purposes that is kept already."""
        ...
