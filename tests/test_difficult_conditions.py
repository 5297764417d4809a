"""Participants use a phone with a bad connection, make typing errors, or use a screen reader."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests import walking
from tests.photographs import PHONE, photograph

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    yield context.new_page()
    context.close()


def open_first_turn(stack, page: Page, slug: str, game: str, role: str, agent: str, **fields: object) -> str:
    """Open a participant's first turn in a new study; return the path of their page."""
    study = {"slug": slug, "title": game, "game": game, "roles": [role], "agents": agent}
    stack.launch_study({**study, **fields})
    path = stack.reach_first_turn(slug)
    page.goto(stack.url + path)
    return path


class Network:
    """The connection between a page and our server, which can be lost in several ways."""

    def __init__(self, page: Page):
        self.page, self.lost, self.sockets = page, "", []
        page.route_web_socket("**/ws/**", self._open)
        page.route("**/match?*", self._answer)

    def lose(self, how: str) -> None:
        """Lose it: "offline" (the browser knows), "server" (the proxy says so), "unknown" or "slow" (no answer)."""
        self.lost = how
        self.page.context.set_offline(how == "offline")
        if how != "slow":
            for socket in self.sockets:
                socket.close()

    def restore(self) -> None:
        self.lose("slow")
        self.lost = ""

    def _open(self, route: WebSocketRoute) -> None:
        if self.lost:
            route.close()
            return
        server = route.connect_to_server()
        route.on_message(lambda message: None if self.lost else server.send(message))
        self.sockets.append(route)

    def _answer(self, route: Route) -> None:
        if self.lost == "server":
            route.fulfill(status=502)
        elif self.lost == "slow":
            time.sleep(0.5)
            route.fulfill(status=408)
        elif self.lost:
            route.abort()
        else:
            route.continue_()


