"""Two treatments as people in different arms meet them in a browser, from the link to the last page.

`test_treatments.py` has these and all others without a browser, with more people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from studies.tests.kit import varied
from tests import walking

pytestmark = [pytest.mark.services, pytest.mark.browser]

STACKS = ("sqlite",)
"""The pages' content does not depend on the database."""
WORDS = {"give": "You may give some of it away.", "take": "You may take what you like."}
WORDING: dict[str, Any] = {"factors": {"wording": {"levels": list(WORDS)}}}
OPENING = {"stage": "page", "name": "opening", "title": "Before you start", "text": varied("wording", **WORDS)}
MOVES = {"alice_gain": "50", "bob_gain": "50", "price": "10000", "answer": "20"}
"""What people enter into the fields of their moves."""
Arrive = Callable[..., Page]


def talk(name: str = "talk", **settings: Any) -> dict[str, Any]:
    """Return a bargaining game about 100 against a fair script."""
    config = {"rounds": 1, "money": 100, **settings.pop("config", {})}
    seats = {"alice": "person", "bob": "fair"}
    return {
        "stage": "game", "name": name, "game": "bargaining", "config": config, "seats": seats, "code_word": None,
        **settings,
    }  # fmt: skip


@pytest.fixture
def arrive(stack, browser: Browser) -> Iterator[Arrive]:
    """Return a function that opens a study's link in a browser of its own, agrees and chooses a name."""
    with ExitStack() as contexts:

        def begin(slug: str, name: str = "Robin") -> Page:
            page = contexts.enter_context(browser.new_context()).new_page()
            page.goto(f"{stack.url}/join/{slug}")
            button(page, "Begin").click()
            walking.consent_and_name(page, name)
            return page

        yield begin


def launch(stack, slug: str, *journey: dict[str, Any], **parts: Any) -> str:
    """Launch a study with consent and this journey, open to everyone; return its short name."""
    plan = {
        "format": "parley-study", "version": 1, "title": "Treatments", "entry": {"via": "open"},
        "agents": {"fair": {"script": "fair"}, "stubborn": {"script": "haggler"}}, "cells": {"quota": 50},
        "journey": [{"stage": "consent"}, *journey, {"stage": "debriefing", "text": "It was about words."}], **parts,
    }  # fmt: skip
    return stack.launch_study({"slug": slug, "plan": plan})


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def main(page: Page) -> str:
    return page.get_by_role("main").inner_text()


def go_on(page: Page) -> None:
    page.wait_for_load_state()  # its scripts hide hints, which moves the button
    page.locator('main button[type="submit"]').first.click()


def play(page: Page) -> None:
    """Read the rules, offer half and leave the result."""
    go_on(page)
    walking.expect_turn(page, "offer")
    walking.offer(page, "50", "50", role="alice")
    walking.expect_over(page)
    walking.press_continue(page)


def path_of(stack, page: Page) -> str:
    return page.url.removeprefix(stack.url)


def expect_end(page: Page) -> None:
    heading(page, "All done. Thank you!")
    expect(page.get_by_role("main")).to_contain_text("It was about words.")


@pytest.mark.slow
def test_a_text_and_a_question_differ_between_the_arms(stack, arrive: Arrive):
    """The text before the game is one of two; only one arm is asked afterwards why it took something."""
    why = {"name": "why", "kind": "long", "text": "Why did you take it?", "show_if": "wording == 'take'"}
    liked = {"name": "liked", "kind": "single", "text": "Did you like it?", "options": ["yes", "no"]}
    slug = launch(
        stack, "wording", OPENING, talk(), {"stage": "questions", "name": "later", "items": [liked, why]}, **WORDING
    )
    arms = set()
    for page in (arrive(slug), arrive(slug)):
        heading(page, "Before you start")
        (arm,) = (level for level, text in WORDS.items() if text in main(page))
        arms.add(arm)
        go_on(page)
        play(page)
        page.get_by_role("radio", name="yes").check()
        expect(page.get_by_label(why["text"])).to_have_count(1 if arm == "take" else 0)
        assert "wording" not in page.content()
        if arm == "take":
            go_on(page)
            expect(page.get_by_text("Please answer: Why did you take it?").first).to_be_visible()
            page.get_by_label(why["text"]).fill("Because I could.")
        go_on(page)
        expect_end(page)
        given = stack.call("tests.actions.answers_in", path_of(stack, page))
        assert given == {"liked": "yes", **({"why": "Because I could."} if arm == "take" else {})}
    assert arms == set(WORDS)


@pytest.mark.slow
def test_three_games_in_balanced_order_with_groups_formed_once(stack, arrive: Arrive):
    """Two pairs: each plays all three games together, each in an order of its own."""
    people = {"seats": {"*": "person"}, "code_word": None}
    block = {
        "stage": "block", "name": "games", "order": "balanced", "groups": {"form": "once", "lobby": {"ready": 0}},
        "of": [
            {**talk(), **people},
            {"stage": "game", "name": "trade", "game": "negotiation", "config": {"rounds": 1}, **people},
            {"stage": "game", "name": "race", "game": "beauty_contest", "config": {"players": 2, "runs": 1}, **people},
        ],
    }  # fmt: skip
    slug = launch(stack, "three", block)
    orders = []
    for names in (("Ada", "Bela"), ("Cleo", "Dora")):
        pair = [arrive(slug, name) for name in names]
        for _round in range(40):
            if all("Thank you" in page.get_by_role("heading", level=1).inner_text() for page in pair):
                break
            for page in pair:
                take_part(page)
        for page in pair:
            expect_end(page)
        played = [stack.call("tests.actions.matches_of", path_of(stack, page)) for page in pair]
        assert played[0] == played[1] and len(played[0]) == 3, "the pair stayed together"
        orders.append([game for game, _match in played[0]])
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def take_part(page: Page) -> None:
    """Do what the page asks for: read on, move, or wait a little for the other player."""
    page.wait_for_load_state()
    form = page.locator("form.move:visible").first
    if form.count():
        for name, value in MOVES.items():
            if (field := form.locator(f'input[name="{name}"]:visible')).count():
                field.fill(value)
        accept = page.locator('button[name="decision"][value="accept"]:visible')
        (accept.first if accept.count() else form.locator("button[type=submit]:visible").first).click()
    elif button(page, "Continue").count():
        button(page, "Continue").click()
    elif (begin := page.locator('main form:not(.move) button[type="submit"].primary:visible')).count():
        begin.first.click()
    page.wait_for_timeout(200)
