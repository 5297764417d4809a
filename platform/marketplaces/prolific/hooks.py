"""What Prolific tells by itself (webhooks): a hint to ask again at once, and nothing that is believed.

Source: docs.prolific.com, "Webhooks", read on 2026-11-22. Events come at least once and in any order, so an event
changes nothing here: it only brings the next question forward, and what Prolific answers then is kept. An event that
is lost costs a minute, a replayed one nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta

from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from marketplaces.kinds import NotPossible
from marketplaces.models import Recruitment
from marketplaces.prolific.client import client_of
from marketplaces.prolific.models import Hook, HookEvent, Publication

EVENTS = ("submission.status.change", "study.status.change")
LARGEST = 64 * 1024
FRESH = timedelta(days=1)
"""How old a signed event may be: Prolific repeats those that were not taken."""
KEPT = timedelta(days=30)


def subscribe(publication: Publication, *, address: str) -> Hook:
    """Have Prolific tell this account's workspace's events to us; saying it again renews the secret.

    Args:
        address: of our side, up to the hook's own name.

    Raises:
        NotPossible: Prolific sends events to https addresses alone.
        MarketplaceError
    """
    if not address.startswith("https://") and not publication.rehearsed:
        raise NotPossible(_("Prolific sends events only to addresses that begin with https://."))
    client = client_of(publication.account)
    hook, _made = Hook.objects.get_or_create(account=publication.account, workspace=publication.workspace)
    hook.keep_secret(client.new_hook_secret(publication.workspace))
    hook.save()
    target = f"{address}{hook.uid}/"
    there = {one.get("event_type") for one in client.hooks(publication.workspace) if one.get("target_url") == target}
    for event in EVENTS:
        if event not in there:
            client.subscribe(workspace=publication.workspace, event=event, target=target)
    Hook.objects.filter(pk=hook.pk).update(subscribed_at=timezone.now())
    return hook


@csrf_exempt
@require_POST
def hear(request: HttpRequest, uid: str) -> HttpResponse:
    """Take one event: 204 where it is signed, new or not; 403 where it is not Prolific's."""
    hook = Hook.objects.select_related("account").filter(uid=uid).first()
    if hook is None:
        return HttpResponse(status=404)
    try:
        body = request.read(LARGEST + 1)
    except RequestDataTooBig:
        body = b"x" * (LARGEST + 1)
    if len(body) > LARGEST:
        return HttpResponse(status=413)
    at = request.headers.get("X-Prolific-Request-Timestamp", "")
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    if not _is_fresh(at) or not _is_signed(hook, at, body, signature):
        return HttpResponse(status=403)
    if _is_new(request.headers.get("X-Event-ID", ""), signature):
        _ask_soon(hook, body)
    return HttpResponse(status=204)


def _is_fresh(at: str) -> bool:
    known = at.isascii() and at.isdigit() and len(at) < 12
    return known and abs(time.time() - int(at)) < FRESH.total_seconds()


@sensitive_variables()
def _is_signed(hook: Hook, at: str, body: bytes, signature: str) -> bool:
    """The base64 of the HMAC-SHA256 of the timestamp and the body."""
    secret = hook.secret()
    if not secret:
        return False
    true = base64.b64encode(hmac.new(secret.encode(), at.encode() + body, hashlib.sha256).digest())
    return constant_time_compare(true, signature.encode())


def _is_new(event: str, signature: str) -> bool:
    """Whether neither its name nor its signature was heard before. The name itself is not signed."""
    HookEvent.objects.filter(at__lt=timezone.now() - KEPT).delete()
    digest = hashlib.sha256(signature.encode()).hexdigest()
    name = hashlib.sha256(event.encode()).hexdigest() if event else digest
    try:
        with transaction.atomic():
            HookEvent.objects.create(name=name, signature=digest)
    except IntegrityError:
        return False
    return True


def _ask_soon(hook: Hook, body: bytes) -> None:
    """Bring the next question forward: about the study that is named, or about all of the account's."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return
    about = Publication.objects.filter(account=hook.account)
    if isinstance(told, dict) and str(told.get("event_type", "")).startswith("study."):
        about = about.filter(prolific_id=str(told.get("resource_id", ""))[:40])
    due = Recruitment.objects.filter(study__in=about.values("study"), failures=0, next_at__gt=timezone.now())
    due.update(next_at=timezone.now())
