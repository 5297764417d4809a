"""Open turns: questions to a match's seats that wait for an answer.

They are stored in one column of the match's row, so that a move writes everything together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from games.interface import Role

if TYPE_CHECKING:  # its models load only with the apps, which `show` needs not
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
    held_from: datetime | None = None
    held_until: datetime | None = None
    """While a question to the researchers pauses the clock: from when, and until when at most, which the deadline
    already includes."""
    held: float = 0
    """Seconds of earlier such pauses of this turn."""
    refused: int = 0
    """The number of refused attempts."""
    warned: tuple[str, ...] = ()
    """The warnings shown about moves that were not sent yet."""

    def limit(self, uptime: Uptime) -> datetime:
        """Return the deadline, extended by our outages."""
        return uptime.extended(self.clock_from or self.opened_at, self.deadline)

    def earlier(self, by: timedelta) -> OpenTurn:
        """Return the turn as if it had been opened this much earlier."""
        return replace(self, opened_at=self.opened_at - by, deadline=self.deadline - by)

    def hold_left(self, now: datetime) -> float:
        """Return for how many more seconds the clock may be paused."""
        return 0.0 if self.held_until is None else max(0.0, (self.held_until - now).total_seconds())

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
            **({"held_from": self.held_from.isoformat()} if self.held_from else {}),
            **({"held_until": self.held_until.isoformat()} if self.held_until else {}),
            **({"held": self.held} if self.held else {}),
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
            shown_at=_time(turn["shown_at"]),
            clock_from=_time(turn.get("clock_from")),
            paused=turn.get("paused", False),
            held_from=_time(turn.get("held_from")),
            held_until=_time(turn.get("held_until")),
            held=turn.get("held", 0),
            refused=turn.get("refused", 0),
            warned=tuple(turn.get("warned", ())),
        )
        for role, turn in saved.items()
    }


def _time(saved: str | None) -> datetime | None:
    return None if saved is None else datetime.fromisoformat(saved)


def dump(turns: Mapping[Role, OpenTurn]) -> dict[Role, dict[str, Any]]:
    """Return the inverse of `load`."""
    return {role: turn.as_json() for role, turn in turns.items()}
