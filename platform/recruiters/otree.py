"""Participants from an oTree experiment: signed links in, signed requests for results, signed results out.

All are JSON Web Tokens (RFC 7519), signed with the study's link key (HS256); `aud` says what a token is for, so
that none can be used as another. Claims of all: `study` (slug) and, in what oTree signs, `exp`. Claims about a
participant: `sub` (their code, the same in every round and app of an oTree session), `round` (app and round: one
enrolment) and `session`. Links add `group` (in oTree), `back` (the participant's page on the oTree server) and, if
the experiment decides them, `role`, `cell` (its number) and `meet` (ANYONE).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import jwt
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from recruiters.errors import ExpiredLink, ForgedLink, IncompleteLink
from recruiters.models import Identity, OtreeServer

PLAY = "parley:play"
RESULT = "parley:result"
PROGRESS = "parley:progress"
CONNECTION = "parley:connection"
DELIVERY = "otree:result"
KIND = "otree"
ANYONE = "anyone"
"""Value of the claim `meet` with which people of different groups and sessions in oTree may play together."""
REST_PATH = "/api/participant_vars/"
"""The path at which an oTree server takes values for one participant."""
VERSION_PATH = "/api/otree_version"
"""The path at which an oTree server answers anyone who has its REST key."""
RETURN_PATH = "/InitializeParticipant/"
"""The path at which an oTree server resumes a participant's session."""
_LONGEST = 75
_SALT = "recruiters.otree.link"


@dataclass(frozen=True)
class Visitor:
    """The participant whom a link admits.

    Attributes:
        person: the participant's code in oTree.
        subject: the person, app and round: one enrolment.
        session: the code of the oTree session.
        together: the same text for all who may play together; empty if anyone may.
    """

    person: str
    subject: str
    session: str
    together: str
    return_url: str
    role: str | None
    cell: int | None


@dataclass(frozen=True)
class Question:
    """A study, and the verified claims of a request about it."""

    study: str
    server: OtreeServer
    claims: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """The person, app and round that the request is about."""
        return _subject(self.claims)


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
    return_url, role, cell = claims.get("back"), claims.get("role"), claims.get("cell")
    if not isinstance(return_url, str) or server is None or not is_allowed(return_url, server):
        raise ForgedLink(
            _(
                "The study doesn't accept links from this address. Please tell the people who invited you; they can "
                "add their oTree server's address to the study."
            )
        )
    is_well_formed = isinstance(role, str | None) and isinstance(cell, int | None)
    if claims["study"] != study or not is_well_formed:
        raise ForgedLink
    person, session = _text(claims, "sub"), _text(claims, "session")
    group = "" if claims.get("meet") == ANYONE else f"{session}/{_text(claims, 'round')}/{claims.get('group')}"
    return Visitor(
        person=person,
        subject=_subject(claims),
        session=session,
        together=hashlib.sha256(group.encode()).hexdigest()[:16] if group else "",
        return_url=return_url,
        role=role or None,
        cell=cell,
    )


def question_of(token: str, *, audience: str) -> Question:
    """Return what a request is about. Raise ExpiredLink or ForgedLink."""
    try:
        study = jwt.decode(token, options={"verify_signature": False}).get("study")
    except jwt.InvalidTokenError:
        raise ForgedLink from None
    # The token is not yet verified: ignore names that the database cannot hold.
    is_storable = isinstance(study, str) and study.isprintable()
    server = OtreeServer.objects.filter(study=study).first() if is_storable else None
    claims = _claims(token, server, audience=audience)
    assert server is not None
    return Question(study=server.study, server=server, claims=claims)


def signed_vars(identity: Identity, server: OtreeServer, result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return a result as oTree's variables: by round, a token that names the participant, so it counts for no one else.

    There is one token for each key that the server may have been given.
    """
    person, _slash, round_of_app = identity.proof.partition("/")
    claims = {"aud": DELIVERY, "study": server.study, "sub": person, "round": round_of_app, "result": result}
    return {round_of_app: [jwt.encode(claims, key, "HS256") for key in _keys(server)]}


def _claims(token: str, server: OtreeServer | None, *, audience: str, expired: bool = False) -> dict[str, Any]:
    """Return a token's verified claims; with `expired`, also those of an expired token."""
    options: Any = {"require": ["exp", "study", "aud"], "verify_exp": not expired}
    for key in _keys(server) if server is not None else ():
        try:
            return dict(jwt.decode(token, key, algorithms=["HS256"], audience=audience, options=options))
        except jwt.ExpiredSignatureError:
            raise ExpiredLink from None
        except jwt.InvalidTokenError:
            continue
    raise ForgedLink


def _subject(claims: Mapping[str, Any]) -> str:
    return f"{_text(claims, 'sub')}/{_text(claims, 'round')}"


def _text(claims: Mapping[str, Any], name: str) -> str:
    """Return a claim that the database can hold; raise ForgedLink if it is missing or something else."""
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise ForgedLink
    return value


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
