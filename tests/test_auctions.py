"""People on phones bid on several items, against models and each other, while a researcher watches."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from llm_agents.standins import AnthropicStandIn, OpenAIStandIn
from studies.tests import kit
from tests.photographs import photograph
from tests.researching import sign_in
from tests.test_meeting import PHONE, OpenPage, bring_to_lobby, check_page, phone, press_ready
from tests.walking import answer_comprehension, consent_and_name, read_instructions

__all__ = ["phone"]
pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The pages' content does not depend on the database."""


def bids(page: Page):
    return page.locator("form[data-move=bid]")


def withdraw(page: Page) -> None:
    """Withdraw from the item, and confirm it."""
    bids(page).locator(".withdraw").click()
    bids(page).locator("[data-warning]").get_by_role("button", name="Withdraw from this item").click()


def check_first_screen(page: Page, page_name: str) -> None:
    """Check that a phone shows the item, the highest bid, the player's budget and the buttons without scrolling."""
    page.evaluate("scrollTo(0, 0)")
    for selector in (
        ".lot h2",
        ".lot .fact-standing",
        ".purse .fact-budget_left",
        ".lowest",
        "[name=bid]",
        ".withdraw",
    ):
        box = page.locator(selector).first.bounding_box()
        assert box is not None and box["y"] + box["height"] <= PHONE["height"], (page_name, selector, box)


def bidder_answer(request: Mapping[str, Any]) -> str:
    """Answer as a model that plans, reports its beliefs, and bids only for items without a bid."""
    question = request["messages"][-1]["content"]
    question = question if isinstance(question, str) else " ".join(block.get("text", "") for block in question)
    if "Plan ahead" in question or "Plan again" in question:
        move: dict[str, Any] = {"priorities": {"Gadget B": 3}}
    elif "Update your record" in question:
        move = {"remaining_budget": 20000, "total_profits": {}, "winning_bids": {}}
    else:
        lowest_bid = re.search(r"nobody has bid\. The lowest bid is \$?([\d,]+)", question)
        move = {"bid": int(lowest_bid[1].replace(",", "")) if lowest_bid else None}
    return f"I think about it first.\n\n{json.dumps(move)}"


@pytest.mark.slow
def test_person_bids_on_ten_items_against_both_protocols(stack, phone: OpenPage, tmp_path: Path):
    """In each item's first round, all three bidders bid the same; then two of them withdraw."""
    with OpenAIStandIn(bidder_answer) as openai, AnthropicStandIn(bidder_answer) as anthropic:
        stack.call("tests.actions.add_endpoint", "bidder-one", f"http://127.0.0.1:{openai.port}/v1")
        stack.call("tests.actions.add_endpoint", "bidder-other", f"http://127.0.0.1:{anthropic.port}", "anthropic")
        stack.call(
            "tests.bidding.launch_auction",
            "models",
            seats={"p1": "person", "p2": "bidder-one:m", "p3": "bidder-other:m"},
            settings={"strategy": "adaptive", "cap_study": 5.0, "fallback": "withdraw", "script_counts": True},
            further={"withdraw": kit.agent("script:withdraw")},
            turn=120,
        )
        page = phone(stack.call("tests.meeting.reach_lobby", "models"))
        for number in range(1, 11):
            expect(page.locator(".lot .place")).to_contain_text(f"Item {number} of 10 · round 1", timeout=60_000)
            check_first_screen(page, f"item {number}")
            if number in (1, 2):
                check_page(page, f"item {number}")
                photograph(page, f"item-{number}")
            bids(page).locator(".lowest").click()
            expect(page.locator(".lot .place", has_text=f"Item {number} of 10 · round 1")).to_have_count(
                0, timeout=60_000
            )
            if bids(page).locator(".withdraw").count() and "round 2" in page.locator(".lot .place").inner_text():
                withdraw(page)
        expect(page.get_by_role("button", name="Continue")).to_be_visible(timeout=60_000)
        expect(page.locator(".lots li.sold")).to_have_count(10)
        check_page(page, "over")
        photograph(page, "over")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    record = stack.call("tests.bidding.match_record", "models")
    assert (record["status"], record["metrics"]["items_sold"], record["metrics"]["items_unsold"]) == ("finished", 10, 0)
    fields_by_role = {
        role: {key for mover, move, _by in record["moves"] if mover == role for key in move} for role in ("p2", "p3")
    }
    assert (
        fields_by_role["p2"] >= {"bid", "priorities", "remaining_budget"}
        and fields_by_role["p3"] == fields_by_role["p2"]
    )
    assert {by for _role, _move, by in record["moves"]} == {None}, "no answer was unreadable"
    stack.manage("export_dataset", "models", "--to", str(tmp_path / "models"))
    stack.manage("verify_dataset", str(tmp_path / "models"))


