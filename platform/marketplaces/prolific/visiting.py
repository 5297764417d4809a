"""How participants arrive by a link from Prolific, and how they return there.

The link has `?PROLIFIC_PID=&STUDY_ID=&SESSION_ID=`; signed links add `prolific_token`, a JSON Web Token (RS256) whose
claim `prolific` says the same. Source: docs.prolific.com, "Retrieve JSON Web Key Set". The format of `aud` is not
documented; a few exact formats are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import jwt
from django.utils import timezone
from django.utils.translation import gettext as _

from marketplaces.kinds import MarketplaceError
from marketplaces.models import Offer
from marketplaces.prolific import codes
from marketplaces.prolific.models import KeySet
from marketplaces.prolific.publishing import NAMES, TREATMENT, page_of, refresh
from marketplaces.prolific.terms import KIND, Status, publication_of
from outgoing.client import ask
from participants.models import Enrolment
from participants.returning import ReturnInstructions
from participants.states import State
from plans.pay import in_currency
from recruiters.arrivals import Arrival
from recruiters.errors import EntryRefused, ExpiredLink, ForgedLink, IncompleteLink
from recruiters.keys import read_key
from recruiters.models import Identity

ISSUER = "https://www.prolific.com"
TOKEN = "prolific_token"
LEEWAY = timedelta(seconds=30)
MIN_CHECK_INTERVAL = timedelta(seconds=2)
_ID = re.compile(r"[0-9a-f]{24}")
_LONGEST_TOKEN = 6000


class Forged(ForgedLink):
    """Raised for a link that Prolific did not sign or that has changed; a new link may work."""

    try_again = True


def arrive(study: str, link: Mapping[str, str]) -> Arrival:
    """Return who arrived; anyone who opens the link while the study is a draft on Prolific gets a preview.

    Raise IncompleteLink, Forged or ExpiredLink; EntryRefused if the study or Prolific's keys are not there.
    """
    if any(link.get(name, "").startswith("{{%") for name in NAMES):
        return Arrival(KIND, worker="", proof="", preview=True)
    publication = publication_of(study__slug=study, remote_id__isnull=False)
    if publication is None:
        reason = _("The researchers have not published it there yet.")
        raise EntryRefused(reason, title=_("This study is not on Prolific"))
    if _is_draft(publication):
        return Arrival(KIND, worker="", proof="", preview=True)
    token, terms = link.get(TOKEN, ""), publication.terms
    claims = _claims(token, publication) if token else {}
    worker, prolific_study, session = _ids(link, claims)
    if prolific_study != publication.remote_id:
        raise Forged(_("The link belongs to another study. Please open the study from its own page on Prolific."))
    if not token and terms.requires_signature:
        raise Forged(_("The link has no signature from Prolific, or was cut off. Please open the study on Prolific."))
    cell = terms.treatments.get(link.get(TREATMENT, ""))
    details = {"STUDY_ID": prolific_study, "SESSION_ID": session, "signed": "yes" if token else "no"}
    return Arrival(KIND, worker=worker, proof=f"{session}/{worker}", details=details, cell=cell, checked=bool(token))


def _ids(link: Mapping[str, str], claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return participant, study and submission from the link or the signed claims, which must agree if both exist."""
    signed = claims.get("prolific", {})
    ids = []
    for name in NAMES:
        link_id = link.get(name, "").strip().lower()
        signed_id = signed.get(name, link_id)
        if not isinstance(signed_id, str) or (link_id and signed_id.lower() != link_id):
            raise Forged(_("The link differs from what Prolific signed. Please open the study from Prolific."))
        value = link_id or signed_id.lower()
        if not _ID.fullmatch(value):
            raise IncompleteLink(_("Please open the study from its own page on Prolific."), try_again=True)
        ids.append(value)
    if claims and claims["sub"].lower() != ids[2]:
        raise Forged(_("The link differs from what Prolific signed. Please open the study from Prolific."))
    return tuple(ids)


