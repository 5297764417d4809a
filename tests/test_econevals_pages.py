"""A person plays each environment of EconEvals on a phone: practice, and five periods with data and notes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from games import registry
from games.play import configure
from games.practice import PRACTICE_PERIODS
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


def check_tab(page: Page, page_name: str) -> None:
    """Check the page as it is shown now, and photograph it."""
    check_page(page, page_name)
    check_large_text(page, page_name)
    photograph(page, page_name)


def buy(page: Page, period: int) -> None:
    """Submit a plan of one more offer than in the period before, by keyboard; in one period, copy plans and undo it."""
    if period == 3:
        page.get_by_role("tab", name="So far").click()
        page.get_by_role("button", name="Copy period 1", exact=True).click()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Clear", exact=True).click()
        expect(page.locator("[data-cost]")).to_have_text(re.compile(r"^\D?0\.00"))
    names = sorted(page.locator("[data-offer]").evaluate_all("rows => rows.map(row => row.dataset.offer)"))
    fields = [page.get_by_label(f"Units of {name}", exact=True) for name in names[: period + 1]]
    for field in fields:
        field.fill("1")
    fields[-1].press("ArrowUp")
    fields[-1].press("Enter")  # goes on to the next field
    expect(fields[-1]).not_to_be_focused()
    expect(page.locator(".basket [data-offer]")).to_have_count(len(fields))
    expect(page.locator("[data-cost]")).not_to_be_empty()
    if period == 2:
        page.get_by_label("Sort by").select_option(label="Price")
        page.get_by_label("Contains").select_option(index=1)  # a category
        expect(page.locator(".builder [data-found]")).to_contain_text(" of ")
        page.get_by_label("Contains").select_option("")
    send(page, "Buy this plan")


def is_asked(page: Page, question: str) -> bool:
    """Wait until this question is answered, or the page asks whether the answer is meant; return whether it asks."""
    page.wait_for_function(
        """question => document.querySelector("form.move [name=answering]")?.value !== question
            || document.querySelector("[data-warning]:not([hidden])")""",
        arg=question,
    )
    return page.locator("[data-warning]:visible").count() > 0


def send(page: Page, button: str) -> None:
    """Submit the period, even if the page asks first whether that is meant."""
    question = page.locator("form.move [name=answering]").first.input_value()
    page.get_by_role("button", name=button).click()
    if is_asked(page, question):
        page.get_by_role("button", name="Send anyway").click()


def choices(page: Page) -> tuple[Locator, list[str]]:
    """Return a form's menus, and what each of them offers."""
    menus = page.locator("[data-menus] select")
    options = menus.first.locator("option").evaluate_all("options => options.map(option => option.value)")
    return menus, [value for value in options if value]


def practise(page: Page, key: str, play_period: PeriodAction) -> None:
    """Play the practice periods, and begin the game, whose first page shows nothing of them."""
    for number in range(PRACTICE_PERIODS):
        expect(page.locator(".status.practice")).to_contain_text(f"period {number + 1} of {PRACTICE_PERIODS}")
        play_period(page, number)
    expect(page.locator("main")).to_contain_text("Practice is over.")
    check_page(page, f"{key}, practice over")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("main")).to_contain_text("Practice is over:")
    expect(page.locator(".practice, [data-block=history]")).to_have_count(0)


def schedule(page: Page, period: int) -> None:
    """Rotate the tasks among the workers by the period's number; choosing a taken task swaps it."""
    menus, tasks = choices(page)
    for worker in range(len(tasks)):
        menus.nth(worker).select_option(tasks[(worker + period) % len(tasks)])
    assert sorted(menus.nth(worker).input_value() for worker in range(len(tasks))) == sorted(tasks)
    page.get_by_role("button", name="Submit this schedule").click()


def price(page: Page, period: int) -> None:
    field = page.locator("form.move input[data-entry]").first
    field.fill(f"{0.5 + 2 * period}")
    page.get_by_role("button", name="Set these prices").click()


def assign(page: Page, period: int) -> None:
    menus, workers = choices(page)
    for task in range(len(workers)):
        menus.nth(task).select_option(workers[(task + period) % len(workers)])
    page.get_by_role("button", name="Assign").click()


def choose(page: Page, period: int) -> None:
    """Choose A and B in turn; from the second question on, by keyboard."""
    button = page.locator(f'form.move button[value="{"AB"[period % 2]}"]')
    if not period:
        return button.click()
    page.locator(".fresh").wait_for(state="detached")
    page.locator("#screen").press("12"[period % 2])
    expect(button).to_be_focused()
    page.keyboard.press("Enter")


def compete(page: Page, period: int) -> None:
    """Set a price a little above the last; in one period, copy the best one, compare, and step up by key."""
    field = page.locator('form.move input[name="price"]')
    field.fill(f"{1.2 + period / 10}")
    expect(page.locator("[data-unit]")).to_contain_text("Profit per unit: 0.")
    if period == 2:
        page.locator("form.move [data-copy]:not([data-copy=''])").last.click()
        page.get_by_role("tab", name="So far").click()
        page.locator("[data-one]").select_option("1")
        page.get_by_role("tab", name="Now").click()
        field.press("ArrowUp")
        expect(page.locator("[data-near]")).to_contain_text("the other firm's price was")
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
    "procurement": "offers", "scheduling": "situation", "pricing": "products", "task_allocation": "tasks",
    "patience": "progress", "duopoly": "situation",
}  # fmt: skip
"""The part of each environment's page that is in sight on a phone when the question appears."""
TRIED = {
    "procurement": ["plan:Offer_1", "!copy"],
    "pricing": ["prices:Product_1"],
    "duopoly": ["price", "!copy", "!compare"],
}
"""What each environment records as tried."""


