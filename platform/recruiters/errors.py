"""The reasons for refusing entry; each page says what to do."""

from __future__ import annotations

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class EntryRefused(Exception):
    """Base class. The participant sees `title` and `str(error)`; `status` is the page's HTTP status.

    A refusal that nothing else has to recognise is raised as this class, with its own `title` and so on.
    """

    status = 403
    title: str | Promise = _("You can't enter this study")
    try_again = False
    """Whether trying again or a new link may help; if so, participants are not asked to return their task."""
    seconds = 0
    """Seconds after which the page tries again automatically; 0 if it does not."""

    def __init__(self, reason: str | Promise, **own: Any):
        super().__init__(str(reason))
        for name, value in own.items():
            setattr(self, name, value)


class TooMany(EntryRefused):
    status = 429
    try_again = True
    seconds = 60
    title = _("Too many people started from your network")

    def __init__(self) -> None:
        super().__init__(_("Please wait. This page tries again automatically, for up to an hour."))


class TooManyFailures(EntryRefused):
    status = 429
    try_again = True
    seconds = 10
    title = _("One moment, please")

    def __init__(self) -> None:
        super().__init__(
            _("Many wrong links were opened from your network. Please wait: this page tries again automatically.")
        )


class WrongCode(EntryRefused):
    status = 404
    title = _("Invalid code")


class UsedCode(EntryRefused):
    """A single-use link was already used in another browser."""

    title = _("This link has already been used")

    def __init__(self) -> None:
        super().__init__(
            _(
                "The link works only once, and someone has already started with it. If that was you, please continue "
                "in the browser where you started. If it wasn't you, please tell the people who invited you."
            )
        )


class ExpiredCode(EntryRefused):
    status = 410
    title = _("This link has expired")


class IncompleteLink(EntryRefused):
    status = 400
    title = _("This link is incomplete")


class DifferentParticipant(EntryRefused):
    """`unfinished_url` leads to what the participant began, if their link proves who they are."""

    title = _("This is not the link you started with")

    def __init__(self, reason: str | Promise, *, unfinished_url: str = "") -> None:
        super().__init__(reason)
        self.unfinished_url = unfinished_url


class NotAgain(EntryRefused):
    title = _("You have already taken part")


class TooSoon(EntryRefused):
    """The participant may come back later; the reason says when."""

    title = _("Please come back later")


class ExpiredLink(EntryRefused):
    """`return_url` is the page that creates new links, if the expired link is genuine."""

    status = 410
    title = _("This link has expired")

    def __init__(self, reason: str | Promise = "", *, return_url: str = "", **own: Any) -> None:
        super().__init__(reason or _("Please go back to the experiment's page and use the new link there."), **own)
        self.return_url = return_url


class RepeatedParameter(IncompleteLink):
    """A parameter appears twice in the link, so it is ambiguous."""

    title = _("This link is ambiguous")


class ForgedLink(EntryRefused):
    title = _("This link is not valid")

    def __init__(self, reason: str | Promise = "", **own: Any):
        advice = _(
            "It may have been cut off or changed. Please go back to the experiment's page and follow the link there. "
            "If that doesn't help, please tell the people who invited you."
        )
        super().__init__(reason or advice, **own)
