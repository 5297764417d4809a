"""People who come from an oTree experiment: signed links in, signed questions for results.

Both are JSON Web Tokens (RFC 7519), signed by the oTree server with the study's link key (HS256). Claims:
`aud` (PLAY or RESULT, so that a participant's link opens no result), `study` (short name), `sub` (who, and
which round of which app: one way through the study), `exp`, and in links `back` (the participant's page
on the oTree server) and, if oTree decides it, `role`.
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
"""Where an oTree server takes values for one participant."""
RETURN_PATH = "/InitializeParticipant/"
"""Where an oTree server takes a participant back to the page where they were."""
_LONGEST = 100
_SALT = "recruiters.otree.link"


@dataclass(frozen=True)
class Visitor:
    """Whom a link lets in."""

    subject: str
    back: str
    role: str | None


@dataclass(frozen=True)
class Question:
    """Whose result is asked for."""

    study: str
    subject: str


def link_key(server: OtreeServer) -> str:
    """The key that the oTree server signs with: derived, so that no database or backup holds it."""
    return _keys(server)[0]


def _keys(server: OtreeServer) -> list[str]:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [
        salted_hmac(_SALT, f"{server.study}/{server.salt}", secret=secret, algorithm="sha256").hexdigest()
        for secret in secrets
    ]


def visitor_by(study: str, link: Mapping[str, str]) -> Visitor:
    """Who comes by `?token=`.

    Raises:
        IncompleteLink, ExpiredLink, ForgedLink: with what to do; nothing was changed.
    """
    token = link.get("token", "")
    if not token:
        raise IncompleteLink(_("Please open the study from the experiment's own page."))
    server = OtreeServer.objects.filter(study=study).first()
    try:
        claims = _claims(token, server, audience=PLAY)
    except ExpiredLink:
        raise ExpiredLink(back=_way_back(token, server)) from None
    if claims.get("study") != study:
        raise ForgedLink
    back, role = claims.get("back"), claims.get("role")
    if not isinstance(back, str) or server is None or not is_allowed(back, server):
        raise ForgedLink(
            _(
                "This link comes from an address that the study does not know. Please tell the people who invited "
                "you; they can add the address of their oTree server to the study."
            )
        )
    if role is not None and not isinstance(role, str):
        raise ForgedLink
    return Visitor(subject=claims["sub"], back=back, role=role or None)


def question_of(token: str) -> Question:
    """Whose result a token asks for.

    Raises:
        ExpiredLink, ForgedLink
    """
    try:
        study = jwt.decode(token, options={"verify_signature": False}).get("study")
    except jwt.InvalidTokenError:
        raise ForgedLink from None
    # Whoever made the token may have written anything: what no database takes is no study's name.
    named = isinstance(study, str) and study.isprintable()
    server = OtreeServer.objects.filter(study=study).first() if named else None
    return Question(study=str(study), subject=_claims(token, server, audience=RESULT)["sub"])


def _claims(token: str, server: OtreeServer | None, *, audience: str, expired: bool = False) -> dict[str, Any]:
    """What a token truly says; `expired` reads one that is no longer good for anything else."""
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


def _way_back(token: str, server: OtreeServer | None) -> str:
    """The participant's page that an expired link names, if the study knows it; else nothing."""
    back = _claims(token, server, audience=PLAY, expired=True).get("back")
    return back if isinstance(back, str) and server is not None and is_allowed(back, server) else ""


def is_allowed(back: str, server: OtreeServer) -> bool:
    """Whether it is a participant's page below one of the study's oTree addresses."""
    if len(back) > 300 or not back.isprintable() or "\\" in back:
        return False
    try:
        found = urlsplit(back)
    except ValueError:  # such as a bracket that is not closed
        return False
    for address in server.allowed():
        wanted = urlsplit(address)
        page = wanted.path.rstrip("/") + RETURN_PATH
        if (found.scheme, found.netloc) == (wanted.scheme, wanted.netloc) and found.path.startswith(page):
            return found.path.removeprefix(page).isalnum() and not found.query and not found.fragment
    return False


def rest_address(back: str) -> str:
    """Where the oTree server takes results of the participant whose way back this is."""
    server, _path, participant = back.rpartition(RETURN_PATH)
    return f"{server}{REST_PATH}{participant}"
