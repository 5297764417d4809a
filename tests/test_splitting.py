"""The browser reads and splits the two amounts of an offer as the server does."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from games.bargaining.state import Offer
from matches.forms import read

pytestmark = pytest.mark.browser

SCRIPT = Path(__file__).parent.parent / "games/bargaining/static/bargaining/split.js"
FORM = """
<div data-split data-unit="$AMOUNT" data-money="10000" data-stake="10000" data-own="alice_gain">
  <input type="range" min="0" max="10000" step="any" hidden>
  <input name="alice_gain"><input name="bob_gain">
  <p class="worth" hidden><output></output></p>
</div>"""


@pytest.mark.parametrize(
    "typed", ["1000", "1,000", "$1,000.50", " 1000 ", "1,00", "10,00", "1,0000", ",100", "1 000", "a", "", "1.5", ".5"]
)
def test_typed_amounts_are_read_as_the_server_reads_them(page: Page, typed: str):
    page.set_content(FORM)
    page.add_script_tag(path=SCRIPT)
    page.locator("[name=bob_gain]").fill("1")
    page.locator("[name=alice_gain]").fill(typed)
    amount = read(Offer, {"alice_gain": typed}).get("alice_gain")
    bob_gain = page.locator("[name=bob_gain]").input_value()
    if isinstance(amount, int | float):
        assert float(bob_gain) == pytest.approx(10_000 - amount)
    else:
        assert bob_gain == "1", "an amount that the server refuses must change nothing"
