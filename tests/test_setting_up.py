"""A researcher sets up studies and collections in a browser, without having read a manual."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from playwright.sync_api import Page, expect

from opponents.agents import agents_from_specs
from tests import walking
from tests.accessibility import DARK, violation_lines, violations
from tests.photographs import photograph
from tests.researching import PATIENCE, expect_size, go_to_step, sign_in, vary

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
SCHEMES = [("light", ()), ("dark", DARK)]
"""Colour schemes with the accessibility rules to check: all in light mode, in dark mode only those about colours."""


@pytest.fixture
def desk(stack, page: Page) -> Page:
    """Return a page that shows the list of studies to an administrator."""
    sign_in(stack, page)
    page.goto(f"{stack.url}/admin/studies/study/")
    page.locator("#changelist").wait_for()
    return page


def new_study(page: Page, game: str = "Negotiation") -> None:
    page.goto(page.url.split("/admin/")[0] + "/admin/studies/study/add/")
    page.get_by_role("heading", name=game).click()
    expect_size(page, cells=1, matches=20)


@pytest.mark.slow
def test_invalid_value_marks_its_field_and_step(desk: Page):
    new_study(desk)
    vary(desk, "Rounds", "1, 0")
    expect(desk.locator("#refused-several_rounds")).to_contain_text("“0” is not valid")
    expect(desk.get_by_label("Rounds: several values")).to_have_attribute("aria-invalid", "true")
    expect(desk.get_by_role("button", name="Game please check this step")).to_be_visible()
    expect(desk.locator("[data-cells]")).to_have_count(0)
    desk.get_by_label("Rounds: several values").fill("1, 2")
    expect(desk.locator("#refused-several_rounds")).to_have_count(0)
    expect_size(desk, cells=2, matches=40)


@pytest.mark.slow
def test_server_error_opens_its_step_and_keeps_the_input(desk: Page):
    new_study(desk)
    desk.get_by_label("Title").fill("Prices")
    vary(desk, "Rounds", "1, 10")
    go_to_step(desk, "Pay")
    desk.get_by_label("Currency").fill("dollars"[:3])
    go_to_step(desk, "Consent")
    desk.get_by_label("Consent text").fill("Please play.")
    go_to_step(desk, "Game")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("three capital letters")).to_be_visible()
    expect(desk.get_by_role("button", name="Pay please check this step")).to_have_attribute("aria-current", "step")
    go_to_step(desk, "Consent")
    expect(desk.get_by_label("Consent text")).to_have_value("Please play.")
    go_to_step(desk, "Game")
    expect(desk.get_by_label("Rounds: several values")).to_have_value("1, 10")


@pytest.mark.slow
def test_going_back_or_leaving_loses_no_input(desk: Page):
    new_study(desk)
    desk.get_by_label("Title").fill("Prices")
    desk.get_by_role("button", name="Next").click()
    desk.get_by_role("button", name="Next").click()
    desk.get_by_role("button", name="Back").click()
    desk.get_by_role("button", name="Back").click()
    expect(desk.get_by_label("Title")).to_have_value("Prices")
    dialogs = []
    desk.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    desk.close(run_before_unload=True)
    desk.wait_for_event("dialog") if not dialogs else None
    assert dialogs == ["beforeunload"]


@pytest.mark.slow
def test_texts_are_previewed_while_typing(desk: Page):
    new_study(desk)
    go_to_step(desk, "Texts")
    desk.get_by_role("textbox", name="Instructions").fill("# Hello {{ you }}\n\n<b>Sell</b> well.")
    preview = desk.locator("[data-preview]")
    expect(preview.get_by_role("heading", name="Hello Alice")).to_be_visible()
    expect(preview.locator("pre").first).to_contain_text("# Hello Alice")
    assert preview.locator("b").count() == 0
    preview.get_by_text("Changes from the game's own").click()
    expect(preview.locator("ins").first).to_contain_text("# Hello {{ you }}")
    desk.get_by_role("textbox", name="Instructions").fill("Hello {{ nobody }}")
    expect(desk.locator("#refused-instructions")).to_contain_text("nobody")


def test_form_works_without_a_mouse(desk: Page):
    new_study(desk)
    desk.get_by_role("navigation", name="Steps").get_by_role("button", name="Game").focus()
    desk.keyboard.press("Tab")
    desk.keyboard.press("Enter")
    expect(desk.locator("[aria-current=step]")).to_contain_text("Agents")
    assert desk.evaluate("document.activeElement.tagName") == "FIELDSET"
    desk.keyboard.press("Tab")
    assert desk.evaluate("document.activeElement.closest('.step-agents') !== null")


@pytest.mark.slow
def test_line_up_of_people_and_agents_is_saved(stack, desk: Page):
    new_study(desk, "Beauty contest")
    desk.get_by_label("Title").fill("Five at one table")
    go_to_step(desk, "Agents")
    desk.locator(".field-agents").get_by_label("Played by").select_option(label="script: rational")
    desk.locator(".field-agents").get_by_label("Name").fill("calm")
    go_to_step(desk, "Who plays")
    card = desk.locator(".field-lineups")
    card.get_by_role("button", name="Add a line-up").click()
    card.get_by_label("Name").fill("two and three")
    card.get_by_label("How many").fill("2")
    card.get_by_label("All other seats").select_option("calm")
    expect(card.get_by_text("2 of 5 seats filled")).to_be_visible()
    expect(desk.locator(".parley-estimates")).to_contain_text("participants", timeout=PATIENCE)  # several per match
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("Saved as a draft")).to_be_visible(timeout=PATIENCE)
    expect(card.get_by_label("How many")).to_have_value("2")
    assert stack.call("tests.actions.lineups_of", "five-at-one-table") == {
        "two and three": {role: "person" if role in ("p1", "p2") else "calm" for role in ("p1", "p2", "p3", "p4", "p5")}
    }


@pytest.mark.parametrize("size", [(1280, 720), (360, 740)], ids=["laptop", "phone"])
def test_saved_study_opens_at_its_status(desk: Page, size: tuple[int, int]):
    new_study(desk)
    desk.get_by_label("Title").fill(f"Saved at {size[0]} px")
    desk.set_viewport_size({"width": size[0], "height": size[1]})
    desk.get_by_role("button", name="Save").click()
    desk.get_by_role("button", name="Launch").wait_for()
    expect(desk.get_by_role("navigation", name="Steps")).to_be_visible()
    expect(desk.get_by_text("Saved as a draft")).to_be_in_viewport()
    assert desk.evaluate("scrollY") == 0


@pytest.mark.slow
def test_checkbox_for_no_value_shows_its_help(desk: Page):
    new_study(desk)
    for width in (1280, 360):
        desk.set_viewport_size({"width": width, "height": 900})
        line = desk.locator(".field-line", has=desk.get_by_label("Rounds: none"))
        help_text = line.get_by_text("Tick to set no value").bounding_box()
        assert help_text and help_text["width"] > 150, help_text


OWN_PAGES = (
    "monitoring:page",
    "paydesk:page",
    "exports:page",
    "admin:studies_study_members",
    "admin:studies_study_all_codes",
)


@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_study_pages_are_accessible_and_fit_a_phone(stack, desk: Page, scheme: str, rules: Sequence[str]):
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    slug = stack.launch_study(
        {
            "slug": f"own-pages-{scheme}",
            "title": "Own pages",
            "game": "bargaining",
            "roles": ["alice"],
            "agents": agents_from_specs("script:fair"),
            "entry": "codes",
        }
    )
    problems = []
    for name, path in stack.call("tests.actions.study_pages", slug, OWN_PAGES).items():
        desk.goto(stack.url + path)
        if scheme == "light":
            photograph(desk, name)
        problems += violation_lines(violations(desk, rules=rules), name)
        desk.set_viewport_size({"width": 360, "height": 740})
        width = desk.evaluate("document.scrollingElement.scrollWidth")
        problems += [f"{name}: {width} px wide"] if width > 360 else []
        desk.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)


@pytest.mark.slow
def test_survey_is_written_and_shown(stack, desk: Page):
    new_study(desk)
    desk.get_by_label("Title").fill("With questions")
    go_to_step(desk, "Consent and surveys")
    survey_before = desk.locator(".field-survey_before")
    survey_before.get_by_role("button", name="Add a question").click()
    survey_before.get_by_label("Question text").fill("How old are you?")
    survey_before.get_by_label("Answer type").select_option("number")
    survey_before.get_by_label("Minimum").fill("18")
    survey_before.get_by_role("button", name="Add a question").click()
    survey_before.get_by_label("Question text").nth(1).fill("Do you trust others?")
    survey_before.get_by_label("Answer type").nth(1).select_option("scale")
    survey_before.get_by_role("button", name="Move up: Question 2").click()
    go_to_step(desk, "Entry")
    desk.get_by_label("Who may enter").select_option("open")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("Saved as a draft.")).to_be_visible(timeout=PATIENCE)
    expect(desk.locator("[data-step].wrong")).to_have_count(0)
    desk.on("dialog", lambda dialog: dialog.accept())
    desk.get_by_role("button", name="Launch").click()
    expect(desk.get_by_text("Version 1 is launched")).to_be_visible(timeout=PATIENCE)
    desk.goto(desk.locator("#join-link").input_value())
    desk.get_by_role("button", name="Begin").click()
    walking.consent_and_name(desk)
    expect(desk.get_by_role("heading", level=1)).to_have_text("A few questions first")
    assert re.search(r"trust others\?[\s\S]*How old", desk.locator("main").inner_text())
    desk.get_by_label("How old are you?").fill("17")
    desk.get_by_role("button", name="Continue").click()
    expect(desk.get_by_role("alert")).to_contain_text("at least 18")
    desk.get_by_label("How old are you?").fill("44")
    desk.get_by_role("radio", name="6").check()
    desk.get_by_role("button", name="Continue").click()
    expect(desk.get_by_role("heading", name="How the game works")).to_be_visible()


@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_form_steps_are_accessible_and_fit_a_phone(desk: Page, scheme: str, rules: Sequence[str]):
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    new_study(desk)
    problems = []
    for title in ("Game", "Agents", "Who plays", "Texts", "Consent and surveys", "Pay"):
        go_to_step(desk, title)
        if title == "Consent and surveys":
            desk.get_by_role("button", name="Add a question").first.click()
        violations_found = violations(desk, within=".parley-steps, .parley-guided, .parley-estimates", rules=rules)
        problems += [
            f"{title}: {violation['id']} {[node['target'] for node in violation['nodes'][:3]]}"
            for violation in violations_found
        ]
        desk.set_viewport_size({"width": 360, "height": 740})
        width = desk.evaluate("document.scrollingElement.scrollWidth")
        problems += [f"{title}: {width} px wide"] if width > 360 else []
        desk.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)


def new_plan(page: Page, stack, game: str) -> None:
    page.goto(f"{stack.url}/admin/collecting/collection/add/")
    page.get_by_role("heading", name=game).click()
    expect(page.locator("#size")).not_to_be_empty(timeout=PATIENCE)


def test_collection_is_planned_in_the_form(stack, desk: Page):
    new_plan(desk, stack, "Beauty contest")
    desk.get_by_label("Title").fill("One against four")
    agents_field = desk.locator(".field-agents")
    agents_field.get_by_label("Played by").select_option(label="script: rational")
    agents_field.get_by_label("Name").fill("calm")
    agents_field.get_by_role("button", name="Add an agent").click()
    model = agents_field.locator("fieldset").last
    model.get_by_label("Played by").select_option("openai")
    model.get_by_label(re.compile("^Model")).fill("m")
    model.get_by_label(re.compile("^Model")).blur()
    model.get_by_text("Model settings").click()
    model.get_by_label("Persona").fill("A trader.")
    model.get_by_label("Fallback models").fill("anthropic:n")
    desk.locator("[name=rule]").select_option(label="each agent alone in all free seats")
    desk.get_by_role("group", name="Fixed seats").get_by_label("Player 2").select_option("calm")
    expect(desk.get_by_role("group", name="Free seats").get_by_role("checkbox", name="calm")).not_to_be_checked()
    desk.get_by_label("Configurations from").select_option("list")
    configurations = desk.locator(".field-listed")
    configurations.get_by_role("button", name="Add a configuration").click()
    configurations.get_by_label("Runs").fill("2")
    configurations.get_by_role("button", name="Copy: Configuration 1").click()
    configurations.get_by_text("Runs: 2").nth(1).click()
    expect(configurations.get_by_label("Runs")).to_have_count(2)
    configurations.get_by_label("Runs").last.fill("0")
    expect(configurations.get_by_text("Configuration 2: ")).to_be_visible(timeout=PATIENCE)
    configurations.get_by_label("Runs").last.fill("4")
    expect(desk.locator("#size")).to_have_text("2 configurations × 1 line-up × 1 repetition = 2 matches")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("Created: ")).to_be_visible(timeout=PATIENCE)
    content = stack.call("tests.actions.collection_content", "one-against-four")
    model, calm = content["agents"]["openai:m"], content["agents"]["calm"]
    assert (model["settings"]["persona"], model["settings"]["fallbacks"]) == ("A trader.", ["anthropic:n"])
    assert (model["spec"], calm["spec"]) == ("openai:m", "script:rational")
    assert content["lineups"] == {"rule": "each", "agents": ["openai:m"], "fixed": {"p2": "calm"}}
    assert [configuration["runs"] for configuration in content["configurations"]] == [2, 4]


@pytest.mark.slow
def test_refused_plan_keeps_the_input(stack, desk: Page):
    new_plan(desk, stack, "Bargaining")
    values = {
        "agents": '{"odd": {"spec": "local:m", "settings": {"strategy": "telepathy"}, "delay": 1.5}}',
        "fixed": '{"carol": "odd"}',
        "pool": '["gone"]',
        "by_hand": '[{"alice": "odd", "bob": "gone"}]',
        "listed": '[{"rounds": 3, "colour": "red"}]',
    }
    for name, value in values.items():
        desk.evaluate("([name, value]) => { document.getElementsByName(name)[0].value = value }", [name, value])
    desk.get_by_role("button", name="Save").click()
    expect(desk.locator(".errorlist").first).to_be_visible(timeout=PATIENCE)
    posted = desk.evaluate(
        "(names) => Object.fromEntries(names.map((name) => [name, document.getElementsByName(name)[0].value]))",
        list(values),
    )
    assert {name: json.loads(value) for name, value in posted.items()} == {
        name: json.loads(value) for name, value in values.items()
    }
    assert desk.locator(".field-agents").get_by_label("Played by").input_value() == "local"
    expect(desk.get_by_role("group", name="Fixed seats").get_by_label("carol")).to_have_value("odd")
    expect(desk.get_by_role("group", name="Free seats").get_by_role("checkbox", name="gone")).to_be_checked()


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "rules"), SCHEMES)
def test_plan_form_is_accessible_and_fits_a_phone(stack, desk: Page, scheme: str, rules: Sequence[str]):
    desk.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    new_plan(desk, stack, "Beauty contest")
    desk.get_by_role("button", name="Add an agent").click()
    desk.locator(".field-agents").get_by_label("Played by").last.select_option("openai")
    desk.get_by_text("Model settings").click()
    desk.get_by_label("Configurations from").select_option("list")
    desk.get_by_role("button", name="Add a configuration").click()
    problems = []
    for rule in ("product", "listed"):
        desk.locator("[name=rule]").select_option(rule)
        if rule == "listed":
            desk.get_by_role("button", name="Add a line-up").click()
        violations_found = violations(desk, within="#collection_form", rules=rules)
        problems += [
            f"{rule}: {violation['id']} {[node['target'] for node in violation['nodes'][:3]]}"
            for violation in violations_found
        ]
        desk.set_viewport_size({"width": 360, "height": 740})
        width = desk.evaluate("document.scrollingElement.scrollWidth")
        problems += [f"{rule}: {width} px wide"] if width > 360 else []
        desk.set_viewport_size({"width": 1280, "height": 900})
    assert not problems, "\n".join(problems)
