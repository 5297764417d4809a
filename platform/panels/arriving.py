"""Read a participant's arrival from a panel's link, and check it in the way that the panel requires."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

import jwt
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables

from panels.endings import Outcome
from panels.leaving import instructions_for
from panels.models import KIND, Panel, names_in, secret_of
from recruiters.arrivals import Arrival, Link
from recruiters.errors import EntryRefused, ExpiredLink, ForgedLink, IncompleteLink, RepeatedParameter
from recruiters.keys import read_keys
from recruiters.models import Identity, LabCode

EXPIRES = "expires"
"""Optional field of a signed link: its expiry time, in seconds since 1970."""
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""Value that sites with the external-question protocol send while a visitor only previews the study."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,79}")
"""Valid IDs. They begin with a letter or digit, so that spreadsheets do not run them as formulas."""
_LONGEST_TOKEN = 6000
_ASK_FOR_LINK = gettext_lazy("Please open the study from the page that invited you.")


_GO_BACK = gettext_lazy("Please go back to the page that invited you and follow the new link there.")
_NO_PANEL = gettext_lazy("This study is not open yet")


def arrive(study: str, link: Mapping[str, str]) -> Arrival:
    """Return the arrival described by a panel's link.

    Raise IncompleteLink, RepeatedParameter, ForgedLink or ExpiredLink; EntryRefused without a panel or an invitation.
    """
    panel = Panel.objects.select_related("study").filter(study__slug=study).first()
    if panel is None:
        reason = _("The researchers have not set up the panel yet. Please try again later.")
        raise EntryRefused(reason, title=_NO_PANEL)
    parsed_link = link if isinstance(link, Link) else Link(link)
    if any(parsed_link.get(name) == PREVIEW for name in names_in(panel.session)):
        return Arrival(KIND, worker="", proof="", preview=True)
    fields = _trusted_fields(panel, parsed_link)
    values = {name: _value(getattr(panel, name), parsed_link, fields) for name in ("person", "task", "session")}
    if panel.check_by == Panel.Check.INVITED:
        _refuse_uninvited(panel, values["person"])
    signed = panel.check_by in (Panel.Check.SIGNED, Panel.Check.TOKEN)
    return Arrival(
        KIND,
        worker=panel.worker(values["person"]),
        proof=_proof(values),
        details=values,
        lasting=signed and not values["session"],
        turned_away=instructions_for(panel, Outcome.OVER_QUOTA, values),
        checked=panel.check_by != Panel.Check.NOTHING,
        once=not signed and not values["session"],
    )


def _proof(values: Mapping[str, str]) -> str:
    """Return what identifies this visit's link, hashed if it is too long to be stored."""
    joined = "/".join(values[name] for name in ("session", "task", "person"))
    return joined if len(joined) <= 160 else hashlib.sha256(joined.encode()).hexdigest()


def _value(names: str, link: Link, fields: Mapping[str, str]) -> str:
    """Return the link's value for the person, task or session; "" if the panel names no field for it."""
    field_names = names_in(names)
    if not field_names:
        return ""
    _refuse_repeated(field_names, link)
    values = {value for name in field_names if (value := fields.get(name, "").strip())}
    if not values:
        raise IncompleteLink(
            _("The link does not contain “{name}”. {back}").format(name=field_names[0], back=_ASK_FOR_LINK)
        )
    if len(values) > 1:
        raise RepeatedParameter(
            _("The link has two different values for “{name}”. {back}").format(name=field_names[0], back=_ASK_FOR_LINK)
        )
    (value,) = values
    if not _ID.fullmatch(value):
        message = _("The value of “{name}” in the link is not a valid ID. The panel may not have filled it in. {back}")
        raise IncompleteLink(message.format(name=field_names[0], back=_ASK_FOR_LINK))
    return value


def _refuse_repeated(names: Iterable[str], link: Link) -> None:
    """Raise RepeatedParameter for the first of these fields that appears more than once in the link."""
    if repeated := [name for name in names if name in link.repeated]:
        raise RepeatedParameter(
            _("The link contains “{name}” more than once. {back}").format(name=repeated[0], back=_ASK_FOR_LINK)
        )


# ---- checks ----------------------------------------------------------------------------------------


def _trusted_fields(panel: Panel, link: Link) -> Mapping[str, str]:
    """Return the fields to use: the link's own, or those in its token."""
    if panel.check_by == Panel.Check.SIGNED:
        _refuse_unsigned(panel, link)
    if panel.check_by == Panel.Check.TOKEN:
        return _claims(panel, link)
    return link


@sensitive_variables()
def _refuse_unsigned(panel: Panel, link: Link) -> None:
    """Check the signature: the hexadecimal HMAC-SHA256 of everything between “?” and “&signature=”."""
    secret = secret_of(panel)
    if secret is None:
        reason = _("The researchers have to enter the panel's secret again. Please try again later.")
        raise EntryRefused(reason, title=_NO_PANEL)
    _refuse_repeated([panel.signature], link)
    signed_part, separator, signature = link.query.rpartition(f"&{panel.signature}=")
    if not separator or "&" in signature:
        raise ForgedLink(
            _("The link has no signature, or text was added after the signature. {back}").format(back=_ASK_FOR_LINK)
        )
    expected = hmac.new(secret.encode(), signed_part.encode(), hashlib.sha256).hexdigest()
    if not constant_time_compare(expected, signature.lower()):
        raise ForgedLink(
            _("The link was not signed by the panel, or it was changed. {back}").format(back=_ASK_FOR_LINK)
        )
    expires_at = parse_qs(signed_part).get(EXPIRES, [""])[0]
    if expires_at and (not expires_at.isascii() or not expires_at.isdigit() or int(expires_at[:12]) < time.time()):
        raise ExpiredLink(_GO_BACK)


def _claims(panel: Panel, link: Link) -> dict[str, str]:
    """Return the claims of a token that is signed with one of the panel's keys (RS256) and has an `exp` claim."""
    _refuse_repeated([panel.signature], link)
    token = link.get(panel.signature, "")
    if not token:
        raise IncompleteLink(
            _("The link does not contain “{name}”. {back}").format(name=panel.signature, back=_ASK_FOR_LINK)
        )
    options: Any = {"require": ["exp"], "verify_aud": False}
    for key in read_keys(panel.public_keys) if len(token) <= _LONGEST_TOKEN else ():
        try:
            claims = jwt.decode(token, key, algorithms=["RS256"], options=options, leeway=30)
        except jwt.ExpiredSignatureError:
            raise ExpiredLink(_GO_BACK) from None
        except jwt.InvalidTokenError:
            continue
        if claims.get("study", panel.study.slug) != panel.study.slug:
            break
        return {name: value for name, value in claims.items() if isinstance(value, str)}
    raise ForgedLink(
        _("The link's token was not signed by the panel, or it was changed. {back}").format(back=_ASK_FOR_LINK)
    )


def _refuse_uninvited(panel: Panel, person: str) -> None:
    """Refuse a person who is not on the list and has not started."""
    if LabCode.objects.filter(study=panel.study.slug, code=person).exists():
        return
    arrivals = Identity.objects.filter(study=panel.study.slug, recruiter=KIND, worker=panel.worker(person))
    if not arrivals.exists():
        reason = _("Please use the link exactly as it was sent to you, or ask the people who invited you.")
        raise EntryRefused(reason, title=_("You are not on the list of invited participants"))
