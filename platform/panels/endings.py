"""Which outcome a panel receives when an enrolment ends, and where the participant is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from participants.states import State

LONGEST_ADDRESS = 500
VARIABLES = ("person", "task", "session", "code")
"""Variables that an address may contain in braces; `code` is the participant's completion code from Parley."""
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_INVALID_ADDRESS = re.compile(r"[\s\\\x00-\x1f\x7f]")


class Outcome(models.TextChoices):
    """The endings that panels distinguish."""

    COMPLETED = "completed", gettext_lazy("completed")
    SCREENED_OUT = "screened_out", gettext_lazy("screened out")
    PARTIAL = "partial", gettext_lazy("ended early, with pay")
    OVER_QUOTA = "over_quota", gettext_lazy("all places are taken")
    WITHDREW = "withdrew", gettext_lazy("withdrew, or ended early without pay")


class NotAllowed(ValueError):
    """Raised for an address to which participants must not be sent; the text says why."""


def outcome_of(state: str, *, paid: bool) -> Outcome:
    """Return the panel's outcome for an enrolment that ended in `state`, depending on whether it is paid."""
    if state == State.COMPLETED:
        return Outcome.COMPLETED
    if state in (State.SCREENED_OUT, State.FAILED_CODE_WORD, State.FAILED_COMPREHENSION):
        return Outcome.SCREENED_OUT
    return Outcome.PARTIAL if paid else Outcome.WITHDREW


POST = "POST "
"""Prefix of an address whose query is posted as a form."""


def is_address(destination: str) -> bool:
    """Return whether an ending leads to a page; otherwise it is a code to copy."""
    return destination.casefold().startswith(("http:", "https:", POST.casefold())) or "//" in destination


def check_destination(destination: str, sites: str) -> None:
    """Check where an ending leads before it is saved.

    Raises:
        NotAllowed: the address is on none of these sites, or contains an unknown variable.
    """
    if not is_address(destination):
        if len(destination) > 60 or not destination.isprintable() or " " in destination:
            raise NotAllowed(
                _("Enter a code (one word of at most 60 characters) or an address that begins with https://.")
            )
        return
    destination = destination.removeprefix(POST)
    for name in _VARIABLE.findall(destination):
        if name not in VARIABLES:
            variables = ", ".join(f"{{{variable}}}" for variable in VARIABLES)
            raise NotAllowed(
                _("“{{{name}}}” is not a variable. Use one of: {known}.").format(name=name, known=variables)
            )
    if "{" in destination.split("?")[0].partition("://")[2].partition("/")[0]:
        raise NotAllowed(_("The site's name cannot contain a variable."))
    refuse_foreign_site(filled_address(destination, dict.fromkeys(VARIABLES, "x")), sites)


def filled_address(destination: str, values: Mapping[str, str]) -> str:
    """Return the address with its variables replaced and percent-encoded; unknown variables stay as they are."""

    def value(hit: re.Match[str]) -> str:
        return quote(values[hit[1]], safe="") if hit[1] in values else hit[0]

    return _VARIABLE.sub(value, destination)


def refuse_foreign_site(address: str, sites: str) -> None:
    """Refuse an address that is on none of the panel's own sites.

    Args:
        sites: the sites' addresses, one per line.

    Raises:
        NotAllowed
    """
    own_origins = [_origin(site) for site in sites.split()]
    if len(address) > LONGEST_ADDRESS or _INVALID_ADDRESS.search(address):
        raise NotAllowed(_("Participants cannot be sent to this address."))
    origin = _origin(address)
    if origin is None:
        raise NotAllowed(_("An address must begin with https:// and a site, without a user name or password."))
    if origin not in own_origins:
        site_name = f"{origin[0]}://{origin[1]}"
        raise NotAllowed(
            _("Participants are sent only to the panel's own sites, and {site} is not one of them.").format(
                site=site_name
            )
        )


def _origin(address: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return None
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return parts.scheme, host if port in (None, default_port) else f"{host}:{port}"
