"""People sell and buy in the persuasion game in a browser, with messages and with recommendations."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import walking

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)

CONFIG = {"price": 100, "prior": 0.5, "high_value": 1.25, "rounds": 3, "qualities": ["low", "high", "low"]}


def enter_game(stack, page: Page, role: str, slug: str, agent: str, **config) -> str:
    """Launch a study and go to the game in this role; return the study's short name."""
    defaults = {
        "title": "Products", "game": "persuasion", "amounts": "dollars", "roles": [role], "agents": agent,
        "quiz": True,
    }  # fmt: skip
    stack.launch_study({"slug": slug, "config": {**CONFIG, **config}, **defaults})
    walking.enter_game(stack, page, slug)
    return slug


def finish(stack, page: Page, slug: str, folder: Path) -> dict[str, str]:
    """Answer the quiz and reach the last page; return the match's row of the verified dataset."""
    walking.expect_over(page)
    walking.press_continue(page)
    walking.answer_quiz(page, option="$100")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    return walking.exported_match(stack, slug, folder)


def wait_for_round(page: Page, number: int) -> None:
    expect(page.locator(".fact-round strong")).to_contain_text(f"{number} of 3", timeout=walking.TURN)


@pytest.mark.slow
def test_seller_sees_the_quality_and_writes_messages(stack, page: Page, tmp_path: Path):
    slug = enter_game(stack, page, "alice", "words-sold", "script:trusting")
    for number, (quality, message) in enumerate(
        [("Low quality", "A fine <i>thing</i>"), ("High quality", "Do not take it"), ("Low quality", "=SUM(1)")],
        start=1,
    ):
        wait_for_round(page, number)
        expect(page.locator(".persuasion-product")).to_contain_text(quality)
        page.locator('textarea[name="message"]').fill(message)
        page.locator("form.move button[type=submit]:visible").click()
    row = finish(stack, page, slug, tmp_path / "d")
    assert (row["sold"], row["sold_low"], row["high_quality_rounds"]) == ("2", "2", "1")
    assert (float(row["payoffs_alice"]), float(row["payoffs_bob"])) == (200, -200)
    assert (float(row["efficiency"]), float(row["fairness"])) == (0, 0)
    assert "<i>thing</i>" in (tmp_path / "d" / "transcripts.jsonl").read_text()


@pytest.mark.slow
def test_seller_recommends_buying_or_not(stack, page: Page, tmp_path: Path):
    slug = enter_game(stack, page, "alice", "yes-and-no", "script:trusting", message_type="binary")
    for number, advice in enumerate(["no", "yes", "no"], start=1):
        wait_for_round(page, number)
        page.locator(f'button[name="recommendation"][value="{advice}"]').click()
    row = finish(stack, page, slug, tmp_path / "d")
    assert (float(row["efficiency"]), float(row["fairness"])) == (1, 1)
    assert (float(row["payoffs_alice"]), float(row["payoffs_bob"])) == (100, 25)


def buy(page: Page, decisions: list[str], pitch: str) -> None:
    for number, decision in enumerate(decisions, start=1):
        wait_for_round(page, number)
        expect(page.locator('button[name="decision"]').first).to_be_visible(timeout=walking.TURN)
        expect(page.locator(".persuasion-pitch")).to_contain_text(pitch)
        assert page.locator(".persuasion-product").count() == 0
        page.locator(f'button[name="decision"][value="{decision}"]').click()


@pytest.mark.slow
def test_buyer_reads_buys_and_learns_the_quality(stack, page: Page, tmp_path: Path):
    slug = enter_game(stack, page, "bob", "words-bought", "script:always_yes")
    buy(page, ["yes", "yes", "no"], "Alice writes")
    expect(page.locator("#screen")).to_contain_text("-$75")
    walking.expect_over(page)
    history = page.locator("table.stacked").inner_text()
    assert history.count("low") == 2
    row = finish(stack, page, slug, tmp_path / "d")
    assert (float(row["payoffs_alice"]), float(row["payoffs_bob"])) == (200, -75)
    assert (float(row["efficiency"]), float(row["fairness"])) == (1, 0.5)


@pytest.mark.slow
def test_buyer_learns_the_quality_only_of_what_was_bought(stack, page: Page, tmp_path: Path):
    slug = enter_game(
        stack, page, "bob", "advice-bought", "script:always_yes", message_type="binary", reveal_quality="if_bought"
    )
    buy(page, ["no", "yes", "no"], "yes, buy it")
    walking.expect_over(page)
    history = page.locator("table.stacked").inner_text()
    assert history.count("unknown") == 2
    assert "low" not in history
    row = finish(stack, page, slug, tmp_path / "d")
    assert (row["sold"], row["sold_high"]) == ("1", "1")
