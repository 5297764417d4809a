"""A co-author walks through a draft on a phone, without an account, and nothing of it is left."""

from __future__ import annotations

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import photograph
from tests.researching import sign_in

pytestmark = [pytest.mark.services, pytest.mark.browser]
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def draft(stack) -> tuple[int, str]:
    return stack.call("tests.actions.draft_walk")


def frame(page: Page) -> FrameLocator:
    return page.frame_locator("#page")


def continue_in(page: Page) -> None:
    frame(page).locator('main button[type="submit"]').first.click()


def go_to(page: Page, number: int) -> None:
    page.locator("summary").wait_for()
    page.wait_for_load_state("domcontentloaded")  # the list folds on a phone
    if not page.locator("#stages").is_visible():
        page.locator("summary").click()
    page.locator(f"#stages button >> nth={number - 1}").click()


def expect_here(page: Page, title: str) -> None:
    expect(page.locator('#rows [aria-current="step"]')).to_contain_text(title)


def refuse_violations(page: Page, name: str) -> None:
    found = violation_lines(violations(page, within="header, main"), name)
    page.emulate_media(color_scheme="dark")
    found += violation_lines(violations(page, within="main", rules=DARK), f"{name}, dark")
    page.emulate_media(color_scheme="light")
    assert found == []


def test_walk_on_a_phone_leaves_nothing(stack, page: Page, draft):
    before = stack.call("tests.actions.row_counts")
    page.set_viewport_size(PHONE)
    page.goto(stack.url + draft[1])
    expect(page.get_by_role("heading", level=1)).to_have_text("Giving and taking")
    photograph(page, "walk start co-author")
    refuse_violations(page, "start")
    page.get_by_label("Cell").select_option(label="2 · wording take")
    page.get_by_role("button", name="Start").click()

    frame(page).get_by_label("I agree").check()
    continue_in(page)
    frame(page).locator('input[name="name"]').fill("Robin")
    continue_in(page)
    expect(frame(page).locator("main")).to_contain_text("You take something.")
    page.locator("summary").click()
    expect_here(page, "Before you start")
    photograph(page, "walk page")
    refuse_violations(page, "walk")

    go_to(page, 5)
    expect(frame(page).locator("main")).to_contain_text("Waiting for")
    expect_here(page, "Waiting for other players")
    expect(frame(page).locator("main")).to_contain_text("You play with 2 other people.")
    expect_here(page, "The game")
    photograph(page, "walk game")

    last = page.locator("#rows li button").count()
    go_to(page, last)
    expect(frame(page).locator("main")).to_contain_text("Why did you take?")
    page.locator("summary").click()
    expect(page.locator("#rows")).to_contain_text("shown if wording == 'take': true")
    frame(page).locator("textarea").fill("Because.")
    continue_in(page)
    expect_here(page, "Last page")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    page.get_by_role("button", name="End").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert stack.call("tests.actions.row_counts") == before


@pytest.mark.slow
def test_closed_page_ends_the_walk_and_reloading_does_not(stack, page: Page, draft):
    page.goto(stack.url + draft[1])
    page.get_by_role("button", name="Start").click()
    expect_here(page, "Before you begin")
    page.reload()
    expect_here(page, "Before you begin")
    assert stack.call("tests.actions.row_counts")["walking.Walk"] == 1
    page.goto("about:blank")
    stack.call("tests.actions.end_closed_walks")
    assert stack.call("tests.actions.row_counts")["walking.Walk"] == 0


def test_researcher_walks_beside_the_stages(stack, page: Page, draft):
    sign_in(stack, page, f"/admin/walk/{draft[0]}/2/")
    expect(page.get_by_label("Cell")).to_have_value("2")
    photograph(page, "walk start researcher")
    page.get_by_role("button", name="Start").click()
    go_to(page, 6)
    expect_here(page, "The game")
    photograph(page, "walk wide")
    page.get_by_role("button", name="End").click()
    expect(page.get_by_role("button", name="Revoke the link")).to_be_visible()
