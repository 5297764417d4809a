"""A researcher edits plans in a browser, without having read a manual."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Locator, Page, Route, expect

from games import registry
from plans.checking import check
from studies.tests.kit import PNG
from tests import researching, walking
from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import photograph
from tests.researching import begin, part, press, save, slug_of, vary

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
    researching.sign_in(stack, page, "/admin/studies/study/add/")
    return page


def plan(stack: Any, slug: str) -> dict[str, Any]:
    """Return the saved plan."""
    found: dict[str, Any] = stack.call("tests.actions.draft_of", slug)
    return found


def game_of(document: dict[str, Any]) -> dict[str, Any]:
    return next(stage for stage in document["journey"] if stage["stage"] == "game")


class Hand:
    """A mouse and a keyboard, which count every click: a field to type in, a menu and the choice in it, a dialog."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def press(self, page: Page | Locator, name: str) -> None:
        self.click(page.get_by_role("button", name=name, exact=True))

    def type(self, target: Locator, text: str) -> None:
        """Type into a field, which is clicked unless the page has put the cursor there."""
        if not target.evaluate("field => field === document.activeElement"):
            self.click(target)
        target.page.keyboard.press("Control+A")
        target.page.keyboard.type(text)

    def choose(self, menu: Locator, option: str) -> None:
        self.clicks += 2
        menu.select_option(option)

    def vary(self, page: Page, label: str, levels: str) -> None:
        self.press(page, f"Vary by… {label}")
        page.keyboard.press("Control+A")
        page.keyboard.type(levels)
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)

    def accept(self, dialog: Dialog) -> None:
        self.clicks += 1
        dialog.accept()


def test_two_by_two_with_two_opponents_takes_25_clicks(stack, page: Page, record_property):
    researching.sign_in(stack, page, "/admin/")
    started_at, hand = time.monotonic(), Hand()
    page.on("dialog", hand.accept)
    hand.click(page.get_by_role("link", name="New study"))
    hand.press(page, "Begin: Bargaining")
    hand.press(page, "Same for all Seats")
    parts = page.get_by_role("navigation", name="Parts of the study")
    hand.click(parts.get_by_role("button", name="Agents"))
    hand.press(page, "Add an agent")
    hand.click(parts.get_by_role("button", name="game Bargaining"))
    hand.vary(page, "Bob", "haggler, equilibrium")
    hand.vary(page, "Rounds", "1, 3")
    hand.click(page.get_by_text("Add a stage"))
    hand.press(page, "Page")
    hand.vary(page, "Text", "give, take")
    hand.type(page.get_by_label("Text: give"), "You give points to the other player.")
    hand.type(page.get_by_label("Text: take"), "You take points from the other player.")
    hand.press(page, "Move up: page")
    hand.click(parts.get_by_role("button", name="Entry"))
    hand.choose(page.get_by_label("Who may enter"), "open")
    with page.context.expect_page() as opened:
        hand.press(page, "Walk through: Walk through")
    walk = opened.value
    hand.press(walk, "Start")
    hand.click(walk.locator("#stages").get_by_role("button", name="page"))
    expect(walk.frame_locator("#page").locator("main")).to_contain_text("You give points to the other player.")
    walk.close()
    hand.click(page.locator("#study-top").get_by_role("button", name="Launch"))
    expect(page.get_by_text("Version 1 is launched")).to_be_visible(timeout=researching.PATIENCE)
    with page.context.expect_page() as opened:
        hand.press(page, "The link works: Open the link")
    person = opened.value
    hand.press(person, "Begin")
    expect(person.get_by_label("I agree")).to_be_visible()
    clicks, seconds = hand.clicks, time.monotonic() - started_at
    record_property("clicks", clicks)
    print(f"\nfrom nothing to a tested link: {clicks} clicks, {seconds:.0f} seconds")
    assert clicks <= MAX_CLICKS and seconds < MAX_SECONDS
    walking.consent_and_name(person)
    expect(person.locator("main")).to_contain_text(re.compile("points (to|from) the other player"))
    document = plan(stack, slug_of(page))
    assert len(check(document).cells) == 8 and set(document["factors"]) == {"opponent", "rounds", "wording"}
    assert game_of(document)["config"]["rounds"] == {"by": "rounds"}
    assert game_of(document)["seats"] == {"alice": "person", "bob": {"by": "opponent"}}


