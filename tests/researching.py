"""Set up studies in the admin with a browser, for the end-to-end tests."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

PATIENCE = 20_000
"""Milliseconds that a busy machine may need to count cells or open a page."""


def sign_in(stack: Any, page: Page, path: str = "") -> None:
    """Sign in as an administrator, without the form, and open the page at this path, if any."""
    session = stack.call("tests.actions.superuser_session")
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": stack.url}])
    page.set_default_timeout(PATIENCE)
    if path:
        page.goto(f"{stack.url}{path}")


def press(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def begin(page: Page, game: str = "Bargaining") -> None:
    """Make a study of a game on the page that offers them; its editor opens."""
    press(page, f"Begin: {game}")
    expect(page.locator("[data-cells] tbody tr").first).to_be_visible(timeout=PATIENCE)


def part(page: Page, name: str) -> None:
    """Open a part of the plan."""
    page.get_by_role("navigation", name="Parts of the study").get_by_role("button", name=name).click()


def vary(page: Page, label: str, levels: str) -> None:
    """Make a value depend on a new factor; without levels, on those that are suggested."""
    press(page, f"Vary by… {label}")
    dialog = page.get_by_role("dialog")
    if levels:
        dialog.get_by_label("Levels", exact=True).fill(levels)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)


def slug_of(page: Page) -> str:
    """Return the short name of the study on the page."""
    return page.locator("#join-link").input_value().rstrip("/").rsplit("/", 1)[-1]


def save(page: Page) -> None:
    press(page, "Save")
    expect(page.locator("[data-status]")).to_have_text("Saved", timeout=PATIENCE)


def launch(page: Page) -> str:
    """Launch the study, saving it first; return its link for participants."""
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#study-top").get_by_role("button", name="Launch").click()
    expect(page.get_by_text("Version 1 is launched")).to_be_visible(timeout=PATIENCE)
    return page.get_by_label("Link for participants").input_value()
