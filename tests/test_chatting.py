"""People and a model chat beside their game, on phones and a laptop; nothing is lost or doubled, whatever is killed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from llm_agents.standins import OpenAIStandIn
from studies.tests import kit
from tests import walking
from tests.accessibility import violation_lines, violations
from tests.photographs import DESKTOP, PHONE, photograph

pytestmark = pytest.mark.browser
STACKS = ("sqlite",)
"""The pages' content does not depend on the database."""
FLOOD = """texts => { const form = document.querySelector("#chat form");
    for (const text of texts) { form.elements.text.value = text; form.requestSubmit(); } }"""
OpenPage = Callable[..., Page]


@pytest.fixture
def opened(stack, browser: Browser) -> Iterator[OpenPage]:
    """Return a function that opens a page in a browser of its own."""
    with ExitStack() as contexts:

        def open_page(path: str, size: Any = PHONE) -> Page:
            page = contexts.enter_context(browser.new_context(viewport=size)).new_page()
            page.goto(stack.url + path)
            return page

        yield open_page


def group(stack, opened: OpenPage, slug: str, *sizes: Any, **fields: Any) -> list[Page]:
    """Bring people into one match, one for each size of window; the last seat is an agent's."""
    stack.call(
        "tests.meeting.launch_contest", slug, human_seats=len(sizes), config={"players": len(sizes) + 1}, **fields
    )
    paths = [stack.call("tests.meeting.reach_lobby", slug) for _size in sizes]
    pages = [opened(path, size) for path, size in zip(paths, sizes, strict=True)]
    for page in pages:
        expect(page.locator("#chat")).to_be_visible()
    return pages


def unfold(page: Page) -> None:
    if page.locator("#chat").get_attribute("open") is None:
        page.locator("#chat > summary").click()


def say(page: Page, text: str, to: str = "") -> None:
    unfold(page)
    if to:
        page.locator("#chat select").select_option(label=to)
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")


def lines(page: Page) -> list[str]:
    """Return the messages that the page shows, without those that are still being sent."""
    return page.locator("#chat li:not(.unsent) .said").all_text_contents()


def test_people_talk_on_phones_and_a_laptop(stack, opened: OpenPage):
    first, second, third = group(stack, opened, "talking", PHONE, PHONE, DESKTOP, chat={"to": "both"})
    expect(first.locator("#chat form[data-talk]")).to_be_hidden()  # folded
    expect(first.locator('form.move input[name="answer"]')).to_be_visible()
    say(third, "Shall we all choose 20?")
    expect(first.locator("#chat [data-unread]")).to_have_text("1 new")
    photograph(first, "chat folded", sizes=[PHONE], height=PHONE["height"])
    unfold(first)
    expect(first.locator("#chat li")).to_have_text(re.compile("Player 3.*Shall we all choose 20?", re.DOTALL))
    expect(first.locator("#chat [data-unread]")).to_be_hidden()
    say(first, "Yes <b>of course</b>", to="Player 3")
    expect(third.locator("#chat li").last).to_have_text(re.compile("to you only.*<b>of course</b>", re.DOTALL))
    third.locator('form.move input[name="answer"]').fill("2")
    say(third, "Fine")
    unfold(second)
    expect(second.locator("#chat .said").last).to_have_text("Fine")
    assert lines(second) == ["Shall we all choose 20?", "Fine"]
    expect(third.locator('form.move input[name="answer"]')).to_have_value("2")
    for page, name, size in ((first, "phone", PHONE), (third, "laptop", DESKTOP)):
        problems = violation_lines(violations(page), name)
        assert not problems, problems
        assert page.evaluate("document.scrollingElement.scrollWidth") <= size["width"]
        photograph(page, f"chat {name}", sizes=[size], height=size["height"])


@pytest.mark.slow
def test_flood_is_slowed_and_everything_arrives(stack, opened: OpenPage):
    first, second = group(stack, opened, "flooding", DESKTOP, DESKTOP, chat={})
    texts = [f"message {number}" for number in range(8)]
    first.evaluate(FLOOD, texts)
    expect(first.locator("#chat [data-note]")).to_have_text(re.compile("Your message is kept"))
    photograph(first, "chat flood", sizes=[DESKTOP], height=DESKTOP["height"])
    expect(second.locator("#chat .said")).to_have_count(8)
    assert lines(second) == lines(first) == texts


