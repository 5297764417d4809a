"""Participants' pages in other languages: accessible, readable on a phone, and laid out from right to left, too."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from games.catalogues import LANGUAGES, SOURCE
from tests.photographs import PHONE
from tests.test_pages import SEATS, Inspector, bargaining, inspect_screens

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STACKS = ("sqlite",)


def look(page: Page, inspector: Inspector, name: str) -> None:
    """Inspect the page as it is, and its width if its language were written from right to left."""
    inspector.inspect(page, name)
    page.set_viewport_size(PHONE)
    page.evaluate("document.documentElement.dir = 'rtl'")
    width = page.evaluate("document.scrollingElement.scrollWidth")
    if width > PHONE["width"]:
        inspector.problems.append(f"{name}: {width} px wide from right to left")
    page.evaluate("document.documentElement.dir = ''")


def go_on(page: Page) -> None:
    page.locator("main button.primary:visible").last.click()


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
def test_pages_of_a_study(stack, page: Page, browser: Browser, language: str):
    inspector = Inspector(browser)
    study = bargaining(stack, f"pages-{language}", language=language, code_word=None, quiz=True)
    page.goto(stack.url + stack.arrive(study))
    look(page, inspector, f"consent {language}")
    page.locator("[name=agree]").check()
    go_on(page)
    page.locator("main [name=name]").fill("Robin")
    go_on(page)
    expect(page.locator("html")).to_have_attribute("lang", language)
    look(page, inspector, f"instructions {language}")
    go_on(page)
    page.locator("form[data-move] input[inputmode]").first.fill("5000")
    look(page, inspector, f"match {language}")
    go_on(page)
    expect(page.locator(".game[data-over]")).to_be_visible()
    look(page, inspector, f"result {language}")
    page.locator("main").get_by_role("button").last.click()
    look(page, inspector, f"quiz {language}")
    assert not inspector.problems, "\n".join(inspector.problems)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
def test_pages_before_the_game(stack, page: Page, browser: Browser, language: str):
    """The waiting room of a session, a survey, the panel of questions to the researchers, and the lobby."""
    inspector, slug = Inspector(browser), f"waiting-{language}"
    questions = [
        {"kind": "number", "name": "age", "text": "?", "min": 18, "unit": "€"},
        {"kind": "scale", "name": "trust", "text": "?", "points": 11, "low": "–", "high": "+"},
        {"kind": "ranking", "name": "order", "text": "?", "options": ["a", "b", "c"]},
    ]
    study = {
        "seats": {"alice": "person", "bob": "person"}, "agents": None, "roles": None, "via": "open",
        "language": language, "code_word": None, "before": [{**each, "required": False} for each in questions],
    }  # fmt: skip
    bargaining(stack, slug, **study)
    code = stack.call("tests.session_crowd.new_session", slug)
    page.goto(f"{stack.url}/s/{code}/")
    expect(page.locator("html")).to_have_attribute("lang", language)
    look(page, inspector, f"session {language}")
    stack.call("tests.session_crowd.start", code)
    page.locator("main [name=agree]").check(timeout=20_000)
    go_on(page)
    page.locator("main [name=name]").fill("Robin")
    go_on(page)
    look(page, inspector, f"survey {language}")
    page.locator("a[href$='/questions/']").click()
    expect(page.locator("#help form")).to_be_visible()
    look(page, inspector, f"help {language}")
    page.goto(page.url.removesuffix("questions/"))
    go_on(page)
    go_on(page)
    expect(page.locator("#lobby")).to_be_visible()
    look(page, inspector, f"lobby {language}")
    assert not inspector.problems, "\n".join(inspector.problems)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
def test_chats_and_questions(stack, page: Page, browser: Browser, language: str):
    inspector = Inspector(browser)
    chat = {"when": "before", "seconds": 600, "early": True, "to": "both", "messages": 1}
    slug = stack.call(
        "tests.meeting.launch_contest", f"talk-{language}", human_seats=1, config={"players": 2}, chat=chat,
        language=language,
    )  # fmt: skip
    page.goto(stack.url + stack.call("tests.meeting.reach_lobby", slug))
    look(page, inspector, f"chat {language}")
    page.locator("#chat textarea").fill("20")
    page.locator("#chat textarea").press("Enter")
    expect(page.locator("#chat [data-note]")).not_to_be_empty()
    look(page, inspector, f"all written {language}")
    page.locator("#chat .ready button").click()
    expect(page.locator("form.move")).to_be_visible()
    page.goto(page.url.split("#")[0].rstrip("/") + "/questions/")
    page.locator("main textarea").fill("?!")
    page.locator("main form button").last.click()
    expect(page.locator("main .messages li")).to_be_visible()
    look(page, inspector, f"question {language}")
    assert not inspector.problems, "\n".join(inspector.problems)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != SOURCE])
@pytest.mark.parametrize(("game", "role"), dict(SEATS).items())
def test_screens_of_every_game(stack, page: Page, browser: Browser, game: str, role: str, language: str):
    inspector = Inspector(browser)
    inspect_screens(stack, page, inspector, game, role, language=language)
    assert not inspector.problems, "\n".join(inspector.problems)