@pytest.mark.slow
def test_auction_continues_when_one_of_three_people_leaves(stack, phone: OpenPage, browser: Browser):
    items = [{"name": f"Lot {number}", "start_price": 1000} for number in (1, 2)]
    stack.call(
        "tests.bidding.launch_auction", "leaver",
        seats={"p1": "person", "p2": "person", "p3": "person", "p4": "script:rule"}, settings={},
        config={"players": 4, "items": items, "order": "listed", "tie_break": "first_seat", "rule_limit": 1}, turn=8,
        extension=0, absence=0, on_timeout="default",
    )  # fmt: skip
    researcher_context = browser.new_context(viewport={"width": 1280, "height": 800})
    researcher = researcher_context.new_page()
    sign_in(stack, researcher)
    pages = {
        stack.call("tests.meeting.role_of", path): page for path, page in bring_to_lobby(stack, phone, "leaver", 3)
    }
    for page in pages.values():
        expect(bids(page)).to_be_visible()
    bids(pages["p3"]).locator(".lowest").click()
    expect(bids(pages["p3"])).to_be_hidden()
    pages["p3"].context.close()
    pages["p1"].get_by_label("Other amount").fill("1500")
    pages["p1"].get_by_role("button", name="Place bid").click()
    expect(pages["p2"].locator('[data-seat="p1"]')).to_have_attribute("data-mark", "answered")
    check_first_screen(pages["p2"], "the first round")
    bids(pages["p2"]).locator(".lowest").click()
    researcher.goto(
        f"{stack.url}/admin/matches/match/{stack.call('tests.bidding.match_record', 'leaver')['pk']}/watch/"
    )
    # The clock withdraws the participant who left; p1 leads, and p2 is asked again.
    expect(pages["p2"].locator(".lot .fact-standing")).to_contain_text("Bidder 1", timeout=30_000)
    expect(pages["p1"].locator(".game > div .status, .game .status").first).to_contain_text("You are leading")
    expect(researcher.locator(".lot .fact-standing")).to_contain_text("Bidder 1")
    photograph(researcher, "watched")
    photograph(pages["p1"], "leading")
    withdraw(pages["p2"])
    expect(pages["p1"].locator(".hammer")).to_contain_text("Sold to you", timeout=15_000)
    expect(researcher.locator(".hammer")).to_contain_text("Sold to Bidder 1")
    check_page(pages["p1"], "bought")
    photograph(pages["p1"], "bought")
    for role in ("p1", "p2"):
        withdraw(pages[role])
    for role in ("p1", "p2"):
        expect(pages[role].get_by_role("button", name="Continue")).to_be_visible(timeout=20_000)
    expect(researcher.locator(".watch-status")).to_have_text("Finished.")
    check_spectator_page(researcher)
    researcher_context.close()
    record = stack.call("tests.bidding.match_record", "leaver")
    assert record["status"] == "finished"
    assert ["p3", {"bid": None}, "clock"] in record["moves"]


def check_spectator_page(page: Page) -> None:
    """Check that the spectator's page has no form and is readable on a phone."""
    assert page.locator("form").count() == 0
    page.locator("#w-seats summary").click()
    page.set_viewport_size(PHONE)
    expect(page.frame_locator("#w-screen-p2").locator(".hammer")).to_be_attached()
    check_page(page, "watching")
    photograph(page, "watched-seats")


def join_demo_lobby(page: Page, address: str) -> None:
    """Go from a game's demo to the lobby of its version for several people."""
    page.goto(address)
    page.get_by_role("link", name="Play with another person").click()
    page.locator("main form button").click()  # of equal seats, nobody chooses one
    consent_and_name(page)
    read_instructions(page)
    answer_comprehension(page)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["beauty-contest", "sealed-auction", "english-auction", "item-auction"])
def test_second_browser_joins_a_demo_lobby(stack, phone: OpenPage, game: str):
    stack.call("tests.bidding.create_demo_studies")
    pages = [phone("/") for _number in range(2)]
    join_demo_lobby(pages[0], f"{stack.url}/join/demo-{game}/")
    expect(pages[0].locator("#missing")).to_have_text("One more player is needed.")
    check_page(pages[0], "lobby")
    join_demo_lobby(pages[1], f"{stack.url}/join/demo-{game}/")
    press_ready(*pages)
    for page in pages:
        expect(page.locator("[data-seat]").first).to_be_visible()
    if game == "english-auction":
        expect(pages[0].locator("form.move, .thinking").first).to_be_visible()
        first, second = pages if pages[0].locator("form.move").count() else reversed(pages)
        first.get_by_label("Your bid").fill("0")
        first.get_by_role("button", name="Place bid").click()
        expect(second.locator(".table-bids")).to_contain_text("0")
        second.get_by_role("tab", name="So far").click()
        expect(second.locator(".price-path")).to_be_visible()
        return
    for page in pages:
        if game == "item-auction":
            withdraw(page)
        else:
            page.locator("form.move input[type=text]").fill("20")
            page.locator("form.move button.primary").click()
    for page in pages:
        if game == "item-auction":
            expect(page.locator(".hammer")).to_be_visible()
        else:
            page.get_by_role("tab", name="So far").click()
            expect(page.locator(".number-line")).to_be_visible()
