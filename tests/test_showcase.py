"""The demo as a newcomer sees it: every way of its home page is tried in a browser, with the samples made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import LiveStack
from tests.photographs import DESKTOP
from tests.test_pages import Inspector

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAMPLES = ("Monitor", "Pay desk", "Dataset", "Report", "Leaderboard")


@pytest.fixture
def page(browser: Browser, demo: LiveStack) -> Iterator[Page]:
    """Return a new browser's page, on the demo's home page."""
    context = browser.new_context(viewport=DESKTOP, base_url=demo.url, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/")
    yield page
    context.close()


@pytest.mark.timeout(900)
def test_every_way_of_the_home_page_leads_to_a_page(page: Page, demo: LiveStack):
    ways = page.locator("main :is(a[href], button[type=submit])").all_inner_texts()
    assert len(ways) > 14 * 3
    failed = []
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    for number, way in enumerate(ways):
        page.context.clear_cookies()  # every click is a newcomer's first
        page.goto("/")
        page.locator("main :is(a[href], button[type=submit])").nth(number).click()
        page.wait_for_load_state()
        expect(page.locator("h1, #content").first, way).to_be_visible()
    assert failed == []


def test_samples_open_at_a_click_and_say_that_they_are_simulated(page: Page, demo: LiveStack):
    offers = page.locator("#offers")
    expect(offers.locator("[data-pending]")).to_have_count(0)
    for name in SAMPLES:
        page.goto("/")
        offers.get_by_role("button", name=name).first.click()
        expect(page.get_by_text(re.compile("simulated", re.IGNORECASE)).first, name).to_be_visible()


def test_a_live_match_plays_at_reading_pace_until_it_is_paused(page: Page, demo: LiveStack):
    page.locator("#social_dilemma").get_by_role("button", name="Watch scripts play").click()
    place, pause = page.locator(".step-place"), page.locator("#advance")
    expect(place).to_contain_text("Step 1 of")
    expect(place).to_contain_text("Step 3 of")
    expect(page.locator("#live")).to_contain_text("Live")
    expect(page.frame_locator("iframe").first.locator(".game")).to_be_visible()
    pause.click()
    expect(pause).to_have_text("Play")
    stopped_at = place.inner_text().split(" of")[0]
    page.wait_for_timeout(5_000)
    assert place.inner_text().startswith(stopped_at)
    page.keyboard.press("ArrowLeft")
    expect(place).not_to_contain_text(stopped_at)
    pause.click()
    expect(page.locator("#live")).to_contain_text("over", timeout=90_000)
    page.goto("/demo/results/social_dilemma/")
    expect(page.locator(".result")).to_have_count(2)


def test_pages_are_accessible_and_small(browser: Browser, page: Page, demo: LiveStack):
    inspector = Inspector(browser)
    inspector.inspect(page, "showcase")
    for path in ("demo/friend/bargaining/", "demo/results/beauty_contest/"):
        page.goto(urljoin(f"{demo.url}/", path))
        inspector.inspect(page, path)
    page.get_by_role("link", name="Replay step by step").first.click()
    page.locator("#advance").click()
    inspector.inspect(page, "match")
    assert not inspector.problems, "\n".join(inspector.problems)
