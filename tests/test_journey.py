"""A person plays a whole match against an agent in a browser, and the dataset agrees with the formulas."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import walking

pytestmark = pytest.mark.browser

MONEY = 1000.0
FACTORS = {"alice": 0.9, "bob": 0.8}


def bargaining_study(stack, role: str, **settings) -> str:
    """Launch a bargaining study in which people play `role`; return its short name."""
    defaults = {
        "slug": f"journey-{role}",
        "title": "Journey",
        "config": {"money": MONEY, "delta_alice": FACTORS["alice"], "delta_bob": FACTORS["bob"], "rounds": 6},
        "roles": [role],
        "agents": "script:fair",
        "quiz": True,
    }
    return stack.launch_study({**defaults, **settings})


def test_alice_plays_from_the_link_to_the_dataset(stack, page: Page, tmp_path: Path):
    slug = bargaining_study(stack, "alice")
    code = stack.lab_code(slug)
    walking.enter(page, f"{stack.url}/join/{slug}?code={code}")
    walking.consent_and_name(page, "Robin")
    walking.read_instructions(page)

    walking.expect_turn(page, "offer")
    walking.offer(page, "900", "100", role="alice", message="Robin here: <b>take it</b> & be happy")
    walking.expect_turn(page, "answer")
    expect(page.locator("#screen")).to_contain_text("<b>take it</b>")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    walking.offer(page, "500", "500", role="alice", message="=1+1")
    walking.expect_over(page)
    walking.press_continue(page)
    walking.answer_quiz(page, option="10%")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    assert page.locator("body").inner_text().count(stack.completion_code(slug)) == 1

    dataset = tmp_path / "dataset"
    match = walking.exported_match(stack, slug, dataset)
    rounds = 3
    assert float(match["payoffs_alice"]) == pytest.approx(MONEY * FACTORS["alice"] ** (rounds - 1) * 0.5)
    assert float(match["payoffs_bob"]) == pytest.approx(MONEY * FACTORS["bob"] ** (rounds - 1) * 0.5)
    assert float(match["efficiency"]) == pytest.approx(0.5 * 0.9**2 + 0.5 * 0.8**2)
    assert float(match["fairness"]) == pytest.approx(1.0)
    payments = {row["reason"]: row["amount"] for row in csv.DictReader((dataset / "payments.csv").open(newline=""))}
    assert payments == {"base": "1.00", "bonus": f"{2 * 1.00 * 0.5 * 0.81:.2f}"}

    contents = b"".join(file.read_bytes() for file in dataset.rglob("*") if file.is_file())
    assert b"Robin" not in contents
    assert code.encode() not in contents
    transcript = json.loads((dataset / "transcripts.jsonl").read_text())
    messages = [event["move"].get("message") for event in transcript["events"] if event["kind"] == "move"]
    assert any(message and "<b>take it</b>" in message for message in messages)
    assert "'=1+1" in (dataset / "messages.csv").read_text()


@pytest.mark.slow
def test_bob_accepts_the_agents_offer(stack, page: Page, tmp_path: Path):
    slug = bargaining_study(stack, "bob")
    walking.enter_game(stack, page, slug)
    walking.expect_turn(page, "answer")
    walking.answer(page, "accept")
    walking.expect_over(page)
    walking.press_continue(page)
    walking.answer_quiz(page, option="20%")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    match = walking.exported_match(stack, slug, tmp_path / "dataset")
    assert (float(match["payoffs_alice"]), float(match["payoffs_bob"])) == (500, 500)


def test_reload_back_and_second_tab_keep_every_move_once(stack, page: Page):
    slug = bargaining_study(stack, "alice", slug="journey-tabs")
    walking.enter(page, f"{stack.url}/join/{slug}?code={stack.lab_code(slug)}")
    walking.consent_and_name(page)
    expect(page.locator('input[name="code_word"]')).to_be_visible()
    page.go_back()
    page.reload()
    walking.read_instructions(page)
    walking.expect_turn(page, "offer")
    second_page = page.context.new_page()
    second_page.goto(page.url)
    walking.expect_turn(second_page, "offer")
    walking.offer(page, "990", "10", role="alice")
    walking.expect_turn(page, "answer")
    walking.expect_turn(second_page, "answer")
    page.reload()
    walking.expect_turn(page, "answer")
    walking.answer(second_page, "reject")
    walking.expect_turn(second_page, "offer")
    walking.expect_turn(page, "offer")
    assert stack.moves(slug) == ["offer", "reject", "offer", "reject"]


@pytest.mark.slow
def test_lost_socket_falls_back_to_polling(stack, page: Page):
    slug = bargaining_study(stack, "alice", slug="journey-polling")
    page.route_web_socket("**/ws/**", lambda socket: socket.close())
    walking.enter_game(stack, page, slug)
    walking.expect_turn(page, "offer")
    expect(page.get_by_text("Live updates are interrupted.")).to_be_visible(timeout=walking.TURN)
    walking.offer(page, "990", "10", role="alice")
    walking.expect_turn(page, "answer")
    walking.answer(page, "accept")
    walking.expect_over(page)
    assert stack.moves(slug) == ["offer", "reject", "offer", "accept"]


def test_game_can_be_played_without_javascript(stack, browser):
    slug = bargaining_study(stack, "alice", slug="journey-plain")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    walking.enter_game(stack, page, slug)
    walking.offer(page, "500", "500", role="alice")
    walking.expect_over(page)
    context.close()
