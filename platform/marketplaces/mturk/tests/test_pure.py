"""Fees and the question's XML."""

from __future__ import annotations

from decimal import Decimal
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplaces.mturk.publishing import SCHEMA, external_question
from recruiters.terms import mturk_fee


@pytest.mark.parametrize(
    ("reward", "assignments", "fee"),
    [("1.00", 9, "0.20"), ("1.00", 10, "0.40"), ("0.01", 1, "0.01"), ("0.12", 3, "0.02"), ("2.50", 100, "1.00")],
)
def test_fee_on_a_reward(reward, assignments, fee):
    assert mturk_fee(Decimal(reward), assignments=assignments) == Decimal(fee)


def test_bonus_fee_is_a_fifth_and_at_least_a_cent():
    assert mturk_fee(Decimal("2.37")) == Decimal("0.47")
    assert mturk_fee(Decimal("0.02")) == Decimal("0.01")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
def test_question_is_ascii_and_contains_the_address(text):
    from urllib.parse import parse_qs, quote, urlsplit

    xml = external_question(f"https://parley.example/join/s/?a=1&b={quote(text)}&c=<é>")
    assert xml.isascii()
    root = ElementTree.fromstring(xml)
    assert root.tag == f"{{{SCHEMA}}}ExternalQuestion"
    address = urlsplit(root.findtext(f"{{{SCHEMA}}}ExternalURL") or "")
    parameters = parse_qs(address.query, keep_blank_values=True)
    assert (address.netloc, parameters["a"], parameters["b"], parameters["c"]) == (
        "parley.example",
        ["1"],
        [text],
        ["<é>"],
    )
    assert root.findtext(f"{{{SCHEMA}}}FrameHeight") == "0"
