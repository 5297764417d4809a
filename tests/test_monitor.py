"""A researcher monitors a study in one browser while a person plays it in another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from studies.tests import kit
from tests import walking
from tests.accessibility import violations
from tests.photographs import PHONE
from tests.researching import sign_in

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
PATIENCE = 20_000


@pytest.fixture
def slug(stack: Any) -> str:
    return stack.launch_study(
        {
            "slug": f"watched-{os.urandom(3).hex()}",
            "title": "Watched",
            "config": {"money": 1000.0, "rounds": 12},
            "agents": {"script:fair": kit.agent("script:fair", delay=1)},  # without delay, it needs no worker
            "via": "open",
        }
    )


@pytest.fixture
def desk(stack: Any, browser: Browser, slug: str) -> Iterator[Page]:
    """Yield the study's monitor, open on a researcher's screen."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    sign_in(stack, page, stack.call("tests.actions.monitor_path", slug))
    page.evaluate("window.neverReloaded = true")
    yield page
    context.close()


def figure(desk: Page, name: str) -> Any:
    """Return the number above this label."""
    return desk.locator("#m-counts div", has=desk.get_by_text(name, exact=True)).locator("dd")


def number_in(desk: Page, state: str) -> Any:
    return desk.locator(f"#m-state-{state} td.number")


def open_first_turn(stack: Any, page: Page, slug: str) -> None:
    page.goto(stack.url + stack.reach_first_turn(slug))
    walking.expect_turn(page, "offer")


def test_move_appears_without_a_reload(stack, page: Page, desk: Page, slug: str):
    expect(figure(desk, "arrived")).to_have_text("0")
    open_first_turn(stack, page, slug)
    expect(figure(desk, "live matches")).to_have_text("1", timeout=PATIENCE)
    expect(number_in(desk, "playing")).to_have_text("1")
    answers = desk.locator("#m-latencies tr", has_text="participants").locator("td").first
    expect(answers).to_have_text("0")
    walking.offer(page, "990", "10", role="alice")
    expect(answers).to_have_text("1", timeout=PATIENCE)
    expect(desk.locator("#m-live tbody tr")).to_contain_text("alice")
    assert desk.evaluate("window.neverReloaded")


@pytest.mark.slow
def test_paused_study_admits_no_new_participants(stack, page: Page, desk: Page, slug: str):
    desk.get_by_role("button", name="Pause").click()
    expect(desk.locator("#m-paused")).to_contain_text("closed to new participants")
    page.goto(f"{stack.url}/join/{slug}")
    expect(page.locator("main")).to_contain_text("study is paused at the")
    desk.get_by_role("button", name="Resume").click()
    expect(desk.get_by_role("button", name="Pause")).to_be_visible()
    page.goto(f"{stack.url}/join/{slug}")
    expect(page.locator("main")).not_to_contain_text("The study is paused")


