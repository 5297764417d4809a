"""Participants use a phone with a bad connection, make typing errors, or use a screen reader."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from opponents.agents import agents_from_specs
from tests import walking
from tests.photographs import PHONE

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    yield context.new_page()
    context.close()


def open_first_turn(stack, page: Page, slug: str, game: str, role: str, agent: str, **fields: object) -> str:
    """Open a participant's first turn in a new study; return the path of their page."""
    study = {
        "slug": slug,
        "title": game,
        "game": game,
        "roles": [role],
        "agents": agents_from_specs(agent),
        "entry": "codes",
    }
    stack.launch_study({**study, **fields})
    path = stack.reach_first_turn(slug)
    page.goto(stack.url + path)
    return path


def test_offline_answer_is_kept_when_leaving_the_page(stack, phone: Page):
    offline = True

    def socket(route: WebSocketRoute) -> None:
        if offline:
            route.close()
        else:
            route.connect_to_server()

    def move(route: Route) -> None:
        if offline:
            route.abort()
        else:
            route.continue_()

    phone.route_web_socket("**/ws/**", socket)
    phone.route("**/match", move)
    path = open_first_turn(stack, phone, "difficult-offline", "bargaining", "alice", "script:fair")
    walking.offer(phone, "5000", "5000", role="alice")
    expect(phone.locator("[data-sent]")).to_contain_text("You are offline, so this has not been sent")
    expect(phone.locator("[data-sent]")).to_contain_text("Your time is still running")
    phone.get_by_role("link", name="Report a problem").click()
    expect(phone.locator("#clock")).to_be_visible()
    assert stack.moves("difficult-offline") == []
    offline = False
    phone.goto(stack.url + path)
    walking.expect_over(phone)
    assert stack.moves("difficult-offline") == ["offer", "accept"]


def test_error_names_the_field_and_disappears_when_corrected(stack, phone: Page):
    open_first_turn(stack, phone, "difficult-error", "bargaining", "alice", "script:fair")
    own_gain, error = phone.get_by_label("You get", exact=True), phone.locator("form.move [data-error]")
    own_gain.fill("half of it")
    phone.get_by_role("button", name="Send the offer").click()
    expect(error).to_have_text("“You get” must be a number, for example 12.5.")
    expect(own_gain).to_be_focused()
    expect(own_gain).to_have_attribute("aria-invalid", "true")
    own_gain.fill("5000")
    expect(error).to_be_hidden()
    expect(own_gain).not_to_have_attribute("aria-invalid", "true")


@pytest.mark.slow
def test_rejection_is_announced_with_the_amount(stack, phone: Page):
    open_first_turn(stack, phone, "difficult-heard", "bargaining", "alice", "script:fair")
    walking.offer(phone, "9900", "100", role="alice", message="A fair split.")
    walking.expect_turn(phone, "answer")
    announcement = phone.locator("#announcer")
    expect(announcement).to_contain_text("Bob rejected your offer. It was 9,900")
    expect(announcement).to_contain_text("Bob's offer in round 2")
    expect_on_first_screen(phone)


@pytest.mark.parametrize(("game", "role"), [("negotiation", "bob"), ("persuasion", "bob")])
def test_offer_and_answers_are_on_the_first_screen(stack, phone: Page, game: str, role: str):
    agent = {"negotiation": "script:haggler", "persuasion": "script:random"}[game]
    open_first_turn(stack, phone, f"difficult-{game}", game, role, agent)
    expect(phone.locator("form.move button").first).to_be_visible(timeout=walking.TURN)
    expect_on_first_screen(phone)


def expect_on_first_screen(page: Page) -> None:
    """Check that facts and answers are visible without scrolling, and that answers are large enough for a thumb."""
    for element in page.locator(".facts-line, .offer h2, .offer dl, form.move button:visible").all():
        box = element.bounding_box()
        assert box is not None and box["y"] >= 0, element
        assert box["y"] + box["height"] <= PHONE["height"], element.inner_text()
    for button in page.locator("form.move button:visible").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44, button.inner_text()
