"""Why somebody is not let in, as one tree; each has a page that says what to do."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class NotLetIn(Exception):
    """Base: `title` and `str(error)` are shown to the person; `status` is the page's HTTP status."""

    status = 403
    title: str | Promise = _("You cannot enter here")

    def __init__(self, reason: str | Promise):
        super().__init__(str(reason))


class WrongCode(NotLetIn):
    status = 404
    title = _("This code opens nothing")


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
