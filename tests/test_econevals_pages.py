"""A person plays each environment of EconEvals on a phone: a practice period, and five periods with data and notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conftest import slow_except
from games import registry
from games.play import configure
from tests import walking
from tests.photographs import photograph
from tests.test_meeting import PHONE, OpenPage, check_page, phone
from tests.test_pages import TOO_WIDE

__all__ = ["phone"]
pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The pages' content does not depend on the database."""
PERIODS = 5
PeriodAction = Callable[[Page, int], None]
"""A function that submits the period with this number, counted from 0."""


def check_large_text(page: Page, page_name: str) -> None:
    """Check that doubling the text size does not make the page wider than a phone."""
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    width = page.evaluate("document.scrollingElement.scrollWidth")
    too_wide = page.evaluate(TOO_WIDE) if width > PHONE["width"] else []
    page.evaluate("document.documentElement.style.fontSize = ''")
    assert not too_wide, (page_name, width, too_wide)


def buy(page: Page, period: int) -> None:
    """Submit a plan with one more offer than in the period before; in one period, copy an earlier plan."""
    if period == 3:
        page.get_by_role("button", name="Copy plan 1").click()
    for offer in range(period + 1):
        page.locator("[data-units]").nth(offer).fill(str(offer))
    expect(page.locator("[data-cost]")).not_to_be_empty()
    if period == 2:
        page.get_by_label("Type").select_option("simple")
        assert page.locator("[data-offer]:visible").count() < page.locator("[data-offer]").count()
        page.get_by_label("Type").select_option("")
    page.get_by_role("button", name="Buy this plan").click()


def schedule(page: Page, period: int) -> None:
    """Rotate the tasks among the workers by the period's number; choosing a taken task swaps it."""
    menus = page.locator("[data-menus] select")
    number = menus.count()
    for worker in range(number):
        menus.nth(worker).select_option(f"T{(worker + period) % number + 1}")
    chosen = sorted(menus.nth(worker).input_value() for worker in range(number))
    assert chosen == [f"T{task}" for task in range(1, number + 1)]
    page.get_by_role("button", name="Submit this schedule").click()


def price(page: Page, period: int) -> None:
    field = page.locator("form.move input[data-price]").first
    field.fill(f"{0.5 + 2 * period}")
    page.get_by_role("button", name="Set these prices").click()


def assign(page: Page, period: int) -> None:
    menus = page.locator("[data-menus] select")
    number = menus.count()
    for task in range(number):
        menus.nth(task).select_option(f"W{(task + period) % number + 1}")
    page.get_by_role("button", name="Assign").click()


def choose(page: Page, period: int) -> None:
    page.locator(f'form.move button[value="{"AB"[period % 2]}"]').click()


def compete(page: Page, period: int) -> None:
    page.locator('form.move input[name="price"]').fill(f"{1.2 + period / 10}")
    page.get_by_role("button", name="Set price").click()


CASES: dict[str, tuple[dict[str, Any], PeriodAction]] = {
    "procurement": ({"level": "small", "practice": True, "instance_seed": 2}, buy),
    "scheduling": ({"level": "small", "practice": True, "instance_seed": 2}, schedule),
    "pricing": ({"practice": True}, price),
    "task_allocation": ({"practice": True}, assign),
    "patience": ({"amounts": [101, 105, 110], "order": "ascending"}, choose),
    "duopoly": ({}, compete),
}


LOOKED_AT = {
    "procurement": "offers",
    "scheduling": "situation",
    "pricing": "products",
    "task_allocation": "tasks",
    "patience": "progress",
    "duopoly": "situation",
}
"""The part of each environment's page that is in sight on a phone when the question appears."""
QUICK = {"procurement", "duopoly"}
"""Environments in quick runs: the one with the most on its page, and the one with a rival."""


@pytest.mark.parametrize("key", slow_except(CASES, QUICK))
def test_person_plays_five_periods_on_a_phone(stack, phone: OpenPage, key: str):
    config, play_period = CASES[key]
    game = registry.get(key)
    length = {} if key == "patience" else {"periods": PERIODS}
    slug = f"bench-{key.replace('_', '-')}"
    study = {"slug": slug, "title": game.title, "game": key, "config": {**config, **length}, "via": "codes"}
    roles = configure(game, config).roles()
    agents = "script:tit_for_tat" if len(roles) > 1 else {}
    stack.launch_study({**study, "roles": [roles[0]], "agents": agents})
    page = phone(stack.reach_first_turn(slug))
    if config.get("practice"):
        expect(page.locator("main")).to_contain_text("it does not count")
        play_period(page, 0)
        expect(page.locator("main")).to_contain_text("every period counts")
    for period in range(PERIODS):
        fact = page.locator(".fact-question strong" if key == "patience" else ".fact-period strong")
        expect(fact).to_have_text(f"{period + 1} of 6" if key == "patience" else str(period + 1))
        expect(page.locator("form.move button:focus")).to_have_count(0)  # it would suggest the last choice
        if period == 3:
            if key != "patience":
                page.get_by_label("Note", exact=True).fill("dearer sold less")
                page.get_by_role("button", name="Save", exact=False).last.click()
                expect(page.locator("main table", has_text="dearer sold less")).to_be_visible()
            check_page(page, f"{key}, period {period}")
            check_large_text(page, f"{key}, period {period}")
            photograph(page, key)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], (key, period)
        play_period(page, period)
    if key == "patience":
        play_period(page, PERIODS)
    walking.expect_over(page)
    seen = stack.call("tests.actions.seen_before_moves", slug)
    assert any(parts and parts.get(LOOKED_AT[key], 0) > 0 for parts in seen), seen
    photograph(page, f"{key}-over")
    check_page(page, f"{key}, over")
    check_large_text(page, f"{key}, over")
