"""An owner pays participants in a browser, a worker process makes the payments, and participants see their status."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import researching
from tests.accessibility import violations

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
PATIENCE = 60
"""Seconds within which a worker must have processed approved payments."""


@pytest.fixture
def slug(stack: Any) -> str:
    """Launch a study without participants; return its short name."""
    slug = stack.launch_study({"slug": f"paid-{os.urandom(3).hex()}", "title": "Paid", "agents": "script:fair"})
    return str(slug)


def pay_page(stack: Any, page: Page, slug: str, state: str = "due") -> None:
    page.goto(f"{stack.url}{stack.call('tests.actions.pay_page_path', slug)}?state={state}")


def apply_action(page: Page, title: str, *, note: str = "") -> None:
    """Choose an action for all rows on the page, and confirm it on the next page."""
    page.get_by_role("button", name=f"{title}…").click()
    if note:
        page.get_by_role("textbox").fill(note)
    page.locator(".pay-form").get_by_role("button", name=title).click()
    page.locator(".pay-tabs").wait_for()


@pytest.mark.slow
def test_approved_payments_can_be_withdrawn_until_sent(stack, page: Page, slug: str):
    stack.call("tests.actions.finish_enrolment", slug, "mturk", "A1WORKER")
    stack.call("tests.actions.recruit_on_unreachable_mturk", slug)
    researching.sign_in(stack, page, "/admin/")
    expect(page.get_by_role("row", name="Paid")).to_contain_text("wait")
    pay_page(stack, page, slug)
    expect(page.get_by_text("payments are waiting for approval")).to_be_visible()
    apply_action(page, "Approve")

    deadline = time.monotonic() + PATIENCE
    unanswered = page.locator(".pay-list li").filter(has_text="not responding")
    while not unanswered.count():
        assert time.monotonic() < deadline, page.locator(".pay-list").inner_text()
        pay_page(stack, page, slug, "approved")
    expect(page.locator("body")).not_to_contain_text("A1WORKER")
    apply_action(page, "Withdraw the approval")
    pay_page(stack, page, slug, "due")
    expect(page.locator(".pay-list li")).to_have_count(2)


@pytest.mark.slow
def test_participant_sees_that_a_manual_payment_was_made(stack, page: Page, browser: Browser, slug: str):
    path = stack.call("tests.actions.finish_enrolment", slug, "codes", "CODE")
    participant_page = browser.new_context().new_page()
    participant_page.goto(stack.url + path)
    expect(participant_page.get_by_text("will pay you themselves")).to_be_visible()

    researching.sign_in(stack, page)
    pay_page(stack, page, slug)
    apply_action(page, "Approve")
    pay_page(stack, page, slug, "approved")
    apply_action(page, "Mark as paid", note="cash, list 3")
    pay_page(stack, page, slug, "confirmed")
    expect(page.locator(".pay-list li")).to_have_count(2)
    participant_page.reload()
    expect(participant_page.get_by_text("This has been paid.")).to_be_visible()
    participant_page.context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_pay_page_is_accessible(stack, page: Page, slug: str, width: int):
    stack.call("tests.actions.finish_enrolment", slug, "mturk", "A1WORKER")
    researching.sign_in(stack, page)
    page.set_viewport_size({"width": width, "height": 900})
    for open_page in (
        lambda: pay_page(stack, page, slug),
        lambda: page.get_by_role("button", name="Approve…").click(),
        lambda: (pay_page(stack, page, slug), page.locator(".pay-list a").first.click()),
    ):
        open_page()
        page.locator(".parley").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        violations_found = violations(page, within=".parley")
        assert [
            (violation["id"], [node["target"] for node in violation["nodes"]]) for violation in violations_found
        ] == []
