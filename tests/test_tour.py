"""The tour with the keyboard alone, on a phone, and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from showcase.tour import STOPS
from tests import researching
from tests.accessibility import violation_lines, violations
from tests.photographs import PHONE

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The tour stores nothing in the database."""


@pytest.fixture(scope="module", autouse=True)
def sample(stack) -> None:
    stack.call("tests.actions.launch_tour_study")


def test_keyboard_alone_leads_from_stop_to_stop_and_out_of_the_tour(stack, page: Page):
    researching.sign_in(stack, page, "/admin/")
    page.get_by_role("link", name="Tour: from a question to a report").press("Enter")
    page.get_by_role("link", name="Start the tour").press("Enter")
    for stop in STOPS[:3]:
        heading = page.get_by_role("heading", name=str(stop.title))
        expect(heading).to_be_focused()
        expect(heading).to_be_in_viewport()
        page.keyboard.press("Tab")
        if stop.at:
            page.keyboard.press("Enter")
            expect(page.locator(f"#{stop.at}")).to_be_in_viewport()
        page.locator(".tour nav a").last.press("Enter")
    expect(page.get_by_role("heading", name=str(STOPS[3].title))).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("You left the tour.")).to_be_visible()
    expect(page.locator(".tour-line")).to_have_count(0)
    page.goto(f"{stack.url}/admin/")
    page.get_by_role("link", name=f"Continue the tour: step 2, {STOPS[3].title}").press("Enter")
    expect(page.get_by_role("heading", name=str(STOPS[3].title))).to_be_focused()


@pytest.mark.slow
def test_bar_fits_a_phone_and_is_accessible(stack, page: Page):
    researching.sign_in(stack, page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    problems = []
    for name in ("question", "form", "report"):
        page.goto(f"{stack.url}/admin/tour/{name}/")
        expect(page.locator(".tour-text")).to_be_visible()
        for dark in (False, True):
            page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
            problems += violation_lines(violations(page, within=".tour"), f"{name}, dark: {dark}")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
        page.mouse.wheel(0, 2000)
        expect(page.locator(".tour-line")).to_be_in_viewport()
    assert problems == []


@pytest.mark.slow
def test_tour_works_without_javascript(stack, browser: Browser):
    page = browser.new_context(java_script_enabled=False).new_page()
    name, password = stack.call("tests.actions.superuser_login")
    page.goto(f"{stack.url}/admin/login/?next=/admin/tour/{STOPS[0].name}/")
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    for stop in STOPS[:-1]:
        assert page.locator("#tour").text_content() == str(stop.title)
        page.locator(".tour nav a").last.click()
    page.locator(".tour form button").click()
    assert "You have seen it all" in (page.locator("main, #main").first.text_content() or "")
    page.context.close()
