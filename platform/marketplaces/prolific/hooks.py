"""Prolific's notifications (webhooks): a hint to sync again at once, whose content is not trusted.

Source: docs.prolific.com, "Webhooks", read on 2026-11-22. Events are delivered at least once and in any order, so an
event changes no data here. It only brings the next sync forward, which stores what Prolific then reports. A lost event
delays this by a minute; a replayed one has no effect.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta

from django.core.cache import cache
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from marketplaces.kinds import NotPossible
from marketplaces.models import Account, Offer, Recruitment
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.models import Hook

EVENTS = ("submission.status.change", "study.status.change")
MAX_BYTES = 64 * 1024
MAX_AGE = timedelta(days=1)
"""Maximum age of a signed event: Prolific repeats events that were not accepted."""
RETENTION = timedelta(days=2)
"""How long events are remembered: longer than they are accepted."""


def subscribe(publication: Offer, *, address: str) -> Hook:
    """Subscribe to events from this account's workspace; doing so again renews the secret.

    Args:
        address: this server's address for webhooks, up to the webhook's own identifier.

    Raises:
        NotPossible: Prolific sends events only to https addresses.
        MarketplaceError
    """
    account, workspace = publication.account, publication.terms.workspace
    if not address.startswith("https://") and account.place != Account.Place.REHEARSAL:
        raise NotPossible(_("Prolific sends events only to addresses that begin with https://."))
    client = client_of(account)
    hook, _created = Hook.objects.get_or_create(account=account, workspace=workspace)
    hook.keep_secret(text_of(client.ask("POST", "/hooks/secrets/", {"workspace_id": workspace}), "value"))
    hook.save()
    target = f"{address}{hook.uid}/"
    subscribed = {
        subscription.get("event_type")
        for subscription in client.rows("/hooks/subscriptions/", workspace_id=workspace)
        if subscription.get("target_url") == target
    }
    for event in EVENTS:
        if event not in subscribed:
            client.subscribe(workspace=workspace, event=event, target=target)
    Hook.objects.filter(pk=hook.pk).update(subscribed_at=timezone.now())
    return hook


@csrf_exempt
@require_POST
def receive_event(request: HttpRequest, uid: str) -> HttpResponse:
    """Receive one event: 204 if it is signed, whether or not it is new; 403 if it is not from Prolific."""
    hook = Hook.objects.select_related("account").filter(uid=uid).first()
    if hook is None:
        return HttpResponse(status=404)
    try:
        body = request.read(MAX_BYTES + 1)
    except RequestDataTooBig:
        body = b"x" * (MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        return HttpResponse(status=413)
    timestamp = request.headers.get("X-Prolific-Request-Timestamp", "")
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    if not _is_fresh(timestamp) or not _is_signed(hook, timestamp, body, signature):
        return HttpResponse(status=403)
    if _is_new(request.headers.get("X-Event-ID", ""), signature):
        _sync_soon(hook, body)
    return HttpResponse(status=204)


def _is_fresh(timestamp: str) -> bool:
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12
    return is_number and abs(time.time() - int(timestamp)) < MAX_AGE.total_seconds()


@sensitive_variables()
def _is_signed(hook: Hook, timestamp: str, body: bytes, signature: str) -> bool:
    """Return whether the signature is the base64 HMAC-SHA256 of the timestamp and the body."""
    secret = hook.secret()
    if not secret:
        return False
    expected = base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest())
    return constant_time_compare(expected, signature.encode())


def _is_new(event: str, signature: str) -> bool:
    """Return whether neither its ID nor its signature has been seen before. The ID itself is not signed."""
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in (event, signature) if text}
    return all([cache.add(f"prolific-event-{digest}", True, RETENTION.total_seconds()) for digest in digests])


def _sync_soon(hook: Hook, body: bytes) -> None:
    """Bring the next sync forward, for the study in the event or for all of the account's studies."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return
    publications = Offer.objects.filter(account=hook.account)
    if isinstance(payload, dict) and str(payload.get("event_type", "")).startswith("study."):
        publications = publications.filter(remote_id=str(payload.get("resource_id", ""))[:40])
    recruitments = Recruitment.objects.filter(
        study__in=publications.values("study"), failures=0, next_at__gt=timezone.now()
    )
    recruitments.update(next_at=timezone.now())
