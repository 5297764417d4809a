"""Send what was found: several alerts in one e-mail or request, each once, and retry what did not arrive."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import smtplib
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx2
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_variables

from notifying.models import SET_UP, Alert, Kind, Recipient
from outgoing.client import AddressRefused, ask

log = logging.getLogger(__name__)
BATCH = timedelta(seconds=60)
"""How long an alert waits for others, so that they are told together."""
QUIET = timedelta(minutes=10)
"""The least time between two notices to one address."""
CLAIM = timedelta(minutes=5)
"""After a crash while sending, the notice is sent again after this time."""
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)
EARLIER = timedelta(days=1)
"""A new address is also told of what was found so long before."""
SECONDS = 10
_NAMESPACE = uuid.UUID("5e0d9b1c-6a0f-4b37-9f0e-2a4d1f6c8b11")


class NotSent(Exception):
    """A notice did not arrive; `str(error)` says why to those who set the address.

    Attributes:
        permanent: the address was refused, so nothing is sent again before someone has saved it.
    """

    def __init__(self, problem: str, *, permanent: bool = False):
        super().__init__(problem)
        self.permanent = permanent


def send_due() -> int:
    """Send every notice that is due; return how many arrived. One error stops no other."""
    arrived = 0
    for recipient in Recipient.objects.select_related("study").filter(next_at__lte=timezone.now()).order_by("next_at"):
        try:
            arrived += _send_to(recipient)
        except Exception:
            log.exception("A notice of the study %s was not sent; others are not affected.", recipient.study.slug)
    return arrived


def untold(recipient: Recipient) -> list[Alert]:
    """Return the alerts of which this address is still to be told, oldest first."""
    kinds = [kind for kind in recipient.kinds if kind != Kind.ABSENCE]
    wanted = Q(kind__in=kinds) | Q(kind=SET_UP, subject=str(recipient.pk))
    if Kind.ABSENCE in recipient.kinds:
        wanted |= Q(kind=Kind.ABSENCE, subject=str(recipient.absence_percent))
    found = Alert.objects.filter(wanted, study=recipient.study_id, found_at__gt=recipient.created_at - EARLIER)
    return list(found.exclude(pk__in=recipient.told.values("pk")).order_by("pk"))


def _send_to(recipient: Recipient) -> bool:
    alerts, now = untold(recipient), timezone.now()
    if not alerts or (alerts[0].found_at > now - BATCH and alerts[0].kind != SET_UP):
        return False
    row = Recipient.objects.filter(pk=recipient.pk)
    if not row.filter(next_at=recipient.next_at).update(next_at=now + CLAIM):
        return False  # another worker sends it
    try:
        _post(recipient, alerts) if recipient.is_webhook else _mail(recipient, alerts)
    except NotSent as failure:
        wait = min(FIRST_WAIT * 2 ** min(recipient.attempts, 10), LONGEST_WAIT)
        row.update(
            next_at=None if failure.permanent else now + wait,
            attempts=recipient.attempts + 1,
            problem=str(failure)[:300],
            problem_at=now,
        )
        return False
    recipient.told.add(*alerts)
    row.update(next_at=now + QUIET, attempts=0, problem="", problem_at=None)
    return True


# ---- what it says: counts and links, nothing of participants ------------------------------------------------


def sentence_of(alert: Alert) -> str:
    """Return what the notice says of an alert."""
    facts = alert.facts
    if alert.kind == Kind.MODEL:
        return facts.get("why") or _("“{name}” does not respond.").format(name=alert.subject)
    if alert.kind == Kind.BUDGET:
        whose = _("this study") if alert.subject.startswith("study") else _("everything today")
        return _("Spending on models, {whose}: ${spent} of ${cap} ({percent} %).").format(whose=whose, **facts)
    if alert.kind == Kind.COMPLETE:
        return _("Every cell of version {version} is full: {completed} participants completed.").format(**facts)
    if alert.kind == Kind.ABSENCE:
        return _("{absent} of {playing} participants in matches are absent.").format(**facts)
    if alert.kind == SET_UP:
        return _("This address receives the notices of this study.")
    number = facts["number"]
    if alert.kind == Kind.QUESTION:
        text = ngettext("{number} question waits for an answer.", "{number} questions wait for an answer.", number)
    elif alert.subject == "due":
        text = ngettext("{number} payment waits for approval.", "{number} payments wait for approval.", number)
    else:
        text = ngettext(
            "It is unknown whether {number} payment was made.",
            "It is unknown whether {number} payments were made.",
            number,
        )
    return text.format(number=number)


def _link(alert: Alert) -> str:
    page = "paydesk:page" if alert.kind == Kind.PAYMENTS else "monitoring:page"
    return f"{settings.SITE_URL.rstrip('/')}{reverse(page, args=[alert.study_id])}"


# ---- e-mail ---------------------------------------------------------------------------------------------


def _mail(recipient: Recipient, alerts: Sequence[Alert]) -> None:
    if not settings.EMAIL_URL:
        raise NotSent(_("This server sends no e-mail. Its administrator can set EMAIL_URL."))
    title = " ".join(recipient.study.title.split())
    lines = [f"{sentence_of(alert)}\n{_link(alert)}" for alert in alerts]
    footer = _("You receive this because your address is set in the study's notices: {url}").format(
        url=f"{settings.SITE_URL.rstrip('/')}{reverse('admin:notifying_recipient_change', args=[recipient.pk])}"
    )
    subject = f"[Parley] {title}: {sentence_of(alerts[0])}"[:200]
    message = EmailMessage(subject, "\n\n".join([*lines, footer]) + "\n", to=[recipient.address])
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as refusal:
        code, answer = next(iter(refusal.recipients.values()))
        problem = _("The mail server refused this address: {reply}").format(reply=_reply(code, answer))
        raise NotSent(problem, permanent=500 <= code < 600) from None
    except smtplib.SMTPResponseException as error:
        reply = _reply(error.smtp_code, error.smtp_error)
        raise NotSent(_("The mail server did not take the notice: {reply}").format(reply=reply)) from None
    except (smtplib.SMTPException, OSError) as error:
        log.warning("The mail server cannot be used: %s", type(error).__name__)
        raise NotSent(_("The mail server cannot be reached.")) from None


def _reply(code: int, reply: bytes | str) -> str:
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    return f"{code} {' '.join(text.split())}"


# ---- webhooks: https://www.standardwebhooks.com ---------------------------------------------------------------


@sensitive_variables("secret")
def _post(recipient: Recipient, alerts: Sequence[Alert]) -> None:
    body = json.dumps(
        {
            "type": "study.alert",
            "study": {"slug": recipient.study.slug, "title": recipient.study.title},
            "alerts": [
                {
                    "kind": alert.kind,
                    "text": sentence_of(alert),
                    "found_at": alert.found_at.isoformat(),
                    "link": _link(alert),
                    **alert.facts,
                }
                for alert in alerts
            ],
        }
    ).encode()
    identity = str(uuid.uuid5(_NAMESPACE, f"{recipient.pk} {[alert.pk for alert in alerts]}"))
    headers = {"content-type": "application/json", "webhook-id": identity, "webhook-timestamp": str(int(time.time()))}
    if secret := recipient.secret():
        headers["webhook-signature"] = signature(secret, headers, body)
    options: dict[str, Any] = {"timeout": httpx2.Timeout(SECONDS), "seconds": SECONDS, "max_bytes": 2**16}
    try:
        status = ask("POST", recipient.address, content=body, headers=headers, **options).status_code
    except AddressRefused as refusal:
        raise NotSent(str(refusal)) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        log.info("A webhook cannot be reached: %s", type(error).__name__)
        raise NotSent(_("The webhook cannot be reached.")) from None
    if status >= 300:
        raise NotSent(_("The webhook responded with status {status}.").format(status=status), permanent=status == 410)


@sensitive_variables("secret")
def signature(secret: str, headers: dict[str, str], body: bytes) -> str:
    """Return the header webhook-signature as Standard Webhooks defines it: HMAC-SHA256 of id, time and body."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()


@sensitive_variables("secret", "encoded")
def key_of(secret: str) -> bytes:
    """Return a secret's bytes: decoded if it has the standard's own form, "whsec_" and base64.

    Raises:
        ValueError: it has that form, but is not base64.
    """
    encoded = secret.removeprefix("whsec_")
    return secret.encode() if encoded == secret else base64.b64decode(encoded, validate=True)
