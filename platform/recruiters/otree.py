"""Participants from an oTree experiment: signed links in, signed requests for results.

Both are JSON Web Tokens (RFC 7519), signed by the oTree server with the study's link key (HS256). Claims:
`aud` (PLAY or RESULT, so that a participant's link cannot fetch results), `study` (slug), `sub` (the
participant, app and round: one enrolment), `exp`, and in links `back` (the participant's page on the oTree
server) and, if oTree assigns it, `role`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import jwt
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from recruiters.errors import ExpiredLink, ForgedLink, IncompleteLink
from recruiters.models import OtreeServer

PLAY = "parley:play"
RESULT = "parley:result"
KIND = "otree"
REST_PATH = "/api/participant_vars/"
"""The path at which an oTree server takes values for one participant."""
RETURN_PATH = "/InitializeParticipant/"
"""The path at which an oTree server resumes a participant's session."""
_LONGEST = 100
_SALT = "recruiters.otree.link"


@dataclass(frozen=True)
class Visitor:
    """The participant whom a link admits."""

    subject: str
    return_url: str
    role: str | None


@dataclass(frozen=True)
class Question:
    """The participant whose result is requested."""

    study: str
    subject: str


def link_key(server: OtreeServer) -> str:
    """Return the oTree server's signing key, which is derived and therefore in no database or backup."""
    return _keys(server)[0]


def _keys(server: OtreeServer) -> list[str]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [
        salted_hmac(_SALT, f"{server.study}/{server.salt}", secret=secret, algorithm="sha256").hexdigest()
        for secret in secrets
    ]


def visitor_by(study: str, link: Mapping[str, str]) -> Visitor:
    """Return the participant identified by `?token=`.

    Raises:
        IncompleteLink, ExpiredLink, ForgedLink: the message says what to do; nothing was changed.
    """
    token = link.get("token", "")
    if not token:
        raise IncompleteLink(_("Please open the study from the experiment's page."))
    server = OtreeServer.objects.filter(study=study).first()
    try:
        claims = _claims(token, server, audience=PLAY)
    except ExpiredLink:
        raise ExpiredLink(return_url=_return_address(token, server)) from None
    if claims.get("study") != study:
        raise ForgedLink
    return_url, role = claims.get("back"), claims.get("role")
    if not isinstance(return_url, str) or server is None or not is_allowed(return_url, server):
        raise ForgedLink(
            _(
                "The study doesn't accept links from this address. Please tell the people who invited you; they can "
                "add their oTree server's address to the study."
            )
        )
    if role is not None and not isinstance(role, str):
        raise ForgedLink
    return Visitor(subject=claims["sub"], return_url=return_url, role=role or None)


def question_of(token: str) -> Question:
    """Return the participant whose result a token requests.

    Raises:
        ExpiredLink, ForgedLink
    """
    try:
        study = jwt.decode(token, options={"verify_signature": False}).get("study")
    except jwt.InvalidTokenError:
        raise ForgedLink from None
    # The token is not yet verified: ignore names that the database cannot hold.
    is_storable = isinstance(study, str) and study.isprintable()
    server = OtreeServer.objects.filter(study=study).first() if is_storable else None
    return Question(study=str(study), subject=_claims(token, server, audience=RESULT)["sub"])


def _claims(token: str, server: OtreeServer | None, *, audience: str, expired: bool = False) -> dict[str, Any]:
    """Return a token's verified claims; with `expired`, also those of an expired token."""
    options: Any = {"require": ["exp", "sub", "aud"], "verify_exp": not expired}
    for key in _keys(server) if server is not None else ():
        try:
            claims = jwt.decode(token, key, algorithms=["HS256"], audience=audience, options=options)
        except jwt.ExpiredSignatureError:
            raise ExpiredLink from None
        except jwt.InvalidTokenError:
            continue
        if 0 < len(claims["sub"]) <= _LONGEST and claims["sub"].isprintable():
            return claims
    raise ForgedLink


def _return_address(token: str, server: OtreeServer | None) -> str:
    """Return the participant's page named by an expired link if the study accepts it, else an empty string."""
    return_url = _claims(token, server, audience=PLAY, expired=True).get("back")
    return return_url if isinstance(return_url, str) and server is not None and is_allowed(return_url, server) else ""


def is_allowed(return_url: str, server: OtreeServer) -> bool:
    """Return whether `return_url` is a participant's page below one of the study's oTree addresses."""
    if len(return_url) > 300 or not return_url.isprintable() or "\\" in return_url:
        return False
    try:
        url = urlsplit(return_url)
    except ValueError:  # e.g. an unclosed bracket
        return False
    for address in server.allowed():
        allowed_url = urlsplit(address)
        page_path = allowed_url.path.rstrip("/") + RETURN_PATH
        if (url.scheme, url.netloc) == (allowed_url.scheme, allowed_url.netloc) and url.path.startswith(page_path):
            return url.path.removeprefix(page_path).isalnum() and not url.query and not url.fragment
    return False


def rest_address(return_url: str) -> str:
    """Return the URL to which the participant's results are sent."""
    server, _path, participant = return_url.rpartition(RETURN_PATH)
    return f"{server}{REST_PATH}{participant}"
