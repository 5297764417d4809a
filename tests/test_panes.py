"""On a phone, a match's task and its history are two tabs, and what a tab or a bar hides does not count as in sight."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from games import registry
from games.play import configure, start, submit
from matches.screens import render_screen
from tests.accessibility import violations
from tests.photographs import DESKTOP, PHONE

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parent.parent / "static/parley"
PAGE = """
<!doctype html><html lang="en"><head><title>Match</title></head><body><main id="main"><h1 class="unseen">A game</h1>
<div class="strip">
  <div class="tabs" id="tabs" role="tablist" aria-label="Parts" hidden>
    <button role="tab" id="tab-now" aria-controls="pane-now">Now <span class="unseen" hidden>new</span></button>
    <button role="tab" id="tab-past" aria-controls="pane-past">So far <span class="unseen" hidden>new</span></button>
  </div>
</div>
<section id="screen" tabindex="-1"></section></main></body></html>"""
WORDS = "Let us share what is left, because waiting costs both of us money that nobody gets. " * 5
"""A message of eighty words."""


def screen(rounds: int, *, over: bool = False) -> str:
    """Return a game's screen: a long offer with two answers, and a history of this many rounds."""
    rows = "".join(f"<tr><td>{number}</td><td>rejected</td></tr>" for number in range(1, rounds + 1))
    history = f'<table data-block="history"><tbody>{rows}</tbody></table>' if rounds else '<p class="nothing">None.</p>'
    return f"""<div class="game"{" data-over" if over else ""}><section class="pane-now" id="pane-now" aria-label="Now">
      <p class="status" data-announce>Round {rounds + 1}: your answer?</p>
      <section class="card offer" data-block="offer"><blockquote><q class="said">{WORDS}</q></blockquote></section>
      <ul class="facts-line" data-block="situation" style="position: absolute; top: 690px"><li>Round {rounds}</li></ul>
      <p style="height: 40rem"></p>
      <form class="move card answers"><div class="choices"><button class="choice">Accept</button></div></form></section>
      <section class="pane-past" id="pane-past" aria-label="So far" tabindex="0">{history}</section></div>"""


def open_page(page: Page, *sheets: Path) -> None:
    page.set_viewport_size(PHONE)
    page.set_content(PAGE)
    for sheet in (STATIC / "tokens.css", STATIC / "parley.css", *sheets):
        page.add_style_tag(path=sheet)
    for name in ("sight.js", "panes.js"):
        page.add_script_tag(path=STATIC / name)


def show(page: Page, html: str, *, question: bool = False) -> None:
    """Show a frame as the page of a match does."""
    page.evaluate("html => { document.getElementById('screen').innerHTML = html; }", html)
    for event in ["parley:task"] * question + ["parley:screen"]:
        page.evaluate("name => document.dispatchEvent(new CustomEvent(name))", event)


def in_sight(page: Page) -> set[str]:
    """Return the parts that are in sight from now on."""
    page.wait_for_timeout(120)
    page.evaluate("sight.begin()")
    page.wait_for_timeout(60)
    return {part for part, spent in json.loads(page.evaluate("sight.taken()")).items() if spent > 40}


def test_phone_shows_the_task_or_the_history_and_says_where_news_is(page: Page):
    open_page(page)
    tabs, now, past = page.locator("#tabs"), page.get_by_role("tab", name="Now"), page.get_by_role("tab", name="So far")
    show(page, screen(0))
    expect(tabs).to_be_hidden()
    assert in_sight(page) == {"offer"}, "the facts are behind the bar of answers"
    page.evaluate("scrollTo(0, 100)")
    assert in_sight(page) == {"offer", "situation"}
    page.evaluate("scrollTo(0, 0)")

    show(page, screen(1))
    expect(now).to_have_attribute("aria-selected", "true")
    expect(page.locator("#pane-past")).to_be_hidden()
    expect(past).to_have_accessible_name("So far")
    show(page, screen(2))
    expect(past).to_have_accessible_name("So far new")
    assert not violations(page)
    now.focus()
    page.keyboard.press("ArrowRight")
    expect(past).to_be_focused()
    expect(past).to_have_accessible_name("So far")
    expect(page.locator("#pane-now")).to_be_hidden()
    assert in_sight(page) == {"history"}
    show(page, screen(3))
    expect(page.get_by_role("tabpanel", name="So far")).to_be_visible()
    expect(now).to_have_accessible_name("Now new")
    assert not violations(page)
    show(page, screen(4), question=True)
    expect(page.get_by_role("tabpanel", name="Now")).to_be_visible()
    expect(page.locator("#screen")).to_be_focused()
    assert "history" not in in_sight(page)

    show(page, screen(4, over=True))
    expect(tabs).to_be_hidden()
    expect(page.locator("#pane-past")).to_be_visible()
    page.set_viewport_size(DESKTOP)
    task, history = (page.locator(pane).bounding_box() for pane in ("#pane-now", "#pane-past"))
    assert task is not None and history is not None and task["x"] + task["width"] <= history["x"]


OFFERED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bargaining": ({}, {"alice_gain": 3000, "bob_gain": 7000}),
    "negotiation": ({"rounds": None}, {"price": 11_000}),
    "persuasion": ({}, {}),
}
"""Configurations, and what alice offers in them beside a message."""


@pytest.mark.slow
@pytest.mark.parametrize("game", OFFERED)
def test_message_of_sixty_words_is_in_sight_above_the_answers(page: Page, game: str):
    config, offer = OFFERED[game]
    play, _events = start(configure(registry.get(game), config), seed=1)
    play, _events = submit(play, "alice", {**offer, "message": " ".join(WORDS.split()[:60])})
    open_page(page, *(STATIC.parent.parent / f"games/{game}/static/{game}").glob("*.css"))
    show(page, render_screen(play, "bob"))
    message, bar = (page.locator(part).bounding_box() for part in (".offer .said", ".answers"))
    assert message is not None and bar is not None
    header = 45
    assert message["y"] + message["height"] + header <= bar["y"] + 1
    assert bar["height"] < 0.12 * PHONE["height"]
    assert not violations(page)
