"""Why somebody is not let in, as one tree; each has a page that says what to do."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class NotLetIn(Exception):
    """Base: `title` and `str(error)` are shown to the person; `status` is the page's HTTP status."""

    status = 403
    title: str | Promise = _("You cannot enter here")
    try_again = False
    """Whether this link in a moment, or a new one, may do: nobody is asked to give their task back."""

    def __init__(self, reason: str | Promise):
        super().__init__(str(reason))


class TooMany(NotLetIn):
    status = 429
    try_again = True
    title = _("Many people have just begun from your network")

    def __init__(self) -> None:
        super().__init__(_("Please try again in an hour, with the same link."))


class WrongCode(NotLetIn):
    status = 404
    title = _("Invalid code")


class UsedCode(NotLetIn):
    """A link that opens once has been used, in another browser."""

    title = _("This link has been used")

    def __init__(self) -> None:
        super().__init__(
            _(
                "It opens the study once, and somebody has begun with it. If it was you, please go on in the browser "
                "in which you began, or with the address of the page where you were. If it was not you, please tell "
                "the people who invited you."
            )
        )


class ExpiredCode(NotLetIn):
    status = 410
    title = _("This link has expired")


class IncompleteLink(NotLetIn):
    status = 400
    title = _("Something is missing in this link")


class SomebodyElse(NotLetIn):
    title = _("This link is not the one you began with")


class NotAgain(NotLetIn):
    title = _("You have taken part already")


class TooSoon(NotLetIn):
    """The person may come again, only later; the reason says when."""

    title = _("Please come back later")


class ExpiredLink(NotLetIn):
    """`back` is the page that makes new links, if the expired one tells it truly."""

    status = 410
    title = _("This link has expired")

    def __init__(self, *, back: str = "") -> None:
        super().__init__(_("Please go back to the experiment's page and follow the link there: it is a new one."))
        self.back = back


class SaidTwice(IncompleteLink):
    """A field stands in the link twice: nobody can tell which one counts."""

    title = _("Something stands in this link twice")


class ForgedLink(NotLetIn):
    title = _("This link does not open the study")

    def __init__(self, reason: str | Promise = ""):
        super().__init__(
            reason
            or _(
                "It was not made by the experiment that it names, or was cut on its way. Please go back to the "
                "experiment's page and follow the link there. If that does not help, please tell the people who "
                "invited you."
            )
        )
