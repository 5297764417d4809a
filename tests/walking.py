"""Go through a study with a browser, for the end-to-end tests."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

TURN = 15_000
"""Milliseconds that an opponent's reply may take in a test."""


def enter(page: Page, join: str, *, role: str | None = None) -> None:
    """Open the study's link and begin; in a demonstration, choose a role."""
    page.goto(join)
    if role is not None:
        page.locator(f'button[name="role"][value="{role}"]').click()


def consent_and_name(page: Page, name: str = "Robin") -> None:
    page.locator('input[name="agree"]').check()
    page.locator('main button[type="submit"]').click()
    page.locator('input[name="name"]').fill(name)
    page.locator('main button[type="submit"]').click()


def enter_game(stack: Any, page: Page, slug: str, name: str = "Robin") -> None:
    """Go from a personal link to the game."""
    enter(page, f"{stack.url}/join/{slug}?code={stack.lab_code(slug)}")
    consent_and_name(page, name)
    read_instructions(page)


def exported_match(stack: Any, slug: str, folder: Path) -> dict[str, str]:
    """Export and verify the study's dataset; return the row of its only match."""
    stack.manage("export_dataset", slug, "--to", str(folder))
    stack.manage("verify_dataset", str(folder))
    with (folder / "matches.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    return row


def hidden_code_word(page: Page) -> str:
    """Return the code word that the instructions ask participants to remember."""
    match = re.search(r"remember the word (\w+):", page.locator("main").inner_text())
    assert match, "the instructions contain no code word"
    return match[1]


def read_instructions(page: Page, *, code_word: str | None = None) -> None:
    page.locator('input[name="code_word"]').fill(code_word or hidden_code_word(page))
    page.locator('main button[type="submit"]').click()


def offer(page: Page, own_gain: str, other_gain: str, *, role: str, message: str = "") -> None:
    """Fill in the number fields of an offer and send it."""
    gains = (
        {"alice_gain": own_gain, "bob_gain": other_gain}
        if role == "alice"
        else {"alice_gain": other_gain, "bob_gain": own_gain}
    )
    for field, amount in gains.items():
        page.locator(f'input[name="{field}"]').fill(amount)
    if message:
        page.locator('textarea[name="message"]').fill(message)
    page.locator("form.move button[type=submit]:visible").click()


def answer(page: Page, decision: str) -> None:
    page.locator(f'button[name="decision"][value="{decision}"]').click()


def expect_turn(page: Page, kind: str) -> None:
    """Wait until the page asks for an "offer" or an "answer"."""
    fields = {"offer": 'input[name="alice_gain"]', "answer": 'button[name="decision"]'}
    expect(page.locator(fields[kind]).first).to_be_visible(timeout=TURN)


def expect_over(page: Page) -> None:
    expect(page.locator("#continue").get_by_role("button")).to_be_visible(timeout=TURN)


def press_continue(page: Page) -> None:
    page.locator("#continue").get_by_role("button").click()


def answer_comprehension(page: Page) -> None:
    """Answer the questions about the rules, in as many tries as there are, in a study that lets everyone go on."""
    heading = page.get_by_role("heading", name="Do you know the rules?")
    expect(heading).to_be_visible()
    while heading.count():
        for question in page.locator("fieldset.options").all():
            question.get_by_role("radio").first.check()
        with page.expect_navigation():
            page.locator('main button[type="submit"]').click()


def answer_quiz(page: Page, *, option: str) -> None:
    page.get_by_role("radio", name=option, exact=True).check()
    page.locator('main button[type="submit"]').click()
