"""Amounts in every game: read in all common notations, and written uniformly."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from games import registry
from games.contract import cases
from games.interface import Move
from games.play import configure, start
from matches import forms
from matches.screens import render_screen

GAMES = registry.keys()


class Price(Move):
    price: float


class Whole(Move):
    price: int


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("4860", 4860), ("4,860", 4860), ("$4,860", 4860), ("$ 4,860.00", 4860.0), (" 4860.5 ", 4860.5), (".5", 0.5),
        ("-$5,000", -5000), ("$-5,000", -5000), ("−5000", -5000), ("-5000", -5000), ("€12", 12),
        ("4,86", 4.86), ("1.234,50", 1234.5), ("1.234.567", 1234567), ("12 500", 12500), ("12\u202f500,5", 12500.5),
        ("12'500", 12500), ("0,500", 0.5), ("5.000 €", 5.0), ("12,34,567", "12,34,567"),
        ("--5", "--5"), ("5 apples", "5 apples"), ("$", "$"), ("nan", "nan"), ("1e999", float("inf")),
    ],
)  # fmt: skip
def test_numbers_are_read_in_all_common_notations(typed, value):
    assert forms.read(Price, {"price": typed}) == {"price": value}


@given(
    value=st.decimals(min_value=0, max_value=10**9, places=3) | st.integers(0, 10**9),
    grouped=st.booleans(),
    written_in=st.sampled_from(["en", "de"]),
    page_in=st.sampled_from(["en", "de", "es"]),
    integer=st.booleans(),
)
def test_a_number_in_either_notation_is_read_as_meant_or_asked_about(value, grouped, written_in, page_in, integer):
    text = f"{value:,}" if grouped else f"{value}"
    if "." in text:
        text = text.rstrip("0").rstrip(".") + random_zeros(value)
    typed = text.translate(str.maketrans(",.", ".,")) if written_in == "de" else text
    model = Whole if integer else Price
    with translation.override(page_in):
        read, doubts = forms.read(model, {"price": typed})["price"], forms.doubts(model, {"price": typed})
    if read == typed:
        assert integer and value % 1
    elif not doubts:
        assert float(read) == float(value)
    else:
        assert float(value) in (doubts[0].value, doubts[0].other) and doubts[0].value == read
        assert 0 < min(doubts[0].value, doubts[0].other) <= max(doubts[0].value, doubts[0].other) / 10


def random_zeros(value) -> str:
    """Return no, one or two zeros, as people type them after decimals."""
    return "0" * (int(value) % 3) if value % 1 else ""


@pytest.mark.parametrize("language", ["en", "de"])
@given(value=st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 3)))
def test_what_a_page_writes_is_never_doubtful(language, value):
    with translation.override(language):
        posted = forms.as_posted(Price, {"price": value})
        assert not forms.doubts(Price, posted) and forms.read(Price, posted) == {"price": value}


def test_every_control_for_numbers_is_looked_at():
    posted = {"plan:a": "5.000", "plan:b": "7", "prices": "1.500\n2", "named": "x: 3.000\ny: 4"}
    doubts = {doubt.name: (doubt.value, doubt.other) for doubt in forms.doubts(Several, posted)}
    assert doubts == {"plan:a": (5, 5000), "prices": (1.5, 1500), "named": (3.0, 3000)}
    otherwise = forms.read(Several, forms.otherwise(posted, forms.doubts(Several, posted)))
    assert otherwise == {"plan": {"a": 5000, "b": 7}, "prices": [1500, 2], "named": {"x": 3000, "y": 4}}


class Plan(Move):
    a: int
    b: int


class Several(Move):
    plan: Plan
    prices: list[float]
    named: dict[str, float]


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
