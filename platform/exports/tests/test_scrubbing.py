"""Anything that identifies people is removed, and nothing else is changed."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exports.scrubbing import Scrubber
from participants.consent import checked_name
from participants.steps import StepRefused


@pytest.mark.parametrize(
    ("name", "text", "scrubbed"),
    [
        ("Maria", "I am Maria, and MARIA's offer stands, maria!", "I am [name], and [name]'s offer stands, [name]!"),
        ("Maria", "Mariana and annamaria stay", "Mariana and annamaria stay"),
        ("Maria", "*_Maria_*", "*_[name]_*"),
        ("Ann", "Ann\nAnnual", "[name]\nAnnual"),
        ("José", "jose\u0301 JOSÉ Jos\u00e9", "[name] [name] [name]"),
        ("Jose", "José is another", "José is another"),
        ("Strauß", "STRAUSS, strauss and Strauß", "[name], [name] and [name]"),
        ("Jean Luc", "jean  luc and Jean\nLuc but not Jean", "[name] and [name] but not Jean"),
        ("O'Neil", "o’neil", "[name]"),
        ("O'Neil-Łuk", json.dumps("O’NEIL–ŁUK"), '"[name]"'),
        ("李明", "我是李明。", "我是[name]。"),
        ("J.R.", "It is J.R. here", "It is [name] here"),
        ("Maria", r'{"message": "Hello\nMaria\tMaria"}', r'{"message": "Hello\n[name]\t[name]"}'),
        ("Zoë", json.dumps({"message": "Zoë"}), '{"message": "[name]"}'),
        ("Zoë", json.dumps(json.dumps("Zoë")), '"\\"[name]\\""'),
        ("Jean Luc", json.dumps("Jean\nLuc, Jean_Luc, Jean%20Luc"), '"[name], [name], [name]"'),
        ("Jean Luc", "Je\u00adan\u200b Luc 👨\u200d👩 and ＪＥＡＮ Luc", "[name] 👨👩 and [name]"),
        ("Maria", "👨\u200d👩 Mar\u00edas ½", "👨\u200d👩 Mar\u00edas ½"),
    ],
)
def test_display_names_are_removed_as_whole_words(name, text, scrubbed):
    assert Scrubber(names=[name]).text(text) == scrubbed


def test_long_identifiers_are_removed_even_within_words():
    scrubber = Scrubber(identifiers=["A1B2", "A1B2C3D4E5", "7"])
    assert scrubber.text("workerId=A1B2C3D4E5&x, xA1B2C3D4E5x") == "workerId=[identifier]&x, x[identifier]x"
    assert scrubber.text("a1b2 but not xA1B2") == "[identifier] but not xA1B2"
    assert scrubber.text("I want 7") == "I want 7"


def test_contact_data_is_removed_whole_before_names():
    scrubber = Scrubber(names=["Robin", "Mail", "Smith"], identifiers=["0132"], generic=True)
    assert scrubber.text("write to smith.robin@acme-law.de") == "write to [e-mail]"
    assert scrubber.text("Robin Smith, +1 415 555 0132") == "[name] [name], [phone]"
    assert scrubber.text("Mail: robin@x.org") == "[name]: [e-mail]"


def test_all_text_in_plain_data_is_scrubbed_but_not_numbers():
    data = {"messages": [{"content": "Kim: 5"}], "n": 5, "deep": [["Kim", None, True]]}
    assert Scrubber(names=["Kim"]).data(data) == {
        "messages": [{"content": "[name]: 5"}],
        "n": 5,
        "deep": [["[name]", None, True]],
    }


def test_game_words_are_kept_even_if_someone_has_that_name():
    move = {"decision": "accept", "message": "I, Accept, accept", "price": 3.0}
    scrubbed = Scrubber(names=["Accept"]).move(move, choices=frozenset({"decision"}), limit=2000)
    assert scrubbed == {"decision": "accept", "message": "I, [name], [name]", "price": 3.0}


def test_scrubbed_messages_respect_the_length_limit():
    message = "Al " * 666
    scrubbed = Scrubber(names=["Al"]).move({"message": message}, choices=frozenset(), limit=2000)["message"]
    assert "Al" not in scrubbed
    assert len(scrubbed) <= len(message)


LETTERS = st.text(st.characters(categories=["Lu", "Ll", "Lo"]), min_size=1, max_size=12)
NAMES = st.one_of(LETTERS, st.builds("{} {}".format, LETTERS, LETTERS), st.builds("{}-{}".format, LETTERS, LETTERS))
AROUND = st.sampled_from(["{}", "I am {}.", "({})", "{}'s", "a\n{}\nb", '"{}"', "{}, {} and {}!", "—{}—", "x@{}"])
SPELLINGS = st.sampled_from([str, str.upper, str.lower, str.title, str.swapcase])


@given(NAMES, AROUND, SPELLINGS, st.sampled_from(["NFC", "NFD"]))
def test_no_accepted_name_survives_in_any_spelling(name, around, spelling, form):
    try:
        name = checked_name(name, reserved=())
    except StepRefused:
        assume(False)
    assume(name.casefold() not in {"name", "na", "me"})
    text = around.replace("{}", unicodedata.normalize(form, spelling(name)))
    result = unicodedata.normalize("NFC", Scrubber(names=[name]).text(text))
    spelled = re.escape(unicodedata.normalize("NFC", spelling(name)))
    assert not re.search(rf"(?<!\w){spelled}(?!\w)", result), result


@given(st.text(max_size=200))
def test_text_without_anything_to_hide_is_unchanged(text):
    assume("zyxwv" not in text.casefold())
    assert Scrubber(names=["Zyxwv"], identifiers=["A1ZYXWVUT"]).text(text) == text