@pytest.mark.slow
def test_pay_depends_on_a_factor_and_stops_doing_so(stack, desk: Page):
    begin(desk, "Negotiation")
    part(desk, "Pay")
    vary(desk, "Base pay", "low, high")
    desk.get_by_label("Base pay: low").fill("1.00")
    desk.get_by_label("Base pay: high").fill("3.00")
    expect(desk.locator("[data-cells]")).to_contain_text("$4.00", timeout=researching.PATIENCE)
    save(desk)
    slug = slug_of(desk)
    document = plan(stack, slug)
    assert document["pay"]["base"] == {"by": "base", "values": {"low": "1.00", "high": "3.00"}}
    press(desk, "Same for all Base pay")
    expect(desk.get_by_label("Base pay", exact=True)).to_have_value("1.00")
    save(desk)
    assert "base" not in plan(stack, slug)["factors"]


@pytest.mark.slow
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
    rounds = game_of(plan(stack, slug_of(desk)))["config"]
    assert rounds["rounds"] == {"by": "horizon", "values": {"short": 12, "endless": 12}}


NAMES = """async () => {
    const tree = await import("/static/parley/plan/tree.js");
    const plan = {
        factors: { wording: { levels: ["give", "take"] }, horizon: { levels: ["short", "long"], within: "games" } },
        cells: { listed: [{ wording: "take" }, { wording: "give" }], strata: ["age"] },
        journey: [
            { stage: "questions", name: "before", items: [{ name: "age" }], show_if: "'take' == wording and age > 3" },
            { stage: "block", name: "games",
              of: [{ stage: "game", name: "talk", config: { rounds: { by: "wording" } } }] },
            { stage: "page", name: "last", show_if: "wording in ['give', 'take'] and talk.short.agreement",
              text: "take {% if wording != 'take' %}{{ age }}{% endif %} 'take'" },
        ],
        analysis: { hypotheses: [
            { name: "framing", outcome: "talk.age_gap", adjust: ["before.age"], exclude: ["before.age < 18"],
              contrast: { factors: ["wording", "horizon"], levels: [["take", "give"], ["short", "long"]] } },
        ] },
    };
    tree.renameLevel(plan, "wording", "take", "grab");
    tree.renameLevel(plan, "horizon", "short", "brief");
    tree.renameQuestion(plan, "age", "years");
    tree.renameFactor(plan, "horizon", "length");
    const renamed = tree.clone(plan);
    tree.removeLevel(plan, "wording", "give");
    tree.removeFactor(plan, "wording");
    return [renamed, plan];
}"""


def test_renamed_levels_and_questions_change_in_conditions_texts_cells_strata_and_hypotheses(desk: Page):
    renamed, left = desk.evaluate(NAMES)
    before, _block, last = renamed["journey"]
    assert before["show_if"] == "'grab' == wording and years > 3"
    assert last["show_if"] == "wording in ['give', 'grab'] and talk.brief.agreement"
    assert last["text"] == "take {% if wording != 'grab' %}{{ years }}{% endif %} 'take'"
    assert renamed["cells"] == {"listed": [{"wording": "grab"}, {"wording": "give"}], "strata": ["years"]}
    assert renamed["analysis"]["hypotheses"] == [
        {
            "name": "framing",
            "outcome": "talk.age_gap",
            "adjust": ["before.years"],
            "exclude": ["before.years < 18"],
            "contrast": {"factors": ["wording", "length"], "levels": [["grab", "give"], ["brief", "long"]]},
        }
    ]
    assert left["cells"]["listed"] == [{}] and left["factors"].keys() == {"length"}
    assert left["journey"][1]["of"][0]["config"] == {"rounds": "grab"}


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


