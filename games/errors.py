"""Everything that can go wrong inside `games`, as one tree."""

from __future__ import annotations


class GameError(Exception):
    """Base of every error raised by this package; `str(error)` is fit to show to a person."""


class UnknownGame(GameError):
    """No game, role or scripted player has that name."""


class BadConfig(GameError):
    """The configuration is not one the game can be played with; says which key is wrong and why."""


class BadLineup(GameError):
    """Agents that do not fit the seats; says which agent or seat is missing, unknown or too many."""


class Refused(GameError):
    """The move was not taken and nothing changed.

    Args:
        reason: what to tell the player, in words they can act on.
        field: name of the move's field the reason is about, if it is about one.
        plain: the reason for people, who see a field's title and not its name; the same where nothing is said.
    """

    def __init__(self, reason: str, field: str | None = None, plain: str | None = None):
        super().__init__(reason)
        self.field = field
        self.plain = plain or reason


class LogMismatch(GameError):
    """Replaying a log gave something else than what the log holds."""


class BadText(GameError):
    """An instruction text that cannot be rendered; says where and why."""
