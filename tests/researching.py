"""Set up studies in the admin with a browser, for the end-to-end tests."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

PATIENCE = 20_000
"""Milliseconds that a busy machine may need to count cells or open a page."""
COUNT_CLICKS = """
    window.addEventListener("click", (event) => {
      if (event.isTrusted && event.detail) sessionStorage.clicks = Number(sessionStorage.clicks || 0) + 1;
    }, true)
"""


def sign_in(stack: Any, page: Page) -> None:
    """Open the admin's first page as an administrator, counting every click from then on."""
    name, password = stack.call("tests.actions.superuser_login")
    page.set_default_timeout(PATIENCE)
    page.add_init_script(COUNT_CLICKS)
    page.goto(f"{stack.url}/admin/")
    page.get_by_label("Username").fill(name)
    page.locator("input[type=password]").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Newest studies").wait_for()


def clicks(page: Page) -> int:
    """Return the number of clicks in this window since signing in."""
    return int(page.evaluate("sessionStorage.clicks || 0"))


def go_to_step(page: Page, title: str) -> None:
    """Go to a step of the set-up form."""
    page.get_by_role("navigation", name="Steps").get_by_role("button", name=title).click()


def vary(page: Page, parameter: str, values: str) -> None:
    """Enter several values for a parameter."""
    page.get_by_role("button", name=f"Several values: {parameter}").click()
    page.get_by_label(f"{parameter}: several values").fill(values)


def expect_size(page: Page, *, cells: int, matches: int) -> None:
    """Wait until the page shows this many cells and matches for the study as typed."""
    expect(page.locator("[data-cells]")).to_have_text(str(cells), timeout=PATIENCE)
    expect(page.locator("[data-matches]")).to_have_text(str(matches), timeout=PATIENCE)
