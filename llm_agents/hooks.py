"""What a decision with several calls needs from the code that runs the match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from games.interface import MoveData
from games.play import Play
from games.strategies import Purpose
from llm_agents.calling import Policy
from llm_agents.providers.base import Request
from llm_agents.record import CallRecord

if TYPE_CHECKING:
    from llm_agents.agent import AgentSpec


class Hooks(Protocol):
    """All methods are called in the decision's event loop, one after the other."""

    async def reserve(self, agent: AgentSpec, request: Request, policy: Policy) -> None:
        """Called before each call of a model: reserve what it may cost.

        Raises:
            AgentError: so much may not be spent.
        """
        ...

    async def store(self, calls: Sequence[CallRecord]) -> None:
        """Store calls as soon as they are made, also those of a decision that fails."""
        ...

    async def note(self, move: MoveData) -> Play:
        """Make a move that leaves the role's turn open; return the play after it.

        Raises:
            GameError: it was refused, for example because it was stale.
        """
        ...

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        """Return the role's latest stored and answered call of any of these purposes."""
        ...
