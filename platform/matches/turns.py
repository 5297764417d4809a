"""Open turns: questions to a match's seats that wait for an answer.

They are stored in one column of the match's row, so that a move writes everything together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from games.interface import Role
from uptime.services import Uptime


@dataclass(frozen=True)
class OpenTurn:
    """One question to one seat, opened by event `answering`, until the seat answers or its time is up.

    Attributes:
        clock_from: when the deadline was set, if not when the question was opened. Outages since extend it.
    """

    role: Role
    answering: int
    by_agent: bool
    opened_at: datetime
    deadline: datetime
    extended: bool = False
    shown_at: datetime | None = None
    clock_from: datetime | None = None
    paused: bool = False
    """Whether it was extended once for reporting a problem."""
    refused: int = 0
    """The number of refused attempts."""
    warned: tuple[str, ...] = ()
    """The warnings shown about moves that were not sent yet."""

    def limit(self, uptime: Uptime) -> datetime:
        """Return the deadline, extended by our outages."""
        return uptime.extended(self.clock_from or self.opened_at, self.deadline)

    def as_json(self) -> dict[str, Any]:
        return {
            "answering": self.answering,
            "by_agent": self.by_agent,
            "opened_at": self.opened_at.isoformat(),
            "deadline": self.deadline.isoformat(),
            "extended": self.extended,
            "shown_at": self.shown_at.isoformat() if self.shown_at else None,
            **({"clock_from": self.clock_from.isoformat()} if self.clock_from else {}),
            **({"paused": True} if self.paused else {}),
            **({"refused": self.refused} if self.refused else {}),
            **({"warned": list(self.warned)} if self.warned else {}),
        }


def load(saved: Mapping[Role, Mapping[str, Any]]) -> dict[Role, OpenTurn]:
    """Return the open turns by role from a match's column."""
    return {
        role: OpenTurn(
            role=role,
            answering=turn["answering"],
            by_agent=turn["by_agent"],
            opened_at=datetime.fromisoformat(turn["opened_at"]),
            deadline=datetime.fromisoformat(turn["deadline"]),
            extended=turn["extended"],
            shown_at=datetime.fromisoformat(turn["shown_at"]) if turn["shown_at"] else None,
            clock_from=datetime.fromisoformat(turn["clock_from"]) if "clock_from" in turn else None,
            paused=turn.get("paused", False),
            refused=turn.get("refused", 0),
            warned=tuple(turn.get("warned", ())),
        )
        for role, turn in saved.items()
    }


def dump(turns: Mapping[Role, OpenTurn]) -> dict[Role, dict[str, Any]]:
    """Return the inverse of `load`."""
    return {role: turn.as_json() for role, turn in turns.items()}
