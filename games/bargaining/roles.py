"""The two roles in bargaining."""

from __future__ import annotations

from games.interface import Role

ALICE, BOB = "alice", "bob"


def other(role: Role) -> Role:
    """Return the opponent's role."""
    return BOB if role == ALICE else ALICE
