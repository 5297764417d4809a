"""The keys with which Prolific signs participants' links.

Source: docs.prolific.com, "Retrieve JSON Web Key Set": to be cached and fetched again at least daily.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.utils import timezone

from marketplaces.prolific.models import KeySet
from outgoing.client import ask
from recruiters.keys import read_key

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
