"""Pages of games with periods: what is summed and folded there follows from the view."""

from __future__ import annotations

import re

import pytest

from games import registry
from games.play import Play, configure, start, submit
from matches.screens import render_screen


def after(key: str, config: dict, *moves: dict) -> Play:
    """Return the play after these moves of its only person."""
    play, _events = start(configure(registry.get(key), config), 1)
    for move in moves:
        play, _events = submit(play, play.game.roles()[0], move)
    return play


@pytest.mark.parametrize("advice", [1.5, None])
def test_a_price_page_sums_the_profits_and_shows_what_a_price_would_mean(advice):
    prices = [{"price": price} for price in (1.5, 1.8)]
    play = after("duopoly", {"rival": False, "advice": advice}, *prices)
    html = render_screen(play, "firm_1")
    profits = [float(row[3]) for row in next(block for block in play.view("firm_1") if block.key == "history").rows]
    assert f"Total profit so far <strong>{sum(profits):,g}</strong>" in html
    assert 'data-whatif="price-price" data-columns="period price sold profit" data-cost="$1"' in html
    assert ("data-advised" in html) == (advice is not None)
    assert "Total profit" not in render_screen(after("duopoly", {"rival": False}), "firm_1")


def test_every_product_has_its_cost_and_its_rows():
    html = render_screen(after("pricing", {"level": "medium", "instance_seed": 1}), "agent")
    assert re.findall(r'data-product="([^"]+)" data-own', html) == [f"Product {number}" for number in range(1, 5)]
    assert html.count('data-step="share"') == 4


def test_notes_fold_with_their_number_and_the_notepad_with_its_title():
    html = render_screen(after("pricing", {"instance_seed": 1}, {"note": "too dear"}, {"note": "<b>"}), "agent")
    assert re.search(
        r'<details class="card fold" id="fold-notes"><summary><h2[^>]*>Your notes</h2> <span>2</span>', html
    )
    assert re.search(
        r'<details class="fold" id="fold-note"><summary>Write a note</summary>.*<textarea', html, re.DOTALL
    )
    assert "&lt;b&gt;" in html and "open>" not in html