def test_ending_a_match_records_the_reason_and_pays(stack, page: Page, desk: Page, slug: str):
    stack.halt("worker")
    try:
        open_first_turn(stack, page, slug)
        walking.offer(page, "990", "10", role="alice")
        row = desk.locator("#m-live tbody tr", has_text="bob")
        expect(row).to_contain_text("script:fair", timeout=PATIENCE)
        row.get_by_role("link", name="End …").click()
        dialog = desk.get_by_role("dialog")
        dialog.get_by_role("button", name="End and pay").click()
        expect(dialog, "the match was ended without a reason").to_be_visible()
        dialog.get_by_label("Reason (recorded)").fill("The worker <b>died</b>")
        dialog.get_by_role("button", name="End and pay").click()
        expect(desk.locator("#m-failures li").first).to_contain_text("The worker <b>died</b>")
        expect(number_in(desk, "opponent_failed")).to_have_text("1")
        walking.expect_over(page)
        walking.press_continue(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("The game was ended")
        expect(page.locator("main")).to_contain_text("2.00")
    finally:
        stack.restart("worker")


@pytest.mark.slow
def test_updates_do_not_disturb_typing_a_reason(stack, page: Page, desk: Page, slug: str):
    open_first_turn(stack, page, slug)
    desk.get_by_role("link", name="End …").click(timeout=PATIENCE)
    reason = desk.get_by_label("Reason (recorded)")
    reason.fill("Half a sent")
    stack.reach_first_turn(slug)
    expect(figure(desk, "live matches")).to_have_text("2", timeout=PATIENCE)
    expect(reason).to_have_value("Half a sent")
    expect(reason).to_be_focused()
    desk.get_by_role("button", name="Cancel").click()
    expect(desk.get_by_role("dialog")).to_be_hidden()


@pytest.mark.slow
def test_outdated_figures_are_marked(stack, desk: Page, slug: str):
    desk.context.set_offline(True)
    expect(desk.locator("#age")).to_contain_text("Connection lost", timeout=PATIENCE)
    desk.context.set_offline(False)
    expect(desk.locator("#age")).to_be_hidden(timeout=PATIENCE)


@pytest.mark.slow
def test_hidden_page_pauses_until_it_is_visible(stack, desk: Page, slug: str):
    desk.evaluate("Object.defineProperty(document, 'hidden', { get: () => window.away }); window.away = true")
    desk.wait_for_load_state("networkidle")  # let a request in progress finish
    requests: list[str] = []
    desk.on("request", lambda request: requests.append(request.url))
    stack.arrive(slug)
    desk.wait_for_timeout(3000)
    assert requests == []
    desk.evaluate("window.away = false; document.dispatchEvent(new Event('visibilitychange'))")
    expect(figure(desk, "arrived")).to_have_text("1", timeout=PATIENCE)


@pytest.mark.slow
def test_keyboard_steps_through_a_match_without_scripts(stack, page: Page, desk: Page, slug: str):
    open_first_turn(stack, page, slug)
    walking.offer(page, "990", "10", role="alice", message="<img src=x onerror='parent.document.title=1'>hello")
    walking.expect_turn(page, "answer")
    desk.locator("#m-live tbody tr a").first.click(timeout=PATIENCE)
    step_text = desk.locator(".step-place")
    expect(step_text).to_contain_text("of")
    desk.wait_for_load_state("networkidle")  # wait until the script that handles the keys has loaded
    desk.keyboard.press("Home")
    expect(step_text).to_contain_text("Step 1 of")
    desk.keyboard.press("ArrowRight")
    expect(step_text).to_contain_text("Step 2 of")
    assert desk.url.endswith("?step=2")
    expect(desk.locator("#s-event")).to_contain_text("hello")
    alice, bob = desk.frame_locator("#s-screen-alice iframe"), desk.frame_locator("#s-screen-bob iframe")
    expect(alice.locator("form.move")).to_be_visible()
    expect(bob.locator("main")).not_to_contain_text("hello")
    desk.locator("#s-after").click()
    expect(bob.locator("main")).to_contain_text("<img src=x")
    assert bob.locator("img[src=x]").count() == 0
    outer_frame = desk.locator("#s-screen-bob iframe")
    content_height = bob.locator("main").evaluate("main => main.scrollHeight")
    assert outer_frame.bounding_box()["height"] >= content_height
    expect(desk.locator("#s-after")).to_have_attribute("aria-current", "true")
    desk.go_back()
    expect(desk.locator("#s-before")).to_have_attribute("aria-current", "true")
    expect(step_text).to_contain_text("Step 2 of")
    desk.go_back()
    expect(step_text).to_contain_text("Step 1 of")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_monitor_and_transcript_are_accessible_on_a_phone(stack, page: Page, desk: Page, slug: str, scheme: str):
    open_first_turn(stack, page, slug)
    walking.offer(page, "990", "10", role="alice")
    expect(figure(desk, "live matches")).to_have_text("1", timeout=PATIENCE)
    desk.emulate_media(color_scheme=scheme)
    desk.set_viewport_size(PHONE)
    for _page in ("monitor", "transcript"):
        desk.reload()
        assert desk.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
        violations_found = violations(desk, within=".parley")
        assert [
            (violation["id"], [node["target"] for node in violation["nodes"]]) for violation in violations_found
        ] == []
        desk.locator("#m-live tbody tr a, .step-place").first.click(timeout=PATIENCE)
        desk.wait_for_load_state("load")
