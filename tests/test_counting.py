"""Pages in a real browser report how they are used, even if the tab closes or another site frames the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType, Page, expect

from tests import walking
from tests.researching import PATIENCE, begin, launch, part, press, sign_in

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
PASTE = """(field) => {
    const clipboard = new DataTransfer();
    clipboard.setData("text/plain", "x".repeat(37));
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true }));
}"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def study(stack) -> str:
    values = {"title": "Counting", "slug": "counting", "game": "bargaining", "roles": ["alice"], "via": "open"}
    return stack.launch_study({**values, "agents": "script:fair", "quiz": True, "quota": 1000})


def open_first_page(stack, page: Page, study: str) -> str:
    """Open the first page, which starts counting when it has loaded; return its path."""
    page.goto(f"{stack.url}/join/{study}")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("checkbox").wait_for()
    page.wait_for_load_state()
    return page.url.removeprefix(stack.url)


def await_page_views(stack, path: str, condition: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """Return the page views on the server as soon as they meet the condition."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition(views := stack.call("tests.actions.page_views", path)):
        assert time.monotonic() < deadline, views
        time.sleep(0.2)
    return views


def test_every_page_reports_its_use_but_not_pasted_text(stack, page: Page, study: str):
    sent_bodies: list[str] = []
    page.on(
        "request",
        lambda request: sent_bodies.append(request.post_data or "") if request.url.endswith("/counts") else None,
    )
    console_errors: list[str] = []
    page.on("console", lambda message: console_errors.append(message.text) if message.type == "error" else None)
    path = open_first_page(stack, page, study)
    page.evaluate(HIDE, True)
    page.wait_for_timeout(300)
    page.evaluate(HIDE, False)
    walking.consent_and_name(page)
    walking.read_instructions(page)
    walking.expect_turn(page, "offer")
    page.wait_for_load_state()
    page.locator('textarea[name="message"]').evaluate(PASTE)
    walking.offer(page, "5000", "5000", role="alice")
    walking.expect_over(page)
    walking.press_continue(page)
    page.get_by_role("radio").first.wait_for()
    page_views = await_page_views(stack, path, lambda views: [view["kind"] for view in views][-1:] == ["match"])
    assert [view["kind"] for view in page_views] == ["consent", "name", "instructions", "match"]
    consent, *_others, match = page_views
    assert consent["hidden"] >= 1 and consent["open_ms"] - consent["visible_ms"] >= 250
    assert (match["pastes"], match["pasted"]) == (1, 37)
    assert match["visible_ms"] > 0
    assert sent_bodies and not any("xxx" in body for body in sent_bodies)
    assert not console_errors, "the page's policy blocked something"


@pytest.mark.slow
def test_closing_a_tab_sends_its_counts(stack, browser: Browser, study: str):
    context = browser.new_context()
    page = context.new_page()
    path = open_first_page(stack, page, study)
    page.wait_for_timeout(400)
    page.close(run_before_unload=True)
    (view,) = await_page_views(stack, path, lambda views: len(views) == 1)
    assert view["kind"] == "consent" and view["open_ms"] >= 400
    context.close()


@pytest.fixture
def lenient_browser(browser_type: BrowserType, browser_type_launch_args: dict[str, Any]) -> Iterator[Browser]:
    """Run a browser in which a simulated internet page may frame a page of this machine."""
    arguments = [*browser_type_launch_args["args"], "--disable-features=LocalNetworkAccessChecks"]
    browser = browser_type.launch(**{**browser_type_launch_args, "args": arguments})
    yield browser
    browser.close()


@pytest.mark.slow
def test_counting_works_in_a_third_party_frame_without_cookies(stack, lenient_browser: Browser, study: str):
    context = lenient_browser.new_context()
    page = context.new_page()
    path = open_first_page(stack, page, study)
    context.clear_cookies()
    outer_url = "https://worker.mturk.com/task"
    page.route(outer_url, lambda route: route.fulfill(content_type="text/html", body=f"<iframe src={stack.url}{path}>"))
    page.goto(outer_url)
    frame = page.frame_locator("iframe")
    frame.get_by_role("checkbox").wait_for()
    views_before = len(await_page_views(stack, path, bool))
    frame.get_by_role("checkbox").check()
    frame.get_by_role("button", name="Begin").click()
    frame.locator("input[name=name]").wait_for()
    await_page_views(stack, path, lambda views: len(views) > views_before)
    context.close()


@pytest.mark.slow
def test_researcher_chooses_which_answers_end_the_study(stack, page: Page):
    sign_in(stack, page, "/admin/studies/study/add/")
    begin(page)
    part(page, "Consent")
    page.get_by_text("Add a stage").click()
    press(page, "Questions")
    press(page, "Add: question")
    page.get_by_label("Name *").fill("adult")
    page.get_by_label("Question *").fill("How old are you?")
    page.get_by_label("Options", exact=True).fill("18 or more\nless than 18")
    page.get_by_text("More: conditions").click()
    page.get_by_label("Screened out if").fill("adult == 'less than 18'")
    part(page, "Pay")
    page.get_by_role("group", name="What other endings pay").get_by_text("as usual").click()
    page.get_by_label("Screened out", exact=True).select_option("base")
    part(page, "Entry")
    page.get_by_label("Who may enter").select_option("open")
    page.goto(launch(page))
    page.get_by_role("button", name="Begin").click()
    walking.consent_and_name(page)
    page.get_by_role("radio", name="less than 18").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("can't take part")
    expect(page.get_by_role("main")).to_contain_text("$1.00")
