"""Text that looks like contact data, a worker's identifier or a key."""

from __future__ import annotations

import ipaddress
import re

EMAIL, PHONE, ADDRESS, KEY, IDENTIFIER = "[e-mail]", "[phone]", "[address]", "[key]", "[identifier]"

# A match that follows a letter or digit is part of a longer word; an escape such as \n in quoted JSON is not a letter.
_BEGINS = r"(?:(?<![^\W_])|(?<=\\[nrtbf]))"
_AT = r"(?:[@＠]|%40)"
# RFC 5321 allows 64 characters before the @; without a limit, a long run of letters takes quadratic time.
_EMAIL = re.compile(rf"[\w.!#$%&*+/=?^{{|}}~-]{{1,64}}{_AT}[\w-]+(?:\.[\w-]+)+")
# Numbers of games are no phone numbers: one must begin as those of a country do, or follow a word such as "phone".
_GAP = r"(?: ?[()] ?[-/]? ?| ?/ ?|[ .\-\u00a0\u2010-\u2015])?"
_DATE = r"\d{1,2}(?P<dot>[./-])\d{1,2}(?P=dot)\d{2}(?:\d{2})?(?!(?P=dot)?\d)"
_SPELLINGS = "|".join(
    (
        rf"(?:\+ ?|00 ?)(?:1{_GAP}[2-9](?:{_GAP}\d){{9}}|[2-9](?:{_GAP}\d){{8,14}})",  # +49 171 1234567
        rf"\(?0[1-9](?:{_GAP}\d){{7,10}}",  # 0171/1234567, (030) 123456 78, 06 12 34 56 78
        r"(?:1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-.])\d{3}[-. ]\d{4}",  # (415) 555-0132, 415-555-0132
        r"\(\d{2,4}\) ?\d{3,5}[ -]\d{4}",  # (11) 91234-5678
    )
)
_PHONE = re.compile(
    rf"(?:(?<![\w.,/$€£¥+-])(?<!\d:)|(?<=\\[nrtbf]))(?!{_DATE})(?:{_SPELLINGS})(?!\w|[.,:/-]\d| ?[$€£¥%])"
)
_CALLED = re.compile(
    r"((?i:\b(?:phone|telephone|tel|telefon|mobile|cell|handy|whats ?app|sms|(?:call|text|ring|reach) me|wa\.me/))"
    r"[\s:.#=/]*(?:(?i:at|on|is|no|nr|number|under)\b[\s:.#=]*){0,3})"
    rf"[+(]?\d(?:{_GAP}\d){{6,14}}(?!\w|[.,:/-]\d| ?[$€£¥%])"
)
_SEVEN_DIGITS = re.compile(r"\d(?:[^\w\n]{0,3}\d){6}")
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(rf"(?<![\d.]){_OCTET}(?:\.{_OCTET}){{3}}(?!\.?\d)", re.ASCII)
_IPV6 = re.compile(rf"{_BEGINS}(?<!:)[0-9a-fA-F:]{{4,39}}(?:\.[0-9.]{{5,12}}(?<!\.))?(?![\w:])", re.ASCII)
_KEY = re.compile(
    rf"{_BEGINS}(?:(?:sk|rk|pk|xai|gsk|hf|ghp)[-_][\w-]{{12,}}|AIza[\w-]{{20,}}|AKIA[0-9A-Z]{{12,}}"
    r"|(?i:bearer)\s+[\w.~+/-]{12,}=*)"
)
_WORKER = re.compile(rf"{_BEGINS}(?:A(?=[A-Z]*\d)[0-9A-Z]{{11,20}}|[0-9a-f]{{24}})(?![0-9A-Za-z])")
"""Identifiers of Mechanical Turk and Prolific."""
_HINT = re.compile(rf"{_AT}|\d\.\d|:[^:]{{0,4}}:|[a-zA-Z][-_]\w|AIza|AKIA|[bB][eE][aA][rR][eE][rR]|\w{{12}}")
_SHORTEST = 4
"""A valid IPv6 address with fewer digits is more likely a time or a name in code."""


def mask(text: str, *, marker: str | None = None) -> str:
    """Return `text` with each match replaced by the marker of its kind, or by `marker` if given."""
    return mask_identifiers(mask_contacts(text, marker=marker), marker=marker)


def mask_contacts(text: str, *, marker: str | None = None) -> str:
    """Return `text` without e-mail addresses and phone numbers."""
    if "@" in text or "%40" in text or "＠" in text:
        text = _EMAIL.sub(marker or EMAIL, text)
    if _SEVEN_DIGITS.search(text):
        text = _PHONE.sub(marker or PHONE, text)
        text = _CALLED.sub(rf"\1{marker or PHONE}", text)
    return text


def mask_identifiers(text: str, *, marker: str | None = None) -> str:
    """Return `text` without network addresses, workers' identifiers and keys."""
    if not _HINT.search(text):
        return text
    text = _KEY.sub(marker or KEY, text)
    text = _WORKER.sub(marker or IDENTIFIER, text)
    if text.count(":") >= 2:
        text = _IPV6.sub(lambda hit: (marker or ADDRESS) if _is_address(hit[0]) else hit[0], text)
    if text.count(".") >= 3:
        text = _IPV4.sub(marker or ADDRESS, text)
    return text


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return sum(letter != ":" for letter in text) >= _SHORTEST
