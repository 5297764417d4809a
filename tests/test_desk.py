"""A researcher's whole workflow in the browser, from signing in to a dataset with one participant."""

from __future__ import annotations

import csv
import re
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from exports.verify import examine
from tests import researching, walking

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
PILOTED = 240_000
"""Milliseconds that a pilot of 12 people may take on a busy machine."""
MOST_CLICKS, MAX_SECONDS = 30, 300


class Watch:
    """Sums the seconds that the researcher works, without waiting for others."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds += time.monotonic() - began


def test_from_setup_to_a_dataset_with_a_participant(
    stack, page: Page, browser: Browser, tmp_path: Path, record_property
):
    watch = Watch()
    with watch.running():
        researching.sign_in(stack, page)
        set_up(page)
        begin_pilot(page)
    see_report(page)
    with watch.running():
        launch(page)
        link = page.get_by_label("Link for participants").input_value()
        open_monitor(page)
    page.evaluate("window.neverReloaded = true")
    expect(figure(page, "arrived")).to_have_text("0")
    context = browser.new_context()
    named = play(context.new_page(), link)
    context.close()
    see_played(page)
    assert page.evaluate("window.neverReloaded")
    with watch.running():
        folder = export(page, tmp_path)
    used = researching.clicks(page)
    record_property("clicks", used)
    record_property("seconds", round(watch.seconds, 1))
    print(f"\nfrom nothing to a dataset: {used} clicks, {watch.seconds:.0f} seconds at the desk")
    assert used <= MOST_CLICKS and watch.seconds < MAX_SECONDS
    expect_frozen(stack.call("tests.actions.frozen", "twelve-prices"))
    expect_match(folder, named=named)


def set_up(page: Page) -> None:
    """Set up a study of twelve cells with two people each, open to anyone with its link."""
    page.get_by_role("link", name="New study").click()
    page.get_by_role("heading", name="Negotiation").click()
    page.get_by_label("Title").fill("Twelve prices")
    page.get_by_role("spinbutton", name="Seller's value factor").fill("0.8")
    page.get_by_role("spinbutton", name="Buyer's value factor").fill("1.5")
    researching.several(page, "Rounds", "1, 10, none")
    researching.several(page, "Complete information", "yes, no")
    researching.several(page, "Price scale", "100, 10000")
    researching.expect_size(page, cells=12, matches=240)
    researching.step(page, "Who plays")
    page.get_by_label("Matches per cell").fill("2")
    researching.expect_size(page, cells=12, matches=24)
    researching.step(page, "Entry")
    page.get_by_label("Who may enter").select_option("open")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as a draft")).to_be_visible()


def begin_pilot(page: Page) -> None:
    page.get_by_role("button", name="Start a pilot").click()
    expect(page.locator(".parley-headline")).to_contain_text("Pilot 1")


def see_report(page: Page) -> None:
    """Check that the pilot's page fills by itself."""
    expect(page.locator(".parley-headline")).to_have_text("Pilot 1: 12 participants finished", timeout=PILOTED)
    facts = page.locator(".pilot-facts div")
    expect(facts.filter(has_text="completed")).to_contain_text("8")
    expect(facts.filter(has_text="stuck")).to_contain_text("0")
    expect(facts.filter(has_text="minutes per participant")).to_be_visible()
    expect(page.get_by_text("12 of 12")).to_be_visible()
    expect(page.get_by_role("heading", name="Bonuses")).to_be_visible()


def launch(page: Page) -> None:
    page.get_by_role("link", name="Twelve prices").first.click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_text("Version 1 is launched")).to_be_visible()


def open_monitor(page: Page) -> None:
    page.get_by_role("link", name="Monitor").click()
    page.locator("#m-counts").wait_for()


def figure(page: Page, name: str) -> Any:
    """Return the number above `name` on the monitor."""
    return page.locator("#m-counts div", has=page.get_by_text(name, exact=True)).locator("dd")


def play(person: Page, link: str) -> str:
    """Play as a participant from the link to the thanks; return the price they named first."""
    person.goto(link)
    person.get_by_role("button", name="Begin").click()
    walking.consent_and_name(person)
    worth = re.search(r"To you, the product is worth ([\d,]+)\s+points", person.locator("main").inner_text())
    assert worth
    walking.read_instructions(person)
    named = f"{float(worth[1].replace(',', '')) * 1.25:g}"
    person.locator('input[name="price"]').fill(named)
    person.locator('textarea[name="message"]').fill("A fair price, I think.")
    person.locator("form.move button[type=submit]:visible").click()
    answer, over = person.locator('button[value="accept"]'), person.get_by_role("button", name="Continue")
    expect(answer.or_(over)).to_be_visible(timeout=walking.TURN)
    if answer.is_visible():
        answer.click()
    walking.expect_over(person)
    walking.go_on(person)
    walking.answer_quiz(person, option=f"{worth[1]} points")
    expect(person.get_by_role("heading", level=1)).to_contain_text("Thank you")
    return named


def see_played(page: Page) -> None:
    """Check that the monitor updates by itself."""
    expect(figure(page, "arrived")).to_have_text("1", timeout=researching.PATIENCE)
    expect(page.locator("#m-state-completed td.number")).to_have_text("1", timeout=researching.PATIENCE)


def export(page: Page, folder: Path) -> Path:
    """Export the dataset from the study's page; return its unpacked folder."""
    page.get_by_role("link", name="Setup").click()
    page.get_by_role("link", name="Datasets").click()
    page.get_by_role("button", name="Create dataset").click()
    with page.expect_download(timeout=researching.PATIENCE) as begun:
        page.get_by_role("button", name="Download").click(timeout=researching.PATIENCE)
    with zipfile.ZipFile(begun.value.path()) as pack:
        pack.extractall(folder)
    (found,) = folder.iterdir()
    return found


def expect_frozen(content: dict[str, Any]) -> None:
    """Check that the launched version contains what was typed."""
    assert len(content["cells"]) == 12 and {cell["quota"] for cell in content["cells"]} == {2}
    varied = {
        tuple(each[name] for name in ("rounds", "complete_information", "scale")) for each in content["configurations"]
    }
    assert varied == set(product((1, 10, None), (True, False), (100, 10000)))


def expect_match(folder: Path, *, named: str) -> None:
    """Check that the dataset verifies, and contains the one match that a person played and none of the pilot's."""
    found = examine(folder)
    assert (found.differences, found.matches) == ([], 1)
    (match,) = rows(folder, "matches")
    assert (match["player_alice"], match["in_dataset"]) == ("human", "TRUE")
    assert len(rows(folder, "participants")) == 1
    decisions = rows(folder, "decisions")
    assert len(decisions) == found.decisions >= 2
    assert decisions[0]["role"] == "alice" and float(decisions[0]["move_price"]) == float(named)


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
