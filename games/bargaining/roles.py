"""The two sides of the table."""

from __future__ import annotations

from games.interface import Role

ALICE, BOB = "alice", "bob"


def other(role: Role) -> Role:
    """The player across the table."""
    return BOB if role == ALICE else ALICE
