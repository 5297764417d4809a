"""A participant asks the researcher in one browser, and reads the answer from another without leaving the game."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import walking
from tests.accessibility import violations
from tests.photographs import PHONE, photograph
from tests.researching import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STACKS = ("sqlite",)


def test_question_rings_on_the_monitor_and_its_answer_arrives_in_the_game(stack: Any, page: Page, browser: Browser):
    slug = stack.launch_study(
        {
            "slug": f"asked-{os.urandom(3).hex()}",
            "title": "Asked",
            "agents": "script:fair",
            "via": "open",
            "pauses_clock": True,
        }
    )
    desk = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(stack, desk, stack.call("tests.actions.monitor_path", slug))
    page.set_viewport_size(PHONE)
    page.goto(stack.url + stack.reach_first_turn(slug))
    walking.expect_turn(page, "offer")
    page.locator("[name=alice_gain]").fill("60")

    page.get_by_role("link", name="Ask a question").click()
    panel = page.locator("#help")
    expect(panel.get_by_label("Your question")).to_be_focused()
    panel.get_by_label("Your question").fill("Is <b>60</b> a lot?")
    panel.get_by_role("button", name="Send").click()
    expect(panel.get_by_text("We have sent your question")).to_be_visible()
    expect(panel.get_by_text("Is <b>60</b> a lot?")).to_be_visible()
    expect(page.locator("#clock")).to_contain_text("Paused")
    before = page.locator("#clock strong").inner_text()
    assert not violations(page)
    photograph(page, "question in a game")

    expect(desk.locator("#m-questions")).to_contain_text("Is <b>60</b> a lot?")
    expect(desk).to_have_title("(1) Monitor: Asked | Parley")
    assert not violations(desk)
    photograph(desk, "question on the monitor", height=1100)
    desk.get_by_role("link", name="Answer …").click()
    expect(desk.locator("#write-about")).to_have_text("Is <b>60</b> a lot?")
    photograph(desk, "answering", height=900)
    desk.get_by_label("Message").fill("That is for you to decide.")
    assert page.locator("#clock strong").inner_text() == before
    desk.get_by_role("button", name="Send").click()
    expect(desk.locator("#m-questions")).to_contain_text("No open questions")

    expect(panel.get_by_text("That is for you to decide.")).to_be_visible(timeout=4000)
    expect(page.locator("#clock")).not_to_contain_text("Paused")
    expect(page.locator("[name=alice_gain]")).to_have_value("60")
    photograph(page, "answer in a game")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    page.reload()
    expect(panel).to_be_hidden()
    page.goto(page.url + "questions/")
    expect(page.get_by_text("That is for you to decide.")).to_be_visible()
    photograph(page, "questions without a script")
    monitor = desk.url
    desk.get_by_role("link", name="All messages").click()
    expect(desk.locator("#result_list")).to_contain_text("That is for you to decide.")
    desk.goto(monitor)
    desk.get_by_role("link", name="All participants").click()
    desk.locator("#result_list").get_by_role("link", name=re.compile("^p-")).first.click()
    desk.get_by_role("link", name="Write to this participant").click()
    desk.get_by_label("Message").fill("One more thing.")
    desk.get_by_role("button", name="Send").click()
    page.reload()
    expect(page.get_by_text("One more thing.")).to_be_visible()
    desk.context.close()


def test_message_to_everybody_appears_on_a_page_without_a_socket(stack: Any, page: Page, browser: Browser):
    slug = stack.launch_study(
        {"slug": f"told-{os.urandom(3).hex()}", "title": "Told", "agents": "script:fair", "via": "open"}
    )  # fmt: skip
    page.goto(stack.url + stack.arrive(slug))
    expect(page.get_by_role("link", name="Ask a question")).to_be_visible()
    desk = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(stack, desk, stack.call("tests.actions.monitor_path", slug))
    desk.get_by_role("link", name="Write to everybody …").click()
    desk.get_by_label("Message").fill("We begin in five minutes.")
    desk.get_by_role("button", name="Send").click()
    expect(desk.get_by_text("Your message has been sent.")).to_be_visible()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as when the participant returns to the tab
    panel = page.locator("#help")
    expect(panel.get_by_role("heading")).to_have_text("New message from the researchers")
    expect(panel.get_by_text("We begin in five minutes.")).to_be_visible()
    expect(panel.get_by_text("The researchers, to everybody in the study")).to_be_visible()
    expect(panel.get_by_label("Your question")).to_be_hidden()
    photograph(page, "news")
    panel.get_by_role("button", name="Reply").click()
    expect(panel.get_by_label("Your question")).to_be_focused()
    desk.context.close()
