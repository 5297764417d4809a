"""The browser reads and splits the two amounts of an offer as the server does."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import translation
from playwright.sync_api import Page

from games.bargaining.state import Offer
from matches.forms import read

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "static/parley/numbers.js", ROOT / "games/bargaining/static/bargaining/split.js"
FORM = """
<div data-split data-unit="$AMOUNT" data-money="10000" data-stake="10000" data-own="alice_gain">
  <input type="range" min="0" max="10000" step="any" hidden>
  <input name="alice_gain"><input name="bob_gain">
  <p class="worth" hidden><output></output></p>
</div>"""


TYPED = "1000|1,000|1.000|$1,000.50|1.000,50| 1000 |1,00|10,00|1,0000|,100|1 000|1'000|a||1.5|.5|0,500|500 €".split("|")


@pytest.mark.parametrize("language", ["en", "de"])
def test_typed_amounts_are_read_as_the_server_reads_them(page: Page, language: str):
    page.set_content(f"<html lang={language}>{FORM}")
    for script in SCRIPTS:
        page.add_script_tag(path=script)
    for typed in TYPED:
        page.locator("[name=alice_gain]").fill("")
        page.locator("[name=bob_gain]").fill("1")
        page.locator("[name=alice_gain]").fill(typed)
        with translation.override(language):
            amount = read(Offer, {"alice_gain": typed}).get("alice_gain")
        bob_gain = page.locator("[name=bob_gain]").input_value()
        if isinstance(amount, int | float):
            assert float(bob_gain.replace(",", ".")) == pytest.approx(10_000 - amount), typed
        else:
            assert bob_gain == "1", f"{typed}: an amount that the server refuses must change nothing"
