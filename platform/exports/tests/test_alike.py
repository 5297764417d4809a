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