@pytest.mark.slow
@pytest.mark.parametrize("key", CASES)
def test_person_plays_five_periods_on_a_phone(stack, phone: OpenPage, key: str):
    config, play_period = CASES[key]
    game = registry.get(key)
    length = {} if key == "patience" else {"periods": PERIODS}
    slug = f"bench-{key.replace('_', '-')}"
    study = {"slug": slug, "title": game.title, "game": key, "config": {**config, **length}}
    roles = configure(game, config).roles()
    agents = "script:tit_for_tat" if len(roles) > 1 else {}
    stack.launch_study({**study, "roles": [roles[0]], "agents": agents})
    page = phone(stack.reach_first_turn(slug))
    if config.get("practice"):
        practise(page, key, play_period)
    for period in range(PERIODS):
        fact = page.locator(".fact-question strong" if key == "patience" else ".fact-period strong")
        expect(fact).to_have_text(f"{period + 1} of 6" if key == "patience" else str(period + 1))
        expect(page.locator("form.move button:focus")).to_have_count(0)  # it would suggest the last choice
        if period == 3:
            if key != "patience":
                page.locator("summary", has_text="Write a note").click()
                page.get_by_label("Note", exact=True).fill("dearer sold less")
                page.get_by_role("button", name="Save", exact=False).last.click()
                expect(page.get_by_role("tab", name="So far")).to_have_accessible_name("So far (new)")
                page.get_by_role("tab", name="So far").click()
                page.locator("summary", has_text="Your notes").click()
                expect(page.locator("main table", has_text="dearer sold less")).to_be_visible()
                check_tab(page, f"{key}, period {period}, so far")
                page.get_by_role("tab", name="Now").click()
            check_tab(page, f"{key}, period {period}")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], (key, period)
        play_period(page, period)
    if key == "patience":
        expect(page.locator(".fact-question strong")).to_have_text("6 of 6")
        play_period(page, PERIODS)
    walking.expect_over(page)
    seen = stack.call("tests.actions.seen_before_moves", slug)
    assert any(parts and parts.get(LOOKED_AT[key], 0) > 0 for parts, _tried in seen), seen
    tried = [name for _parts, entries in seen for _at, name, _value in entries or ()]
    assert set(TRIED.get(key, ())) <= set(tried), tried
    check_tab(page, f"{key}, over")


def press_once_calm(page: Page) -> None:
    """Press the button that has the focus, once the page no longer takes it for a second click."""
    page.locator(".fresh").wait_for(state="detached")
    page.keyboard.press("Enter")


LONGEST_PLAN = 3500
"""Greatest height of a phone's page of 100 offers, in pixels."""


@pytest.mark.slow
def test_a_plan_of_a_hundred_offers_is_made_by_keyboard_alone(stack, phone: OpenPage, periods: int = 12):
    config = {"level": "hard", "periods": periods, "instance_seed": 1}
    study = {"slug": "by-keyboard", "title": "By keyboard", "game": "procurement", "config": config}
    stack.launch_study({**study, "roles": ["agent"], "agents": {}})
    page = phone(stack.reach_first_turn("by-keyboard"))
    keyboard = page.keyboard
    for period in range(periods):
        expect(page.locator(".fact-period strong")).to_have_text(str(period + 1))
        while not page.evaluate("document.activeElement.matches('.builder tbody:not(.basket) [data-entry]')"):
            keyboard.press("Tab")
        for _offer in range(period % 7):
            keyboard.press("Enter")
        keyboard.press("ArrowUp")
        while page.evaluate("document.activeElement.localName") != "button":
            keyboard.press("Enter")
        question = page.locator("form.move [name=answering]").first.input_value()
        press_once_calm(page)
        if is_asked(page, question):
            press_once_calm(page)
        if period < periods - 1:
            expect(page.locator(".fact-period strong")).to_have_text(str(period + 2))
            assert page.locator(".basket [data-offer]").count() > 0
            assert page.evaluate("document.scrollingElement.scrollHeight") < LONGEST_PLAN
    walking.expect_over(page)


@pytest.mark.slow
def test_pricing_of_full_length_by_keyboard_alone(stack, phone: OpenPage):
    slug, periods = "bench-pricing-keys", 100
    config = {"periods": periods, "level": "medium", "instance_seed": 3}
    stack.launch_study(
        {"slug": slug, "title": "Keys", "game": "pricing", "config": config, "roles": ["agent"], "agents": {}}
    )
    page = phone(stack.reach_first_turn(slug))
    prices = page.locator("form.move [data-entry]")
    page.locator("#screen").focus()
    for period in range(periods):
        expect(page.locator(".fact-period strong")).to_have_text(str(period + 1))
        page.locator(".fresh").wait_for(state="detached")
        page.keyboard.press("Enter")
        for number in range(prices.count()):
            expect(prices.nth(number)).to_be_focused()
            if period == 0:
                page.keyboard.type(str(4 + number))
            page.keyboard.press(["ArrowUp", "ArrowDown"][period // 7 % 2])
            page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    walking.expect_over(page)
    check_tab(page, "pricing of full length, over")
