"""What others say about a call, without the key that it was made with.

An endpoint may repeat a key in its error texts whole or in part, percent-encoded or in base 64; none of
that may reach a record, a page or a log.
"""

from __future__ import annotations

import base64
import re
import string
import urllib.parse
from collections.abc import Iterator

CUT = "[key]"
NO_KEY = "none"
"""What is sent to endpoints that need no key; it is no secret."""
TELLING = 8
"""So many characters in a row that also stand in a key are cut out; a shorter key is cut where it stands whole."""

_LOOKS_LIKE_ONE = re.compile(r"\b(?:sk|xai|gsk|AIza)[-_]?[\w*.-]{8,}|(?i:bearer)\s+\S+|(?i:basic)\s+[\w+/=]{12,}")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def without_key(words: str, key: str | None) -> str:
    """`words` with `[key]` in place of every part of `key`, and of whatever looks like a key."""
    if key and key != NO_KEY:
        for form in _forms(key):
            words = _cut(words, form)
    return _LOOKS_LIKE_ONE.sub(CUT, words)


def _forms(key: str) -> Iterator[str]:
    """The key as it is and as it is sent: in an address, and in base 64 at each of the places it may begin."""
    yield key
    if len(key) < TELLING:
        return
    yield urllib.parse.quote(key, safe="")
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + key.encode()).decode().rstrip("=")
        # The first and the last sign also depend on what stands beside the key.
        yield whole[2 * before : -1] if before else whole


def _cut(words: str, form: str) -> str:
    lower, looked_for = words.translate(_LOWER), form.translate(_LOWER)
    size = min(TELLING, len(looked_for))
    parts = {looked_for[at : at + size] for at in range(len(looked_for) - size + 1)}
    kept: list[str] = []
    at = end = 0
    for start in (start for start in range(len(words) - size + 1) if lower[start : start + size] in parts):
        if start > end or not kept:
            kept += [words[at:start], CUT]
        at = end = start + size
    return "".join([*kept, words[at:]])