LOSSES = {
    "offline": ("You are offline.", "Your time is still running.", "Time for your answer:"),
    "server": ("Our server is unavailable.", "Your time is not running.", "Stopped while our server is unavailable:"),
    "unknown": (
        "We can't reach our server.",
        "If our server is down, your time is not running. If your connection is lost, it is running.",
        "Time left when we last reached our server:",
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_page_says_what_is_lost_what_is_kept_and_whether_time_runs(stack, phone: Page, loss: str):
    slug = f"difficult-{loss}"
    network = Network(phone)
    path = open_first_turn(stack, phone, slug, "bargaining", "alice", "script:fair")
    lost, sent, clock = phone.locator("#lost"), phone.locator("[data-sent]"), phone.locator("#clock")
    reason, time_runs, label = LOSSES[loss]
    network.lose(loss)
    expect(lost).to_have_text(re.compile(f"^{re.escape(reason)} What you type is kept. {re.escape(time_runs)}"))
    expect(clock).to_contain_text(label)
    shown = clock.inner_text()
    photograph(phone, f"lost {loss}")
    walking.offer(phone, "5000", "5000", role="alice")
    kept = "Your answer is kept and will be sent automatically."
    expect(sent).to_have_text(re.compile(f"^{re.escape(reason)} {kept} {re.escape(time_runs)}"))
    expect(lost).to_be_empty()
    photograph(phone, f"lost {loss} unsent")
    phone.wait_for_timeout(1500)
    assert (clock.inner_text() == shown) == (loss != "offline"), "the clock runs only if time runs for certain"
    assert stack.moves(slug) == []
    phone.get_by_role("link", name="Report a problem").click() if loss == "unknown" else None
    network.restore()
    if loss == "unknown":
        phone.goto(stack.url + path)
    walking.expect_over(phone)
    expect(lost).to_be_empty()
    assert stack.moves(slug) == ["offer", "accept"]


def test_slow_answer_is_named_and_kept(stack, phone: Page):
    network = Network(phone)
    open_first_turn(stack, phone, "difficult-slow", "bargaining", "alice", "script:fair")
    network.lose("slow")
    walking.offer(phone, "5000", "5000", role="alice")
    sent = phone.locator("[data-sent]")
    expect(sent).to_have_text("Sending …")
    expect(sent).to_contain_text("Your answer is kept")
    photograph(phone, "lost slow")
    network.lost = ""
    walking.expect_over(phone)
    assert stack.moves("difficult-slow") == ["offer", "accept"]


@pytest.mark.slow
def test_move_that_waits_at_the_server_is_not_sent_again(stack, phone: Page):
    network, posted = Network(phone), []
    phone.on("request", lambda request: posted.append(request) if "/match?" in request.url else None)
    open_first_turn(stack, phone, "difficult-busy", "bargaining", "alice", "script:fair")
    network.lose("slow")
    walking.offer(phone, "5000", "5000", role="alice")
    for _time in range(12):
        network.sockets[-1].send('{"type": "busy"}')
        phone.wait_for_timeout(500)
    assert posted == []
    phone.wait_for_timeout(6000)
    assert posted, "nothing says that the server still has it"
    network.lost = ""
    walking.expect_over(phone)
    assert stack.moves("difficult-busy") == ["offer", "accept"]


def test_page_that_was_away_follows_when_its_seat_has_gone(stack, phone: Page):
    network = Network(phone)
    path = open_first_turn(stack, phone, "difficult-gone", "bargaining", "alice", "script:fair")
    network.lose("offline")
    expect(phone.locator("#lost")).to_contain_text("You are offline.")
    stack.end_enrolment(path, "replaced")
    network.restore()
    expect(phone.locator("#screen")).to_have_count(0)


def test_clicks_in_a_row_do_not_answer_the_next_question(stack, phone: Page):
    config = {"mechanism": "repetition", "continuation": 0.9}
    open_first_turn(stack, phone, "difficult-double", "social_dilemma", "p1", "script:always_cooperate", config=config)
    button = phone.locator("form.move button[type=submit]:visible").first
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box is not None
    for pause in (125, 125, 1500):
        phone.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        phone.wait_for_timeout(pause)
    moves = stack.call("tests.actions.move_data", "difficult-double")
    assert [move["role"] for move in moves].count("p1") == 1
    expect(phone.locator("#note")).to_be_empty()


def test_second_click_on_a_wrong_code_word_is_not_a_second_try(stack, phone: Page):
    slug = "difficult-word"
    study = {"slug": slug, "title": slug, "code_word": {"tries": 2}}
    stack.launch_study({**study, "agents": "script:fair"})
    phone.goto(stack.url + stack.call("tests.meeting.reach_instructions", slug, 1)[0])
    phone.get_by_label("Which word did").fill("wrong")
    phone.get_by_role("button", name="Start the game").dblclick()
    expect(phone.locator("main")).to_contain_text("You have one more try.")
    phone.wait_for_timeout(500)
    phone.reload()
    expect(phone.get_by_label("Which word did")).to_be_visible()


def test_irreversible_action_asks_once_and_can_be_withdrawn(stack, phone: Page):
    config = {"players": 2, "assets": 100, "values": [80, 65], "increment": 10, "minimum_button": True}
    open_first_turn(stack, phone, "difficult-sure", "english_auction", "p1", "script:rational", config=config)
    question = phone.locator("[data-warning]")
    phone.get_by_role("button", name="Drop out for good").first.click()
    expect(question).to_contain_text("you can't bid again,")
    expect(question.get_by_role("button")).to_have_text("Drop out for good")
    expect(question.get_by_role("button")).to_be_focused()
    photograph(phone, "asks before dropping out")
    phone.get_by_role("button", name="Bid the minimum").click()
    expect(question).to_be_hidden()
    expect(phone.locator("#screen")).not_to_contain_text("nobody")
    moves = stack.call("tests.actions.move_data", "difficult-sure")
    assert moves[0]["move"] != {"bid": None}


def test_error_names_the_field_and_disappears_when_corrected(stack, phone: Page):
    open_first_turn(stack, phone, "difficult-error", "bargaining", "alice", "script:fair")
    own_gain, error = phone.get_by_label("You get", exact=True), phone.locator("form.move [data-error]")
    own_gain.fill("half of it")
    phone.get_by_role("button", name="Send the offer").click()
    expect(error).to_contain_text("“You get” must be")
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
    expect(announcement).to_contain_text("It was 9,900")
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
