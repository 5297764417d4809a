"""Remove a call's key from other parties' texts about the call.

An endpoint may repeat a key in its error texts in whole or in part, percent-encoded or in base 64; none of
that may reach a record, a page or a log.
"""

from __future__ import annotations

import base64
import re
import string
import urllib.parse
from collections.abc import Iterator

REPLACEMENT = "[key]"
NO_KEY = "none"
"""Sent to endpoints that need no key; not a secret."""
SHORTEST_RUN = 8
"""Runs of this many characters that also occur in a key are removed; a shorter key is removed where it occurs whole."""
SHORTEST_KEY = 5
"""Shorter keys, such as the "a" that people enter for a server that needs none, are no secrets and occur in words."""

_KEY_PATTERN = re.compile(r"\b(?:sk|xai|gsk|AIza)[-_]?[\w*.-]{8,}|(?i:bearer)\s+\S+|(?i:basic)\s+[\w+/=]{12,}")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def without_key(text: str, key: str | None) -> str:
    """Return `text` with `[key]` in place of every part of `key`, and of anything that looks like a key."""
    if key and key != NO_KEY and len(key) >= SHORTEST_KEY:
        for form in _encoded_forms(key):
            text = _remove_form(text, form)
    return _KEY_PATTERN.sub(REPLACEMENT, text)


def _encoded_forms(key: str) -> Iterator[str]:
    """Yield the key as it is and as it is sent: in a URL, and in base 64 at each offset it may start from."""
    yield key
    if len(key) < SHORTEST_RUN:
        return
    yield urllib.parse.quote(key, safe="")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + key.encode()).decode().rstrip("=")
        # The first and the last character also depend on the neighbouring ones.
        yield encoded[2 * offset : -1] if offset else encoded


def _remove_form(text: str, form: str) -> str:
    lower, pattern = text.translate(_LOWER), form.translate(_LOWER)
    size = min(SHORTEST_RUN, len(pattern))
    runs = {pattern[start : start + size] for start in range(len(pattern) - size + 1)}
    pieces: list[str] = []
    end = 0
    for start in (start for start in range(len(text) - size + 1) if lower[start : start + size] in runs):
        if start > end or not pieces:
            pieces += [text[end:start], REPLACEMENT]
        end = start + size
    return "".join([*pieces, text[end:]])
