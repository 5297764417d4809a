"""People sell to and buy from an agent in a browser, and the dataset agrees with the formulas."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import walking

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)

CONFIG = {"scale": 100, "seller_factor": 0.8, "buyer_factor": 1.5, "rounds": 6}
VALUES = {"alice": 80.0, "bob": 150.0}


def enter_game(stack, page: Page, role: str, slug: str, **settings) -> str:
    """Launch a study and go to the game in this role, against a haggler; return the study's short name."""
    defaults = {
        "title": "Trading", "game": "negotiation", "amounts": "dollars", "config": CONFIG, "roles": [role],
        "agents": "script:haggler", "quiz": True,
    }  # fmt: skip
    stack.launch_study({"slug": slug, **defaults, **settings})
    walking.enter_game(stack, page, slug)
    return slug


def name_price(page: Page, price: str, message: str = "") -> None:
    page.locator('input[name="price"]').fill(price)
    if message:
        page.locator('textarea[name="message"]').fill(message)
    page.locator("form.move button[type=submit]:visible").click()


def finish(stack, page: Page, slug: str, value: str, folder: Path) -> dict[str, str]:
    """Answer the quiz and reach the last page; return the match's row of the verified dataset."""
    walking.expect_over(page)
    walking.press_continue(page)
    walking.answer_quiz(page, option=value)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    return walking.exported_match(stack, slug, folder)


@pytest.mark.slow
def test_seller_sees_what_a_price_earns_and_sells(stack, page: Page, tmp_path: Path):
    slug = enter_game(stack, page, "alice", "selling")
    price = page.locator('input[name="price"]')
    expect(price).to_be_visible(timeout=walking.TURN)
    price.fill("70")
    expect(page.locator("output")).to_contain_text("lose $10")
    price.fill("150")
    expect(page.locator("output")).to_contain_text("earn $70")
    name_price(page, "149.5", "It is worth every cent.")
    walking.expect_turn(page, "answer")
    expect(page.locator("#screen")).to_contain_text("$75")
    walking.answer(page, "reject")
    expect(price).to_be_visible(timeout=walking.TURN)
    name_price(page, "90")
    row = finish(stack, page, slug, "$80", tmp_path / "d")
    assert row["trade"] == "TRUE"
    price_paid = float(row["price"])
    assert float(row["payoffs_alice"]) == pytest.approx(price_paid - VALUES["alice"])
    assert float(row["payoffs_bob"]) == pytest.approx(VALUES["bob"] - price_paid)
    assert float(row["fairness_raw"]) == pytest.approx(1 - 4 * ((price_paid - 115) / 100) ** 2)


@pytest.mark.slow
def test_buyer_is_warned_of_a_loss_and_walks_away(stack, page: Page, tmp_path: Path):
    config = {**CONFIG, "buyer_factor": 0.9, "complete_information": False}
    slug = enter_game(stack, page, "bob", "buying", config=config)
    walking.expect_turn(page, "answer")
    expect(page.locator("#screen")).to_contain_text("$120")
    expect(page.locator("#screen")).to_contain_text("lose $30")
    assert "$80" not in page.content(), "the buyer's page reveals the seller's value"
    walking.answer(page, "walk_away")
    page.locator("[data-warning]").get_by_role("button", name="Walk away").click()
    row = finish(stack, page, slug, "$90", tmp_path / "d")
    assert (row["trade"], row["price"]) == ("FALSE", "")
    assert (float(row["payoffs_alice"]), float(row["payoffs_bob"]), float(row["efficiency"])) == (0, 0, 0)