def test_a_hypothesis_is_planned_by_choosing(stack, desk: Page):
    begin(desk)
    vary(desk, "Rounds", "short, long")
    part(desk, "Analysis")
    press(desk, "Add: hypothesis")
    fault = desk.locator("[data-at='analysis.hypotheses.0.contrast'] > .plan-fault")
    expect(fault).to_contain_text("Compare one of these", timeout=researching.PATIENCE)
    desk.get_by_label("Outcome").select_option("game.efficiency")
    desk.get_by_label("Comparison", exact=True).select_option("two levels of a factor")
    desk.get_by_label("Factor", exact=True).select_option("rounds")
    desk.get_by_label("Estimate: this").select_option("long")
    desk.get_by_label("minus this").select_option("short")
    desk.get_by_label("Matches per level compared").fill("80")
    save(desk)
    card = desk.locator("#planned")
    expect(card).to_contain_text("Launching freezes it.")
    desk.evaluate(UNFOLD)
    photograph(desk, "editor-hypothesis")
    researching.launch(desk)
    expect(card).to_contain_text("with version 1. Nothing was")
    card.get_by_role("link", name="Preregistration").click()
    expect(desk.locator("body")).to_contain_text("under rounds “long” minus")
    desk.go_back()
    photograph(desk, "study-with-frozen-analysis")
    saved = plan(stack, slug_of(desk))
    (hypothesis,) = saved["analysis"]["hypotheses"]
    assert hypothesis == {
        "name": "hypothesis",
        "outcome": "game.efficiency",
        "contrast": {"factor": "rounds", "levels": ["long", "short"]},
    }
    assert saved["analysis"]["sample"] == {"per_arm": 80}
    assert not [fault for fault in check(saved).faults if fault.at.startswith("analysis")]


def test_a_removed_agent_is_missed_at_the_seat_that_it_had(desk: Page):
    begin(desk)
    part(desk, "Agents")
    press(desk, "Remove: haggler")
    part(desk, "game Bargaining")
    seat = desk.get_by_role("group", name="Seats: alice").get_by_label("Bob", exact=True)
    expect(seat.locator("xpath=../*[contains(@class, 'plan-fault')]")).to_contain_text(
        "There is no agent “haggler”", timeout=researching.PATIENCE
    )


@pytest.mark.slow
def test_saving_again_while_a_save_is_under_way_is_no_conflict(stack, desk: Page):
    held: list[Route] = []
    begin(desk)
    desk.route("**/save/", lambda route: route.continue_() if held else held.append(route))
    for cap in ("7", "8"):
        desk.get_by_label("Cap", exact=True).fill(cap)
        desk.keyboard.press("Control+s")
    expect(desk.locator("[data-status]")).not_to_have_text("Saved")
    held[0].continue_()
    expect(desk.locator("[data-status]")).to_have_text("Saved", timeout=researching.PATIENCE)
    assert game_of(plan(stack, slug_of(desk)))["config"]["cap"] == 8
    expect(desk.get_by_role("dialog")).to_have_count(0)


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
    document = plan(stack, slug_of(desk))
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


@pytest.mark.slow
def test_texts_are_written_in_each_language_and_again_in_one(stack, desk: Page):
    begin(desk)
    part(desk, "Title and time")
    desk.get_by_label("German", exact=True).check()
    photograph(desk, "editor languages")
    desk.get_by_text("Add a stage").click()
    press(desk, "Questions")
    press(desk, "Add: question")
    desk.get_by_label("Question *").fill("Again?")
    press(desk, "In each language Question")
    expect(desk.get_by_label("Question: English")).to_have_value("Again?")
    desk.get_by_label("Question: German").fill("Noch einmal?")
    desk.get_by_label("Options", exact=True).fill("yes\nno")
    press(desk, "In each language Options")
    desk.get_by_label("Options: German").fill("ja\nnein")
    photograph(desk, "editor text in two languages")
    assert not violations(desk)
    save(desk)
    slug = slug_of(desk)
    document = plan(stack, slug)
    (question,) = document["journey"][-1]["items"]
    assert document["language"] == ["en", "de"]
    assert question["text"] == {"en": "Again?", "de": "Noch einmal?"}
    assert question["options"] == [{"en": "yes", "de": "ja"}, {"en": "no", "de": "nein"}]
    press(desk, "Same for all Question")
    press(desk, "Same for all Options")
    part(desk, "Title and time")
    desk.get_by_label("German", exact=True).uncheck()
    expect(desk.get_by_label("English", exact=True)).to_be_disabled()
    save(desk)
    document = plan(stack, slug)
    (question,) = document["journey"][-1]["items"]
    assert ("language" in document, question["text"], question["options"]) == (False, "Again?", ["yes", "no"])


