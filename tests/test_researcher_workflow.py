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
PILOT_TIMEOUT = 240_000
"""Milliseconds that a pilot of 12 people may take on a busy machine."""
MAX_CLICKS, MAX_SECONDS = 30, 300


class Stopwatch:
    """Adds up the seconds that the researcher works, without the time spent waiting for others."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        started_at = time.monotonic()
        yield
        self.seconds += time.monotonic() - started_at


def test_researcher_gets_from_setup_to_a_dataset_quickly(
    stack, page: Page, browser: Browser, tmp_path: Path, record_property
):
    stopwatch = Stopwatch()
    with stopwatch.running():
        researching.sign_in(stack, page)
        set_up(page)
        begin_pilot(page)
    check_report(page)
    with stopwatch.running():
        launch(page)
        link = page.get_by_label("Link for participants").input_value()
        open_monitor(page)
    page.evaluate("window.neverReloaded = true")
    expect(figure(page, "arrived")).to_have_text("0")
    context = browser.new_context()
    first_price = play(context.new_page(), link)
    context.close()
    check_monitor(page)
    assert page.evaluate("window.neverReloaded")
    with stopwatch.running():
        folder = export(page, tmp_path)
    clicks = researching.clicks(page)
    record_property("clicks", clicks)
    record_property("seconds", round(stopwatch.seconds, 1))
    print(f"\nfrom nothing to a dataset: {clicks} clicks, {stopwatch.seconds:.0f} seconds of work")
    assert clicks <= MAX_CLICKS and stopwatch.seconds < MAX_SECONDS
    check_frozen_content(stack.call("tests.actions.latest_content", "twelve-prices"))
    check_dataset(folder, first_price=first_price)


def set_up(page: Page) -> None:
    """Set up a study with twelve cells of two people each, open to anyone with its link."""
    page.get_by_role("link", name="New study").click()
    page.get_by_role("heading", name="Negotiation").click()
    page.get_by_label("Title").fill("Twelve prices")
    page.get_by_role("spinbutton", name="Seller's value factor").fill("0.8")
    page.get_by_role("spinbutton", name="Buyer's value factor").fill("1.5")
    researching.vary(page, "Rounds", "1, 10, none")
    researching.vary(page, "Complete information", "yes, no")
    researching.vary(page, "Price scale", "100, 10000")
    researching.expect_size(page, cells=12, matches=240)
    researching.go_to_step(page, "Who plays")
    page.get_by_label("Matches per cell").fill("2")
    researching.expect_size(page, cells=12, matches=24)
    researching.go_to_step(page, "Entry")
    page.get_by_label("Who may enter").select_option("open")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as a draft")).to_be_visible()


def begin_pilot(page: Page) -> None:
    page.get_by_role("button", name="Start a pilot").click()
    expect(page.locator(".parley-headline")).to_contain_text("Pilot 1")


def check_report(page: Page) -> None:
    """Check that the pilot's page updates automatically and shows the report."""
    expect(page.locator(".parley-headline")).to_have_text("Pilot 1: 12 participants finished", timeout=PILOT_TIMEOUT)
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
    """Play as a participant from the link to the last page; return the first price offered."""
    person.goto(link)
    person.get_by_role("button", name="Begin").click()
    walking.consent_and_name(person)
    value = re.search(r"To you, the product is worth ([\d,]+)\s+points", person.locator("main").inner_text())
    assert value
    walking.read_instructions(person)
    first_price = f"{float(value[1].replace(',', '')) * 1.25:g}"
    person.locator('input[name="price"]').fill(first_price)
    person.locator('textarea[name="message"]').fill("A fair price, I think.")
    person.locator("form.move button[type=submit]:visible").click()
    answer, over = person.locator('button[value="accept"]'), person.get_by_role("button", name="Continue")
    expect(answer.or_(over)).to_be_visible(timeout=walking.TURN)
    if answer.is_visible():
        answer.click()
    walking.expect_over(person)
    walking.press_continue(person)
    walking.answer_quiz(person, option=f"{value[1]} points")
    expect(person.get_by_role("heading", level=1)).to_contain_text("Thank you")
    return first_price


def check_monitor(page: Page) -> None:
    """Check that the monitor updates automatically."""
    expect(figure(page, "arrived")).to_have_text("1", timeout=researching.PATIENCE)
    expect(page.locator("#m-state-completed td.number")).to_have_text("1", timeout=researching.PATIENCE)


def export(page: Page, folder: Path) -> Path:
    """Export the dataset from the study's page; return its unpacked folder."""
    page.get_by_role("link", name="Setup").click()
    page.get_by_role("link", name="Datasets").click()
    page.get_by_role("button", name="Create dataset").click()
    with page.expect_download(timeout=researching.PATIENCE) as download:
        page.get_by_role("button", name="Download").click(timeout=researching.PATIENCE)
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(folder)
    (dataset,) = folder.iterdir()
    return dataset


def check_frozen_content(content: dict[str, Any]) -> None:
    """Check that the launched version contains the values that were typed."""
    assert len(content["cells"]) == 12 and {cell["quota"] for cell in content["cells"]} == {2}
    combinations = {
        tuple(configuration[name] for name in ("rounds", "complete_information", "scale"))
        for configuration in content["configurations"]
    }
    assert combinations == set(product((1, 10, None), (True, False), (100, 10000)))


def check_dataset(folder: Path, *, first_price: str) -> None:
    """Check that the dataset verifies and contains only the match that a person played, none of the pilot's."""
    examined = examine(folder)
    assert (examined.differences, examined.matches) == ([], 1)
    (match,) = rows(folder, "matches")
    assert (match["player_alice"], match["in_dataset"]) == ("human", "TRUE")
    assert len(rows(folder, "participants")) == 1
    decisions = rows(folder, "decisions")
    assert len(decisions) == examined.decisions >= 2
    assert decisions[0]["role"] == "alice" and float(decisions[0]["move_price"]) == float(first_price)


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
