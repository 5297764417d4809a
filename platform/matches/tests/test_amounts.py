"""Amounts in every game: read in all common notations, and written uniformly."""

from __future__ import annotations

import re
from html import unescape

import pytest

from games import registry
from games.contract import cases
from games.interface import Move
from games.play import configure, start
from matches import forms
from matches.screens import render_screen

GAMES = registry.keys()


class Price(Move):
    price: float


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("4860", 4860), ("4,860", 4860), ("$4,860", 4860), ("$ 4,860.00", 4860.0), (" 4860.5 ", 4860.5), (".5", 0.5),
        ("-$5,000", -5000), ("$-5,000", -5000), ("−5000", -5000), ("-5000", -5000), ("€12", 12),
        ("4,86", "4,86"), ("--5", "--5"), ("5 apples", "5 apples"), ("$", "$"), ("nan", "nan"), ("1e999", float("inf")),
    ],
)  # fmt: skip
def test_numbers_are_read_in_all_common_notations(typed, value):
    assert forms.read(Price, {"price": typed}) == {"price": value}


def test_a_whole_number_may_have_zero_cents():
    play, _events = start(configure(registry.get("procurement"), {}), 1)
    model = play.forms("agent")[0].model
    name = next(name for name, value in forms.as_posted(model, {"plan": {"Offer_1": 4}}).items() if value == "4")
    assert forms.read(model, {name: "4.00"}) == {"plan": {"Offer_1": 4}}


@pytest.mark.parametrize("key", GAMES)
def test_every_screen_writes_amounts_uniformly(key):
    """Thousands are separated, cents appear only if there are any, and the sign precedes the currency."""
    for case in list(cases(key))[:3]:
        for moment in case.walk().selected_moments()[:4]:
            html = re.sub(r"<svg.*?</svg>", "", render_screen(moment.before, moment.role), flags=re.DOTALL)
            text = unescape(re.sub(r"<[^>]+>", " ", html))
            assert not re.findall(r"\$-|\d,\d{3}\.00(?!\d)|[$][\d,]+\.\d(?!\d)|[$]\d{4,}", text), case


@pytest.mark.parametrize("key", GAMES)
def test_every_text_field_states_its_maximum_length(key):
    for case in list(cases(key))[:3]:
        for moment in case.walk().selected_moments()[:4]:
            html = render_screen(moment.before, moment.role)
            for field in re.findall(r"<textarea[^>]*>", html):
                if "maxlength" in field:
                    (counter_id,) = re.findall(r'data-counted="([^"]+)"', field)
                    assert f'id="{counter_id}"' in html
