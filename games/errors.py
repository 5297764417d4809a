"""The errors of this package, all subclasses of `GameError`."""

from __future__ import annotations


class GameError(Exception):
    """Base of every error raised by this package; `str(error)` can be shown to people."""


class UnknownGame(GameError):
    """No game, role or script has that name."""


class BadConfig(GameError):
    """The configuration is not valid; the message says which key is wrong and why."""


class BadLineup(GameError):
    """The agents do not fit the seats; the message says which agent or seat is missing, unknown or too many."""


class Refused(GameError):
    """The move was refused and nothing changed.

    Args:
        reason: what to tell the player, so that they can act on it.
        field: name of the move's field that the reason is about, if any.
        plain: the reason for people, who see a field's title instead of its name; `reason` by default.
    """

    def __init__(self, reason: str, field: str | None = None, plain: str | None = None):
        super().__init__(reason)
        self.field = field
        self.plain = plain or reason


class LogMismatch(GameError):
    """Replaying a log gave a different result from the log."""


class BadText(GameError):
    """A text cannot be rendered; the message says where and why."""