def _claims(token: str, publication: Offer) -> dict[str, Any]:
    """Return the claims that Prolific signed."""
    forged = _("Prolific did not sign this link, or it was changed. Please open the study from Prolific.")
    try:
        header = jwt.get_unverified_header(token) if len(token) <= _LONGEST_TOKEN else {}
    except jwt.InvalidTokenError:
        header = {}
    kid = header.get("kid")
    if header.get("alg") != "RS256" or not isinstance(kid, str):
        raise Forged(forged)
    try:
        key = key_named(kid, interface=publication.account.base_address)
    except NoKeys:
        reason = _("Prolific's keys are not available. Please wait a minute and reload this page.")
        title = _("Your link can't be checked at the moment")
        raise EntryRefused(reason, title=title, status=503, try_again=True) from None
    if key is None:
        raise Forged(forged)
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=LEEWAY,
            options={"require": ["exp", "sub", "aud", "iss"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError:
        reason = _("Please go back to Prolific and open the study there again to get a new link.")
        raise ExpiredLink(reason, try_again=True) from None
    except jwt.InvalidTokenError:
        raise Forged(forged) from None
    signed = claims.get("prolific")
    if not isinstance(signed, dict) or not all(isinstance(signed.get(name), str) for name in NAMES):
        raise Forged(forged)
    if not _is_for_us(claims["aud"], publication.address) or not isinstance(claims["sub"], str):
        raise Forged(forged)
    workspace = publication.terms.workspace
    if workspace and signed.get("workspace_id", workspace) != workspace:
        raise Forged(forged)
    return claims


def _is_for_us(audience: Any, address: str) -> bool:
    """Return whether a token was issued for this address, given as its host, its origin, or its URL with any
    parameters.
    """
    expected = urlsplit(address)
    for entry in audience if isinstance(audience, list) else [audience]:
        if not isinstance(entry, str):
            continue
        if entry.lower() in (expected.netloc.lower(), (expected.hostname or "").lower()):
            return True
        if page_of(entry) in (page_of(address), (*page_of(address)[:2], "")):
            return True
    return False


def _is_draft(publication: Offer) -> bool:
    """Return whether it is still a draft on Prolific; if it was one when last checked, check again."""
    if publication.status != Status.UNPUBLISHED:
        return False
    now = timezone.now()
    if publication.heard_at is None or publication.heard_at < now - MIN_CHECK_INTERVAL:
        publication.keep(heard_at=now)
        try:
            refresh(publication)
        except MarketplaceError:
            return True
    return publication.status == Status.UNPUBLISHED


# ---- returning -------------------------------------------------------------------------------------


def leave(enrolment: Enrolment, identity: Identity) -> ReturnInstructions | None:
    """Return the button that reports the ending to Prolific, and the code in case the button fails."""
    publication = publication_of(study__slug=identity.study)
    if publication is None:
        return None
    if enrolment.state == State.RETURNED:
        return ReturnInstructions(
            _("You have returned your submission on Prolific. You do not need to do anything else.")
        )
    code, label = publication.terms.codes[codes.code_of(enrolment)], _("Back to Prolific")
    screen_out = publication.terms.screen_out
    if enrolment.state == State.SCREENED_OUT and screen_out is not None:
        amount = in_currency(screen_out, publication.currency)
        text = _("Return to Prolific with this button. Prolific pays you {amount} for your time.").format(amount=amount)
    elif enrolment.is_paid:
        text = _("Return to Prolific with this button so that your work is recorded.")
    else:
        label = _("Return on Prolific")
        text = _(
            "Please return to Prolific with this button. Prolific will then ask you to return your submission, which "
            "does not count against you."
        )
    address = f"{publication.account.pages}/submissions/complete?cc={quote(code)}"
    return ReturnInstructions(f"{text} {_('If Prolific asks for a code, copy this one.')}", address, label, code=code)


# ---- Prolific's keys -------------------------------------------------------------------------------

PATH = "/.well-known/study/jwks.json"
TIMEOUT = httpx2.Timeout(4.0, connect=3.0)
"""Short time-outs, because a participant is waiting for a page."""
MAX_AGE = timedelta(hours=12)
MIN_FETCH_INTERVAL = timedelta(seconds=20)
"""Minimum time between two fetches, so that links with invented keys do not flood Prolific with calls."""


class NoKeys(Exception):
    """Raised if no key is stored and Prolific does not provide any at the moment."""


def key_named(kid: str, *, interface: str) -> Any | None:
    """Return the public key with this ID; None if Prolific has no such key.

    Keys are fetched when they are old or this one is not among them; if Prolific does not respond, the previous keys
    remain valid.

    Args:
        interface: the address of Prolific's API, as in the account.

    Raises:
        NoKeys
    """
    url = urlsplit(interface)
    key_set, _created = KeySet.objects.get_or_create(address=f"{url.scheme}://{url.netloc}{PATH}")
    key = _stored_key(key_set, kid)
    is_stale = key_set.heard_at is None or key_set.heard_at < timezone.now() - MAX_AGE
    if key is not None and not is_stale:
        return key
    if _may_fetch(key_set):
        _fetch(key_set)
        key = _stored_key(key_set, kid)
    if key is None and not key_set.keys:
        raise NoKeys
    return key


def _may_fetch(key_set: KeySet) -> bool:
    """Return whether this process may fetch now; only one process may, and then none for a while."""
    now = timezone.now()
    due_for_fetch = KeySet.objects.filter(pk=key_set.pk, asked_at=key_set.asked_at)
    if key_set.asked_at is not None and key_set.asked_at > now - MIN_FETCH_INTERVAL:
        return False
    return bool(due_for_fetch.update(asked_at=now))


def _fetch(key_set: KeySet) -> None:
    try:
        answer = ask("GET", key_set.address, timeout=TIMEOUT)
        fetched = answer.json()["keys"] if answer.status_code == 200 else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError, RecursionError):
        return
    valid_keys = [key for key in fetched if read_key(key) is not None] if isinstance(fetched, list) else []
    if valid_keys:
        key_set.keys, key_set.heard_at = valid_keys, timezone.now()
        KeySet.objects.filter(pk=key_set.pk).update(keys=key_set.keys, heard_at=key_set.heard_at)


def _stored_key(key_set: KeySet, kid: str) -> Any | None:
    return next((read_key(key) for key in key_set.keys if key["kid"] == kid), None)
