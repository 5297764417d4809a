"""Addresses, identifiers and keys of unknown people."""

from __future__ import annotations

import time

import pytest

from exports import alike
from exports.scrubbing import Scrubber


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to Ann.Lee+x@mail.example.org!", "write to [e-mail]!"),
        ('{"message": "a.b@c.de\\nbye"}', '{"message": "[e-mail]\\nbye"}'),
        ("see /?mail=Ann.Lee%40mail.example.org&x", "see [e-mail]&x"),
        ("at Ann＠example.org", "at [e-mail]"),
        ("from 192.168.0.17, really", "from [address], really"),
        ("at 2001:db8::8a2e:370:7334.", "at [address]."),
        ("at ::ffff:192.0.2.128 too", "at [address] too"),
        ("use sk-abcDEF1234567890abcd", "use [key]"),
        ("Authorization: Bearer abcdefghijkl.mnop", "Authorization: [key]"),
        ("AIzaSyA1234567890_abcdefghijkl", "[key]"),
        ("I am A1B2C3D4E5F6G7 there", "I am [identifier] there"),
        ('"said\\nA1B2C3D4E5F6G7"', '"said\\n[identifier]"'),
        ('"said\\nsk-abcDEF1234567890abcd"', '"said\\n[key]"'),
        ("pid 5f3c1a2b4d5e6f7a8b9c0d1e", "pid [identifier]"),
        ("call +49 171 1234567 now", "call [phone] now"),
        ("+49 (0)30/123 456-78!", "[phone]!"),
        ("+1 415 555 0132, +14155550132", "[phone], [phone]"),
        ("0049 30 12345678", "[phone]"),
        ("0171/1234567 or 0171 1234567 500 points", "[phone] or [phone] 500 points"),
        ("(030) 1234567; 020 7946 0958", "[phone]; [phone]"),
        ("06.12.34.56.78", "[phone]"),
        ("(415) 555-0132 / 415-555-0132 / 415.555.0132 / 1-800-555-0199", "[phone] / [phone] / [phone] / [phone]"),
        ("(11) 91234-5678", "[phone]"),
        ('{"message": "hi\\n0171 1234567"}', '{"message": "hi\\n[phone]"}'),
        ("my phone number is 612 345 678.", "my phone number is [phone]."),
        ("WhatsApp: 5551234567; text me at 555-0132", "WhatsApp: [phone]; text me at [phone]"),
        ("https://wa.me/491711234567", "https://wa.me/[phone]"),
    ],
)
def test_text_that_looks_like_an_identifier_is_masked(text, expected):
    assert alike.mask(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I offer 6000.50, you get 3999.5 of 10.000.000",
        "version 1.2.3 of 2026-11-21 at 12:30:45",
        "a::b is no address, nor is 10:20",
        "see you @ noon",
        "a basic understanding, ABSOLUTELYSURE",
        "300.300.300.300",
        "max_tokens, sk-ill and task-force",
        "0b0e1a44-4b0f-4a6e-8f1a-2f7e3f0a9b11",
        "I offer 12500, you take 100-50-25, or 1000-2000-3000, or 300 200 1000",
        "1 000 000 or 1,000,000 or 1.000.000 or 1000000000 points, +1000 -5000 +25000",
        "call 1500000! I text 2000000 on 01.02.2026 100 times, 05-11-2026 12:30, 01/12/25 14 1000",
        "$0123456789 and 4155550132 €; 0.123456789; 0.5 0.25 0.125",
        "0000-0002-1825-0097, ISBN 978-3-16-148410-0, 10.5281/zenodo.0123456789, 2026-11-21 1000",
        "prices 10 20 30 40 50 60 70, quantities (10) 20 (30) 40",
    ],
)
def test_numbers_times_and_words_are_kept(text):
    assert alike.mask(text) == text


def test_long_runs_of_letters_take_no_longer_than_as_many_words():
    for run in ("a" * 30_000, "a." * 15_000, "a@a-" * 8_000, "%40" * 10_000):
        started_at = time.process_time()
        alike.mask(f"{run} @")
        assert time.process_time() - started_at < 10, "quadratic time would be half a minute"
    assert alike.mask("ann@a.org/bob@b.org") == "[e-mail][e-mail]"


def test_markers_never_make_text_longer_than_the_rules_allow():
    assert Scrubber().text("a@b.cd") == "a@b.cd"
    message = "a@b.cd " * 10
    assert len(Scrubber(generic=True).text(message, limit=len(message))) <= len(message)