@pytest.mark.slow
def test_chat_before_play_ends_by_itself(stack, opened: OpenPage):
    first, second = group(stack, opened, "talk-first", PHONE, DESKTOP, chat={"when": "before", "seconds": 12})
    expect(first.locator("#chat [data-begins-in]")).to_have_text(re.compile(r"The game begins in 0:\d\d"))
    photograph(first, "chat before play", sizes=[PHONE], height=PHONE["height"])
    assert first.locator("form.move").count() == 0
    say(first, "hello")
    expect(second.locator("#chat .said")).to_have_text("hello")
    for page in (first, second):
        expect(page.locator('form.move input[name="answer"]')).to_be_visible()
        expect(page.locator("#chat form[data-talk]")).to_be_hidden()


@pytest.mark.slow
def test_play_begins_early_when_everyone_is_ready(stack, opened: OpenPage):
    chat = {"when": "before", "seconds": 600, "early": True}
    first, second = group(stack, opened, "ready-to-play", PHONE, DESKTOP, chat=chat)
    photograph(first, "chat with ready", sizes=[PHONE, DESKTOP], height=PHONE["height"])
    for page in (first, second):
        page.get_by_role("button", name="I am ready to play").click()
        if page is first:
            expect(page.get_by_text("as soon as everyone is")).to_be_visible()
            photograph(first, "chat and ready", sizes=[PHONE], height=PHONE["height"])
    for page in (first, second):
        expect(page.locator('form.move input[name="answer"]')).to_be_visible()
        expect(page.locator("#chat form.ready")).to_be_hidden()


def settled(stack, slug: str) -> list[list[str]]:
    """Return (sender, text) of all messages once the model has written its last one."""
    stored = stack.call("tests.meeting.chat_lines", slug)
    while True:
        time.sleep(4)
        before, stored = stored, stack.call("tests.meeting.chat_lines", slug)
        if stored == before:
            return stored


def _answer(body: dict[str, Any]) -> str:
    return '{"answer": 20}' if "response_format" in body else "I read that."


@pytest.mark.slow
def test_no_message_is_lost_or_doubled_although_the_web_server_is_killed(stack, opened: OpenPage):
    with OpenAIStandIn(_answer) as standin:
        stack.call("tests.actions.add_endpoint", "chatty", f"http://127.0.0.1:{standin.port}/v1")
        agent = "chatty:any"
        pages = group(
            stack,
            opened,
            "killed-chat",
            *[DESKTOP] * 3,
            agent=agent,
            agents={agent: kit.agent(agent, cap_study=5.0)},
            turn=600,
            chat={"messages": 40, "models": {"typing": 20}},
        )
        sent = []
        for number in range(4):
            for place, page in enumerate(pages, start=1):
                sent.append(f"{number} from {place}")
                say(page, sent[-1])
            if number % 2 == 0:
                stack.kill("web")
                time.sleep(0.2)
        for page in pages:
            expect(page.locator("#chat .said", has_text=re.compile(r"\d from \d"))).to_have_count(12, timeout=60_000)
            expect(page.locator("#chat .unsent")).to_have_count(0)
        stored = settled(stack, "killed-chat")
        for page in pages:
            expect(page.locator("#chat .said")).to_have_text([text for _sender, text in stored])
            page.reload()
            expect(page.locator("#chat .said")).to_have_text([text for _sender, text in stored])
    assert sorted(text for sender, text in stored if sender != "p4") == sorted(sent)
    assert ["p4", "I read that."] in stored


@pytest.mark.slow
def test_a_chat_without_a_game_is_readable_and_leads_on(stack, opened: OpenPage):
    talk = {
        "stage": "chat", "name": "talk", "topic": "Agree on a number from 1 to 9.",
        "seats": {"p1": "person", "p2": "quiet"}, "chat": {"seconds": 600},
    }  # fmt: skip
    game = {
        "stage": "game", "name": "deal", "game": "bargaining", "config": {"rounds": 1}, "code_word": None,
        "seats": {"alice": "person", "bob": "fair"},
    }  # fmt: skip
    plan = {
        "format": "parley-study", "version": 1, "title": "Talking", "entry": {"via": "open"},
        "agents": {"fair": {"script": "fair"}, "quiet": {"script": "random"}},
        "journey": [{"stage": "consent"}, talk, game],
    }  # fmt: skip
    slug = stack.launch_study({"slug": "only-talk", "plan": plan})
    page = opened(stack.arrive(slug))
    walking.consent_and_name(page)
    expect(page.locator("header.top")).to_contain_text("Step 3 of 5: Chat")
    expect(page.locator("#screen")).to_contain_text("Agree on a number from 1 to 9.")
    say(page, "Seven?")
    expect(page.locator("#chat li")).to_contain_text("Seven?")
    photograph(page, "chat without a game")
    assert not violation_lines(violations(page), "chat without a game")
    page.locator("#chat > summary").click()  # which folds it
    page.get_by_role("button", name="I am ready to go on").click()
    walking.press_continue(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("How the game works")
