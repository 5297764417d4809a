"""A researcher edits plans in a browser, without having read a manual."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from games import registry
from tests import researching, walking
from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import photograph
from tests.researching import begin, launch, part, press, save, vary

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
MAX_CLICKS, MAX_SECONDS = 25, 600
SCHEMES = [("light", ()), ("dark", DARK)]
"""Colour schemes with the accessibility rules to check: all in light mode, in dark mode only those about colours."""
UNFOLD = "for (const each of document.querySelectorAll('[data-middle] details')) each.open = true"
INVALID = """
format: parley-study
title: Wrong
factors: {wording: {levels: [give, take]}}
journey:
  - {stage: consent, text: default}
  - {stage: page, name: opening, text: {by: wording, values: {give: Hello}}}
  - {stage: game, name: game, game: chess}
"""


@pytest.fixture
def desk(stack, page: Page) -> Page:
    """Return a page that shows the list of studies to an administrator."""
    researching.sign_in(stack, page)
    page.goto(f"{stack.url}/admin/studies/study/add/")
    return page


def plan(stack: Any, slug: str) -> dict[str, Any]:
    """Return the saved plan."""
    found: dict[str, Any] = stack.call("tests.actions.draft_of", slug)
    return found


def game_of(document: dict[str, Any]) -> dict[str, Any]:
    return next(stage for stage in document["journey"] if stage["stage"] == "game")


# ---- from nothing to a tested link -----------------------------------------------------------------------


def test_two_by_two_with_two_opponents_takes_25_clicks(stack, desk: Page, browser: Browser, record_property):
    started_at = time.monotonic()
    begin(desk)
    press(desk, "Same for all Seats")
    part(desk, "Agents")
    press(desk, "Add an agent")
    part(desk, "game Bargaining")
    vary(desk, "Bob", "")
    vary(desk, "Rounds", "1, 3")
    desk.get_by_text("Add a stage").click()
    press(desk, "Page")
    desk.get_by_label("Heading").fill("Before you start")
    vary(desk, "Text", "give, take")
    desk.get_by_label("Text: give").fill("You give points to the other player.")
    desk.get_by_label("Text: take").fill("You take points from the other player.")
    press(desk, "Move up: page")
    part(desk, "Entry")
    desk.get_by_label("Who may enter").select_option("open")
    link = launch(desk)
    person = browser.new_page()
    person.goto(link)
    person.get_by_role("button", name="Begin").click()
    walking.consent_and_name(person)
    expect(
        person.get_by_text("points from the other player").or_(person.get_by_text("points to the other"))
    ).to_be_visible()
    person.close()
    clicks, seconds = researching.clicks(desk), time.monotonic() - started_at
    record_property("clicks", clicks)
    print(f"\nfrom nothing to a tested link: {clicks} clicks, {seconds:.0f} seconds")
    assert clicks <= MAX_CLICKS and seconds < MAX_SECONDS
    document = plan(stack, link.rstrip("/").rsplit("/", 1)[-1])
    assert set(document["factors"]) == {"opponent", "rounds", "wording"}
    assert game_of(document)["config"]["rounds"] == {"by": "rounds"}
    assert game_of(document)["seats"] == {"alice": "person", "bob": {"by": "opponent"}}


# ---- varying ---------------------------------------------------------------------------------------------


def test_pay_depends_on_a_factor_and_stops_doing_so(stack, desk: Page):
    begin(desk, "Negotiation")
    part(desk, "Pay")
    vary(desk, "Base pay", "low, high")
    desk.get_by_label("Base pay: low").fill("1.00")
    desk.get_by_label("Base pay: high").fill("3.00")
    expect(desk.locator("[data-cells]")).to_contain_text("$4.00", timeout=researching.PATIENCE)
    save(desk)
    slug = desk.locator("#join-link").input_value().rstrip("/").rsplit("/", 1)[-1]
    document = plan(stack, slug)
    assert document["pay"]["base"] == {"by": "base", "values": {"low": "1.00", "high": "3.00"}}
    press(desk, "Same for all Base pay")
    expect(desk.get_by_label("Base pay", exact=True)).to_have_value("1.00")
    save(desk)
    assert "base" not in plan(stack, slug)["factors"]


def test_renamed_factors_and_levels_change_everywhere(stack, desk: Page):
    begin(desk)
    vary(desk, "Rounds", "short, long")
    part(desk, "rounds short, long")
    desk.get_by_label("Level 2").fill("endless")
    desk.keyboard.press("Tab")
    desk.get_by_label("Name of the factor").fill("horizon")
    desk.keyboard.press("Tab")
    expect(desk.get_by_role("heading", name="horizon")).to_be_visible()
    desk.get_by_role("button", name="game › Parameters › Rounds").click()
    desk.get_by_label("Rounds: endless").fill("12")
    save(desk)
    rounds = game_of(plan(stack, desk.locator("#join-link").input_value().rstrip("/").rsplit("/", 1)[-1]))["config"]
    assert rounds["rounds"] == {"by": "horizon", "values": {"short": 12, "endless": 12}}


def test_a_fault_stands_at_its_control_and_level_and_the_list_leads_there(desk: Page):
    begin(desk)
    vary(desk, "Rounds", "short, long")
    desk.get_by_label("Rounds: long").fill("0")
    fault = desk.locator("[data-at$=rounds][data-levels*=long] > .plan-fault")
    expect(fault).to_contain_text("rounds = long", timeout=researching.PATIENCE)
    part(desk, "Pay")
    desk.get_by_text("to correct before launching").click()
    desk.locator("[data-faults]").get_by_role("button").first.click()
    expect(desk.get_by_label("Rounds: long")).to_be_focused()


def test_questions_show_only_the_settings_of_their_kind(stack, desk: Page):
    begin(desk)
    desk.get_by_text("Add a stage").click()
    press(desk, "Questions")
    press(desk, "Add: question")
    desk.get_by_label("Kind of answer").select_option("scale")
    expect(desk.get_by_label("Points of the scale")).to_be_visible()
    expect(desk.get_by_label("Options")).to_have_count(0)
    desk.get_by_label("Question *").fill("Do you trust others?")
    save(desk)
    document = plan(stack, desk.locator("#join-link").input_value().rstrip("/").rsplit("/", 1)[-1])
    (question,) = document["journey"][-1]["items"]
    assert (question["kind"], question["text"]) == ("scale", "Do you trust others?")


@pytest.mark.slow
@pytest.mark.parametrize("game", registry.keys())
def test_looking_at_every_part_changes_nothing(desk: Page, game: str):
    begin(desk, str(registry.get(game).title))
    for button in desk.get_by_role("navigation", name="Parts of the study").locator(".plan-entry-of-nav").all():
        button.click()
        desk.evaluate(UNFOLD)
    expect(desk.locator("[data-status]")).to_have_text("Saved")
    expect(desk.locator("[data-faults]")).to_be_empty()


# ---- nothing is lost -------------------------------------------------------------------------------------


def test_two_editors_keep_what_both_changed(stack, desk: Page, browser: Browser):
    begin(desk)
    address = desk.url.split("#")[0]
    other = browser.new_page()
    researching.sign_in(stack, other)
    other.goto(address)
    other.get_by_label("Money to divide").fill("500")
    other.get_by_label("Cap", exact=True).fill("50")
    save(other)
    other.close()
    desk.get_by_label("Money to divide").fill("700")
    desk.get_by_label("Matches", exact=True).fill("2")
    press(desk, "Save")
    dialog = desk.get_by_role("dialog")
    expect(dialog.get_by_role("group", name="Money to divide")).to_contain_text("700")
    expect(dialog).to_contain_text("500")
    photograph(desk, "two-editors")
    dialog.get_by_label("Theirs").check()
    press(dialog, "Save the result")
    expect(desk.locator("[data-status]")).to_have_text("Saved", timeout=researching.PATIENCE)
    game = game_of(plan(stack, desk.locator("#join-link").input_value().rstrip("/").rsplit("/", 1)[-1]))
    assert (game["config"]["money"], game["config"]["cap"], game["repeats"]) == (500, 50, 2)


def test_a_file_with_faults_names_all_of_them_and_changes_nothing(desk: Page, tmp_path: Path):
    begin(desk)
    file = tmp_path / "wrong.yaml"
    file.write_text(INVALID)
    desk.locator("[data-upload]").set_input_files(file)
    dialog = desk.get_by_role("dialog")
    expect(dialog).to_contain_text("take")
    press(dialog, "Close")
    expect(desk.locator("[data-status]")).to_have_text("Saved")


def test_leaving_with_unsaved_changes_asks(desk: Page):
    begin(desk)
    desk.get_by_label("Money to divide").fill("5")
    dialogs: list[str] = []
    desk.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    desk.close(run_before_unload=True)
    desk.wait_for_event("dialog") if not dialogs else None
    assert dialogs == ["beforeunload"]


# ---- for everyone ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_every_part_is_accessible_and_fits_a_phone(desk: Page, scheme: str, rules: Sequence[str]):
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    problems = []
    begin(desk)
    vary(desk, "Rounds", "short, long")
    parts = ["game Bargaining", "rounds short", "Title and time", "Agents", "Pay", "Disclosure", "Data quality"]
    for name in [*parts, "Entry", "Cells and assignment", "Consent"]:
        part(desk, name)
        desk.evaluate(UNFOLD)
        photograph(desk, f"editor-{name}")
        problems += violation_lines(violations(desk, within="#plan", rules=rules), name)
        desk.set_viewport_size({"width": 360, "height": 740})
        width = desk.evaluate("document.scrollingElement.scrollWidth")
        problems += [f"{name}: {width} px wide"] if width > 360 else []
        desk.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)


def test_the_editor_works_without_a_mouse(desk: Page):
    begin(desk)
    desk.get_by_label("Rounds", exact=True).focus()
    desk.keyboard.press("Shift+Tab")
    desk.keyboard.press("Enter")
    desk.keyboard.type("1, 2")
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("group", name="Rounds depends on rounds")).to_be_visible()
    desk.keyboard.press("Control+s")
    expect(desk.locator("[data-status]")).to_have_text("Saved", timeout=researching.PATIENCE)
