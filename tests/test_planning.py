"""A researcher plans a collection in a browser, in the editor of plans."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import researching
from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import photograph

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
SCHEMES = [("light", ()), ("dark", DARK)]


@pytest.fixture
def desk(stack, page: Page) -> Page:
    """Return a page that offers new collections to an administrator."""
    researching.sign_in(stack, page, "/admin/collecting/collection/add/")
    return page


def press(page: Page | Locator, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def part(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Parts of the collection").get_by_role("button", name=name).click()


def begin(page: Page, link: str) -> None:
    page.get_by_role("link", name=link, exact=True).click()
    expect(page.locator("[data-cells] tbody tr").first).to_be_visible(timeout=researching.PATIENCE)


def vary(page: Page, label: str, levels: str) -> None:
    press(page, f"Vary by… {label}")
    page.get_by_role("dialog").get_by_label("Levels", exact=True).fill(levels)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_two_scripts_meet_in_two_configurations(stack, desk: Page):
    begin(desk, "Begin: Bargaining")
    vary(desk, "Rounds", "1, 3")
    part(desk, "Agents")
    press(desk, "Add an agent")
    part(desk, "Title and size")
    desk.get_by_label("Title").fill("Two scripts")
    desk.get_by_label("Short name").fill("two-scripts")
    desk.get_by_label("Repetitions").fill("5")
    expect(desk.locator("[data-cells]")).to_contain_text("40", timeout=researching.PATIENCE)
    press(desk, "Create")
    expect(desk.get_by_role("heading", name="Two scripts")).to_be_visible(timeout=researching.PATIENCE)
    expect(desk.get_by_text("2 configurations × 4 line-ups × 5 repetitions = 40 matches").first).to_be_visible()
    desk.get_by_role("button", name="Start").click()
    expect(desk.get_by_text("100%: 40 of 40 matches")).to_be_visible(timeout=researching.PATIENCE)


def test_a_fault_is_shown_at_its_control_and_creates_nothing(stack, desk: Page):
    begin(desk, "Begin: Bargaining")
    desk.get_by_label("Rounds", exact=True).fill("0")
    fault = desk.locator("[data-at$=rounds] > .plan-fault")
    expect(fault).to_contain_text("must be at least 1", timeout=researching.PATIENCE)
    press(desk, "Create")
    expect(desk.locator("[data-status]")).to_contain_text("at least 1", timeout=researching.PATIENCE)
    assert "/add/" in desk.url


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_every_part_is_accessible_and_fits_a_phone(desk: Page, scheme: str, rules: Sequence[str]):
    begin(desk, "Open: Economics Arena: second-price auction, against itself")
    if scheme == "dark":
        desk.evaluate("document.documentElement.classList.add('dark')")
    problems: list[str] = []
    for name in ("Sealed auction", "stakes low", "Title and size", "Agents", "Configurations", "Own prices"):
        part(desk, name)
        photograph(desk, f"collection-{name}")
        problems += violation_lines(violations(desk, within="#plan", rules=rules), name)
        desk.set_viewport_size({"width": 360, "height": 740})
        width = desk.evaluate("document.scrollingElement.scrollWidth")
        problems += [f"{name}: {width} px wide"] if width > 360 else []
        desk.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)