def test_images_and_videos_are_added_replaced_and_removed(stack, desk: Page):
    begin(desk)
    desk.get_by_text("Add a stage").click()
    press(desk, "Page")
    image, video = desk.get_by_label("Image", exact=True), desk.get_by_label("Video", exact=True)
    film = {"name": "film.webm", "mimeType": "video/webm", "buffer": b"\x1a\x45\xdf\xa3\x01"}
    image.set_input_files(film)
    expect(desk.get_by_role("alert")).to_contain_text("This is a video.")
    for name in ("dot.png", "other.png"):
        image.set_input_files({"name": name, "mimeType": "image/png", "buffer": PNG})
        expect(desk.get_by_role("group", name="Image").locator("img")).to_have_js_property("naturalWidth", 1)
        expect(desk.get_by_role("group", name="Image")).to_contain_text(name)
    video.set_input_files(film)
    expect(desk.get_by_role("group", name="Video").locator("video")).to_be_visible()
    save(desk)
    slug = slug_of(desk)
    stage = plan(stack, slug)["journey"][-1]
    assert (stage["image"], stage["video"]) == ("other.png", "film.webm")
    press(desk, "Remove: Image")
    expect(desk.get_by_role("group", name="Image").locator("img")).to_have_count(0)
    save(desk)
    assert "image" not in plan(stack, slug)["journey"][-1]


@pytest.mark.slow
def test_parameters_come_from_published_rows_and_stop_doing_so(stack, desk: Page):
    begin(desk)
    press(desk, "Vary by… Parameters")
    desk.get_by_label("published rows (selection for people: glee)").check()
    press(desk, "Vary")
    expect(desk.locator("[data-cells]")).to_contain_text("1,640", timeout=researching.PATIENCE)
    save(desk)
    slug = slug_of(desk)
    document = plan(stack, slug)
    assert document["factors"] == {"row": {"rows": {"game": "bargaining", "selection": "glee"}}}
    assert (game_of(document)["config"], document["cells"]) == ({"by": "row.config"}, {"rows": "row"})
    for part_of_game in ("Parameters", "Seats"):
        press(desk, f"Same for all {part_of_game}")
    save(desk)
    document = plan(stack, slug)
    assert not document["factors"] and "rows" not in document["cells"]
    expect(desk.locator("[data-faults]")).to_be_empty()


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
    game = game_of(plan(stack, slug_of(desk)))
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


@pytest.mark.slow
def test_signing_in_again_elsewhere_loses_nothing(stack, desk: Page):
    begin(desk)
    desk.get_by_label("Money to divide").fill("7")
    desk.context.clear_cookies()
    press(desk, "Save")
    expect(desk.locator("[data-status]")).to_contain_text("You are signed out")
    researching.sign_in(stack, desk.context.new_page(), "/admin/")
    save(desk)
    slug = slug_of(desk)
    assert game_of(plan(stack, slug))["config"]["money"] == 7


def test_leaving_with_unsaved_changes_asks(desk: Page):
    begin(desk)
    desk.get_by_label("Money to divide").fill("5")
    dialogs: list[str] = []
    desk.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    desk.close(run_before_unload=True)
    desk.wait_for_event("dialog") if not dialogs else None
    assert dialogs == ["beforeunload"]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_every_part_is_accessible_and_fits_a_phone(desk: Page, scheme: str, rules: Sequence[str]):
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    problems = []
    begin(desk)
    vary(desk, "Rounds", "short, long")
    for kind in ("Page", "Questions", "Block"):
        desk.get_by_text("Add a stage").click()
        press(desk, kind)
    part(desk, "questions")
    press(desk, "Add: question")
    part(desk, "Cells and assignment")
    desk.get_by_label("Which combinations").select_option("listed")
    part(desk, "Analysis")
    press(desk, "Add: hypothesis")
    desk.get_by_label("Comparison", exact=True).select_option("people and agents")
    parts = ["game Bargaining", "rounds short", "Title and time", "Agents", "Pay", "Disclosure", "Data quality"]
    for name in [*parts, "Analysis", "Entry", "Cells and assignment", "Consent", "page", "questions", "block"]:
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
