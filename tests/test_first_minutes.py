"""The first minutes with the demo, walked as a newcomer would: by what the pages say, from the home page on.

`PHOTOGRAPHS=FOLDER` saves every page of the walk in order, in two sizes, light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page, expect

from showcase.tour import STOPS
from tests import walking
from tests.accessibility import DARK, violation_lines, violations
from tests.conftest import LiveStack
from tests.photographs import DESKTOP, PHONE, photograph
from tests.researching import begin

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
NUMBERS = count(1)
"""Number the pictures in the order of the walks."""
TALLEST = 1600
"""Height of the saved pictures, in pixels: two screens of a desktop."""


class Newcomer:
    """Looks at every page: photographs it in order and collects what axe finds and what does not fit a phone."""

    def __init__(self, page: Page):
        self.page = page
        self.problems: list[str] = []

    def look(self, name: str, page: Page | None = None) -> None:
        seen = page or self.page
        seen.wait_for_load_state()
        photograph(seen, f"{next(NUMBERS):02} {name}", height=TALLEST)
        for dark, rules in ((False, ()), (True, DARK)):
            seen.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
            if "/admin/" in seen.url:
                seen.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
            self.problems += violation_lines(violations(seen, rules=rules), f"{name}, {'dark' if dark else 'light'}")
        seen.emulate_media(color_scheme="light")
        seen.evaluate("document.documentElement.classList.remove('dark')")
        seen.set_viewport_size(PHONE)  # type: ignore[arg-type]
        width = seen.evaluate("document.scrollingElement.scrollWidth")
        if width > PHONE["width"]:
            self.problems.append(f"{name}: {width} px wide on a phone")
        seen.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


@pytest.fixture
def newcomer(browser: Browser) -> Iterator[Newcomer]:
    # Reports forbid scripts, axe's too.
    context = browser.new_context(viewport=DESKTOP, bypass_csp=True)  # type: ignore[arg-type]
    newcomer = Newcomer(context.new_page())
    yield newcomer
    context.close()
    assert not newcomer.problems, "\n".join(newcomer.problems)


def test_play_watch_and_read_results(demo: LiveStack, newcomer: Newcomer):
    page = newcomer.page
    page.goto(demo.url)
    newcomer.look("home")
    page.get_by_role("button", name="as Alice").first.click()
    newcomer.look("consent")
    page.locator('input[name="agree"]').check()
    page.locator('main button[type="submit"]').click()
    newcomer.look("name")
    page.locator('input[name="name"]').fill("Robin")
    page.locator('main button[type="submit"]').click()
    newcomer.look("instructions")
    walking.read_instructions(page)
    newcomer.look("questions about the rules")
    walking.answer_comprehension(page)
    walking.expect_turn(page, "offer")
    newcomer.look("first offer")
    walking.offer(page, "6000", "4000", role="alice", message="Shall we settle this quickly?")
    expect(page.locator(".move.sent")).to_have_count(0)  # it is paler, until the server has answered
    newcomer.look("waiting")
    walking.expect_turn(page, "answer")
    newcomer.look("their offer")
    walking.answer(page, "accept")
    walking.expect_over(page)
    newcomer.look("result")
    walking.press_continue(page)
    page.locator(".earnings").wait_for()
    newcomer.look("last page")
    page.goto(demo.url)
    page.locator("#bargaining").get_by_role("link", name="Play with a friend").click()
    newcomer.look("play with a friend")
    page.goto(demo.url)
    page.locator("#bargaining").get_by_role("button", name="Watch scripts play").click()
    expect(page.locator("#viewer")).to_be_visible()
    newcomer.look("watch")
    page.get_by_role("link", name="Results").click()
    newcomer.look("results")


def test_set_up_a_study_and_look_at_finished_ones(demo: LiveStack, newcomer: Newcomer):
    page = newcomer.page
    page.goto(demo.url)
    page.get_by_role("button", name="New study").click()
    newcomer.look("which game")
    begin(page)
    newcomer.look("editor")
    for study in ("Look at a finished study", "Look at a study in groups", "Compare agents in a collection"):
        offer = page.locator("#research ~ * li", has=page.get_by_role("heading", name=study))
        page.goto(demo.url)
        for name in offer.get_by_role("button").all_inner_texts():
            page.goto(demo.url)
            offer.get_by_role("button", name=name).click()
            newcomer.look(f"{study} {name}")


def test_tour(demo: LiveStack, newcomer: Newcomer):
    page = newcomer.page
    page.goto(demo.url)
    page.get_by_role("button", name="Tour in five steps").click()
    newcomer.look("tour")
    page.get_by_role("link", name="Start the tour").click()
    for stop in STOPS:
        expect(page.get_by_role("heading", name=str(stop.title))).to_be_visible()
        newcomer.look(f"tour {stop.name}")
        if stop.name == "report":
            with page.expect_popup() as report:
                page.get_by_role("link", name="Open the report").click()
            newcomer.look("tour's report", report.value)
            page.get_by_role("button", name="Finish").click()
        else:
            page.get_by_role("link", name="Next: ").click()
    expect(page.get_by_text("You have seen it all")).to_be_visible()
    newcomer.look("tour finished")
