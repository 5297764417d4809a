"""People on phones meet in a lobby and play together; they arrive, wait, leave and return."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import slow_except
from llm_agents.standins import AnthropicStandIn, OpenAIStandIn
from studies.tests import kit
from tests import walking
from tests.accessibility import violation_lines, violations
from tests.photographs import PHONE, photograph

pytestmark = pytest.mark.browser

STACKS = ("sqlite",)
"""The pages' content does not depend on the database; recovery from kills does (test_meeting_faults.py)."""
OpenPage = Callable[[str], Page]


@pytest.fixture
def phone(stack, browser: Browser) -> Iterator[OpenPage]:
    """Return a function that opens a page on a phone of its own."""
    with ExitStack() as contexts:

        def open_page(path: str) -> Page:
            context = contexts.enter_context(browser.new_context(viewport=PHONE, has_touch=True))
            page = context.new_page()
            page.goto(stack.url + path)
            return page

        yield open_page


def launch(stack, slug: str, **fields: object) -> str:
    return stack.call("tests.meeting.launch_contest", slug, **fields)


def bring_to_lobby(stack, phone: OpenPage, slug: str, number: int = 1) -> list[tuple[str, Page]]:
    """Bring this many people to the lobby, each on a phone; return their paths and pages."""
    paths = [stack.call("tests.meeting.reach_lobby", slug) for _number in range(number)]
    return [(path, phone(path)) for path in paths]


def press_ready(*pages: Page) -> None:
    """Say on each page that its participant is ready, once their group is complete."""
    for page in pages:
        page.get_by_role("button", name="I'm ready").click()


def submit_number(page: Page, number: int) -> None:
    page.locator('form.move input[name="answer"]').fill(str(number))
    page.locator("form.move button.primary").click()


def expect_turn(page: Page) -> None:
    expect(page.locator('form.move input[name="answer"]')).to_be_visible()


def check_page(page: Page, page_name: str) -> None:
    """Check that the page is readable on a phone and accessible."""
    problems = violation_lines(violations(page), page_name)
    assert not problems, problems
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], page_name
    small_buttons = page.evaluate(
        "[...document.querySelectorAll('main button')].filter((button) => button.offsetParent"
        " && button.getBoundingClientRect().height < 44).map((button) => button.textContent)"
    )
    assert not small_buttons, (page_name, small_buttons)


RECORD_CHIME = """
    window.AudioContext = class {
      currentTime = 0;
      createOscillator() {
        const tone = { frequency: {}, connect: () => tone, stop: () => {} };
        return { ...tone, start: () => (sessionStorage.tones = Number(sessionStorage.tones || 0) + 1) };
      }
      createGain() {
        const gain = { setValueAtTime: () => {}, exponentialRampToValueAtTime: () => {} };
        return { gain, connect: () => {} };
      }
    };
    document.addEventListener("DOMContentLoaded", () => {
      const kept = () => (sessionStorage.titles = `${sessionStorage.titles || ""}${document.title}\n`);
      new MutationObserver(kept).observe(document.querySelector("title"), { childList: true });
    });
"""
"""A script that records a tab's titles and the number of tones played, across reloads."""


@pytest.mark.slow
def test_chime_and_tab_title_announce_the_start(stack, browser: Browser):
    slug = launch(stack, "chime", human_seats=2, config={"players": 2, "runs": 1})
    pages = []
    for allowed in (True, False):
        page = browser.new_context(viewport=PHONE).new_page()
        page.add_init_script(RECORD_CHIME)
        page.goto(stack.url + stack.call("tests.meeting.reach_lobby", slug))
        pages.append(page)
        if allowed:
            page.locator("#chime").click()
            expect(page.locator("#chime")).to_have_attribute("aria-pressed", "true")
            assert page.evaluate("sessionStorage.tones") == "2", "the chime did not play when it was switched on"
    for page, tones in zip(pages, ("4", None), strict=True):
        expect_turn(page)
        if tones:
            starting = "● Your group is starting! · Waiting for other players · Parley"
            assert starting in page.evaluate("sessionStorage.titles")
        assert page.evaluate("sessionStorage.tones || null") == tones
        page.context.close()


def test_four_people_and_a_model_play_to_the_end(stack, phone: OpenPage):
    with OpenAIStandIn(['{"answer": 20}'] * 10) as standin:
        stack.call("tests.actions.add_endpoint", "table-model", f"http://127.0.0.1:{standin.port}/v1")
        launch(stack, "table", agent="table-model:m", config={"runs": 2}, ready=60)
        arrivals = bring_to_lobby(stack, phone, "table", 3)
        first = arrivals[0][1]
        expect(first.locator("#missing")).to_have_text("One more player is needed.")
        expect(first.locator("#seats .here")).to_have_count(3)
        expect(first).to_have_title("(3/4) waiting · Waiting for other players · Parley")
        check_page(first, "lobby")
        arrivals = arrivals + bring_to_lobby(stack, phone, "table")
        check_page(first, "ready")
        seats = {path: page.locator("#seat").inner_text() for path, page in arrivals}
        press_ready(*[page for _path, page in arrivals])
        for path, page in arrivals:
            expect(page.locator(".seats li", has_text="(you)")).to_contain_text(seats[path])
        pages = {stack.call("tests.meeting.role_of", path): page for path, page in arrivals}
        assert sorted(pages) == ["p1", "p2", "p3", "p4"]
        for number in (1, 2):
            for page in pages.values():
                expect_turn(page)
            check_page(pages["p1"], "asked")
            submit_number(pages["p1"], 80)
            expect(pages["p1"].locator("form.move")).to_be_hidden()
            expect(pages["p1"].locator("[data-awaited]").first).to_contain_text("Player 2")
            expect(pages["p2"].locator('[data-seat="p1"]')).to_have_attribute("data-mark", "answered")
            expect(pages["p2"].locator('[data-seat="p3"]')).to_have_attribute("data-mark", "asked")
            check_page(pages["p1"], "waiting")
            pages["p1"].get_by_text("Change my answer").click()
            check_page(pages["p1"], "changing")
            submit_number(pages["p1"], 10)
            expect(pages["p1"].locator("form.move")).to_be_hidden()
            expect(pages["p1"].get_by_text("Your answer was changed.")).to_be_visible()
            expect(pages["p1"].locator('form.move input[name="answer"]')).to_have_value("10")
            for role in ("p2", "p3", "p4"):
                submit_number(pages[role], 10 * number)
        for page in pages.values():
            expect(page.get_by_role("button", name="Continue")).to_be_visible()
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")


@pytest.mark.slow
def test_two_people_repeat_a_dilemma_and_see_both_actions(stack, phone: OpenPage):
    config = {"players": 2, "mechanism": "repetition", "rounds": 2}
    launch(stack, "dilemma", game="social_dilemma", seats={"*": "person"}, agents={}, config=config)
    arrivals = bring_to_lobby(stack, phone, "dilemma", 2)
    for round_number in (1, 2):
        for page in (page for _path, page in arrivals):
            expect(page.locator(".facts-line .fact-round")).to_contain_text(f"{round_number} of 2")
            check_page(page, "dilemma")
            page.locator("form[data-move=act] button", has_text="A0").click()
    for _path, page in arrivals:
        expect(page.locator(".history .rounds > li")).to_have_count(2)
        expect(page.locator("#screen")).to_contain_text("2 points")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")


CONTRACT_ANSWERS = {
    "approve": {"approve": {"C1": True, "C2": False, "C3": False}},
    "sign": {"sign": True},
    "contract": {"contract": {"A0": 0, "A1": 0}},
}


def sign_contract(request: dict[str, Any]) -> str:
    """Return the model's answer to the step of the contract whose key is in the question."""
    question = request["messages"][-1]["content"]
    return json.dumps(
        next((answer for key, answer in CONTRACT_ANSWERS.items() if f'"{key}"' in question), {"action": "A0"})
    )


@pytest.mark.slow
@pytest.mark.parametrize("signed", slow_except([True, False], [True]))
def test_contract_takes_effect_only_if_all_sign(stack, phone: OpenPage, signed: bool):
    name = "contract" if signed else "contract-void"
    with OpenAIStandIn(sign_contract) as standin:
        stack.call("tests.actions.add_endpoint", f"{name}-model", f"http://127.0.0.1:{standin.port}/v1")
        agent = f"{name}-model:m"
        seats = {"p1": "person", "p2": "person", "p3": agent}
        config = {"mechanism": "contract", "base_game": "public_goods"}
        launch(stack, name, agent=agent, game="social_dilemma", seats=seats, config=config)
        pages = {
            stack.call("tests.meeting.role_of", path): page for path, page in bring_to_lobby(stack, phone, name, 2)
        }
        for page in pages.values():
            page.locator("#propose-A0").fill("1")
            page.locator("#propose-A1").fill("0")
            expect(page.locator("form[data-move=propose] [data-meaning] li")).to_have_count(6)
        check_page(pages["p1"], "propose")
        for page in pages.values():
            page.get_by_role("button", name="Propose this").click()
        for page in pages.values():
            for number, approved in ((1, "true"), (2, "false"), (3, "false")):
                page.locator(f'[name="approve:C{number}"][value={approved}]').check()
        check_page(pages["p2"], "approve")
        for page in pages.values():
            page.get_by_role("button", name="Send the votes").click()
        for role, page in pages.items():
            expect(page.locator("[data-move=sign]")).to_be_visible()
            signs = signed or role == "p1"
            page.locator(f"[data-move=sign] button[value={'true' if signs else 'false'}]").click()
        for page in pages.values():
            effect = "the contract is in effect" if signed else "the contract has no effect"
            expect(page.locator("#screen")).to_contain_text(effect)
            expect(page.locator("#payoffs-title")).to_have_text("Points with the contract" if signed else "Points")
        check_page(pages["p1"], "act")
        for role, page in pages.items():
            page.locator("form[data-move=act] button", has_text="A0" if role == "p1" else "A1").click()
        # p1 and the model contribute, which gives everyone 1; p2 gets 1 more, and pays each of them ½ if all signed.
        expect(pages["p1"].locator("#screen")).to_contain_text("1.5 points" if signed else "1 points")
        expect(pages["p2"].locator("#screen")).to_contain_text("1 points" if signed else "2 points")


@pytest.mark.slow
def test_people_see_their_partners_past_actions(stack, phone: OpenPage):
    seats = {"p1": "person", "p2": "person", "*": "script:tit_for_tat"}
    config = {"mechanism": "reputation_first_order", "population": 3, "rounds": 2}
    launch(stack, "population", agent="script:tit_for_tat", game="social_dilemma", seats=seats, config=config)
    pages = [page for _path, page in bring_to_lobby(stack, phone, "population", 2)]
    for page in pages:
        expect(page.locator(".facts-line .fact-round")).to_contain_text("1 of 2")
        expect(page.locator(".history")).to_have_count(0)
        page.locator("form[data-move=act] button", has_text="A1").click()
    for page in pages:
        expect(page.locator(".facts-line .fact-round")).to_contain_text("2 of 2")
        expect(page.locator(".history h2")).to_have_count(2)
        expect(page.locator(".history").last).to_contain_text("Earlier rounds of Player")
        check_page(page, "reputation")
        page.locator("form[data-move=act] button", has_text="A0").click()
    for page in pages:
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")


@pytest.mark.slow
def test_participant_who_closes_the_lobby_keeps_the_place(stack, phone: OpenPage):
    launch(stack, "closing", human_seats=3)
    (path, page), (_other_path, other_page) = bring_to_lobby(stack, phone, "closing", 2)
    expect(other_page.locator("#missing")).to_have_text("One more player is needed.")
    page.close()
    expect(other_page.locator("#missing")).to_have_text("2 more players are needed.")
    bring_to_lobby(stack, phone, "closing")
    expect(other_page.locator("#missing")).to_have_text("One more player is needed.")
    expect_turn(phone(path))
    expect_turn(other_page)


class TestReady:
    """Pairs who are asked whether they are ready."""

    @pytest.mark.slow
    def test_two_missed_starts_end_the_study_with_pay(self, stack, phone: OpenPage):
        launch(stack, "unready", human_seats=2, ready=12, waiting_rate="36.00")
        ((_first_path, ready),) = bring_to_lobby(stack, phone, "unready")
        expect(ready.locator("#missing")).to_have_text("One more player is needed.")
        photograph(ready, "lobby waiting")
        ((path, missing),) = bring_to_lobby(stack, phone, "unready")
        expect(missing.locator("#seat")).to_contain_text("Player")
        expect(missing).to_have_title(re.compile("^● Ready"))
        photograph(missing, "lobby ready")
        press_ready(ready)
        expect(ready.locator("#others")).to_contain_text("One other player")
        photograph(ready, "lobby pressed")
        check_page(ready, "pressed")
        again = ready.get_by_text("please say again")
        expect(again).to_be_visible(timeout=30_000)
        expect(missing.get_by_text("Last time, we did not")).to_be_visible()
        expect(missing.get_by_text("in time, the study ends")).to_be_visible()
        photograph(missing, "lobby ready again")
        press_ready(ready)
        expect(missing.get_by_role("heading", level=1)).to_have_text("The study ends here", timeout=30_000)
        expect(missing.get_by_text("Twice, your group was complete")).to_be_visible()
        expect(missing.locator(".earnings")).to_contain_text("For waiting")
        photograph(missing, "lobby two misses")
        assert float(stack.call("tests.meeting.pay_of", path)["bonus"]) >= 0.24
        expect(ready.get_by_text("you keep your place").first).to_be_visible()
        photograph(ready, "lobby others missed")

    @pytest.mark.slow
    def test_missing_one_start_leads_back_to_the_queue(self, stack, phone: OpenPage):
        launch(stack, "sent-back", human_seats=2, ready=12)
        (_path, page), (_other_path, other) = bring_to_lobby(stack, phone, "sent-back", 2)
        press_ready(other)
        ((_third_path, third),) = bring_to_lobby(stack, phone, "sent-back")
        told = page.get_by_text("now at the end of")
        expect(told).to_be_visible(timeout=30_000)
        photograph(page, "lobby sent back")
        check_page(page, "sent back")
        press_ready(other, third)
        expect_turn(third)
        expect(page.locator("#missing")).to_have_text("One more player is needed.")

    @pytest.mark.slow
    def test_lost_connection_says_how_long_the_place_is_kept(self, stack, phone: OpenPage):
        launch(stack, "offline", human_seats=2, ready=30)
        ((_path, page),) = bring_to_lobby(stack, phone, "offline")
        expect(page.locator("#missing")).to_have_text("One more player is needed.")
        page.context.set_offline(True)
        page.evaluate("socket.close()")
        expect(page.locator("#lost")).to_contain_text("is kept for 0:1")
        expect(page.locator("#missing")).to_be_hidden()
        photograph(page, "lobby offline, kept")
        expect(page.locator("#lost")).to_contain_text("Other people may now get", timeout=30_000)
        photograph(page, "lobby offline, away")
        ((_second_path, second),) = bring_to_lobby(stack, phone, "offline")
        expect(second.locator("#missing")).to_have_text("One more player is needed.")
        page.context.set_offline(False)
        press_ready(page, second)
        expect_turn(page)

    @pytest.mark.slow
    def test_press_while_our_server_is_down_is_delivered(self, stack, phone: OpenPage):
        launch(stack, "down", human_seats=2, ready=30)
        pages = [page for _path, page in bring_to_lobby(stack, phone, "down", 2)]
        expect(pages[0].get_by_role("button", name="I'm ready")).to_be_visible()
        stack.halt("web")
        try:
            press_ready(*pages)
            expect(pages[0].locator("#lost")).to_contain_text("We can’t reach our server.")
            expect(pages[0].locator("#lost")).to_contain_text("as this page is connected.")
            photograph(pages[0], "lobby server down, pressed")
        finally:
            stack.restart("web")
        for page in pages:
            expect(page.locator('form.move input[name="answer"]')).to_be_visible(timeout=60_000)

    @pytest.mark.slow
    def test_blind_lobby_shows_no_counts(self, stack, phone: OpenPage):
        launch(stack, "blind", human_seats=2, otherwise="agents", fill="script:rational", others="none")
        ((_path, page),) = bring_to_lobby(stack, phone, "blind")
        expect(page.locator("#seats")).to_be_hidden()
        expect(page.locator("main")).not_to_contain_text("program")
        photograph(page, "lobby blind")
        check_page(page, "blind lobby")


@pytest.mark.slow
def test_waiting_in_vain_is_paid(stack, phone: OpenPage):
    launch(stack, "in-vain", wait=10, waiting_rate="36.00")
    ((path, page),) = bring_to_lobby(stack, phone, "in-vain")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not enough players", timeout=30_000)
    expect(page.locator(".earnings")).to_contain_text("For waiting")
    check_page(page, "nobody came")
    assert stack.call("tests.meeting.pay_of", path) == {"base": "1.00", "bonus": "0.10"}


@pytest.mark.slow
def test_default_moves_until_the_person_is_back(stack, phone: OpenPage):
    """Three people play with a script, and one of them stops answering; studies/tests/test_absences.py has the rest."""
    clock = {"turn": 6, "extension": 0, "absence": 5, "on_timeout": "default", "others": "seats"}
    launch(stack, "policy-default", human_seats=3, config={"players": 4, "runs": 4}, **clock)
    arrivals = bring_to_lobby(stack, phone, "policy-default", 3)
    for _path, page in arrivals:
        expect_turn(page)
    table = {stack.call("tests.meeting.role_of", path): (path, page) for path, page in arrivals}

    def play_round(number: int) -> None:
        """Let the first two people answer, which ends the round."""
        for role in ("p1", "p2"):
            expect_turn(table[role][1])
            submit_number(table[role][1], number)

    path, silent_page = table["p3"]
    for number in (1, 2):
        play_round(number)
    expect(silent_page.get_by_text("Are you there?")).to_be_visible(timeout=30_000)
    check_page(silent_page, "are you there")
    expect(table["p1"][1].locator('[data-seat="p3"]')).to_have_attribute("data-note", "away")
    silent_page.get_by_role("button", name="I'm back").click()
    play_round(3)
    expect_turn(silent_page)
    submit_number(silent_page, 33)
    expect_turn(table["p1"][1])
    assert stack.call("tests.meeting.movers", path, "p3")[-1] in (None, "clock")


FIRST_RUN_ANSWER = '{"understanding": "low wins", "popular_answer": 30, "reason": "a guess", "answer": 20}'
LATER_RUN_ANSWER = '{"goal": "to be closest", "previous_answer": 20, "reason": "lower", "answer": 12}'


@pytest.mark.slow
def test_people_models_and_a_script_play_a_contest(stack, phone: OpenPage, tmp_path: Path):
    """Five seats over six runs; one person fouls once, as the study allows."""
    with (
        OpenAIStandIn([FIRST_RUN_ANSWER, *[LATER_RUN_ANSWER] * 5]) as openai,
        AnthropicStandIn([FIRST_RUN_ANSWER, *[LATER_RUN_ANSWER] * 5]) as anthropic,
    ):
        stack.call("tests.actions.add_endpoint", "arena-one", f"http://127.0.0.1:{openai.port}/v1")
        stack.call("tests.actions.add_endpoint", "arena-other", f"http://127.0.0.1:{anthropic.port}", "anthropic")
        published = {"strategy": "published", "cap_study": 1.0}
        agents = {
            "one": kit.agent("arena-one:m", **published),
            "other": kit.agent("arena-other:m", **published),
            "level": kit.agent("script:level_2"),
        }
        seats = {"p1": "person", "p2": "person", "p3": "one", "p4": "other", "p5": "level"}
        config = {"runs": 6, "history_depth": 3, "people_may_foul": True}
        fields = {"agents": agents, "seats": seats, "config": config}
        launch(stack, "arena", **fields)
        arrivals = bring_to_lobby(stack, phone, "arena", 2)
        pages = {stack.call("tests.meeting.role_of", path): page for path, page in arrivals}
        for run in range(1, 7):
            for page in pages.values():
                expect(page.locator(".facts-line .fact-run strong")).to_have_text(f"{run} of 6")
                expect_turn(page)
            if run <= 2:  # without and with a history
                check_page(pages["p1"], f"run {run}")
            expect(pages["p1"].locator(".table-history tbody tr")).to_have_count(min(run - 1, 3))
            submit_number(pages["p1"], 101 if run == 2 else 15)
            if run == 2:
                expect(pages["p1"].locator("[data-warning]")).to_contain_text("from 0 to 100")
                check_page(pages["p1"], "warning")
                pages["p1"].get_by_role("button", name="Send anyway").click()
            submit_number(pages["p2"], 10)
        for page in pages.values():
            expect(page.locator(".number-line li")).to_have_count(5)
            expect(page.locator(".table-history tbody tr")).to_have_count(6)
            check_page(page, "over")
        assert "not valid" in pages["p2"].locator(".table-history").inner_text()
        for page in pages.values():
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    row = walking.exported_match(stack, "arena", tmp_path / "arena")
    assert (row["runs_played"], row["fouls"]) == ("6", "1")


@pytest.mark.slow
def test_english_auction_continues_when_a_bidder_leaves(stack, phone: OpenPage):
    """The clock removes the person who left from the auction, and the others keep bidding."""
    values = {"players": 3, "assets": 100, "values": [80, 65, 90], "minimum_button": True}
    seats = {"p1": "person", "p2": "person", "p3": "person"}
    clock = {"on_timeout": "default", "turn": 25, "extension": 0, "absence": 0, "ready": 0}
    plain = {"via": "open", "code_word": None}
    study = {"slug": "english", "title": "Auction", "game": "english_auction", "config": values, **plain, **clock}
    stack.launch_study({**study, "agents": {}, "seats": seats})
    arrivals = bring_to_lobby(stack, phone, "english", 3)
    pages = {stack.call("tests.meeting.role_of", path): page for path, page in arrivals}

    def turn_of(role: str) -> Page:
        expect(pages[role].locator("form.move")).to_be_visible(timeout=60_000)
        return pages[role]

    check_page(turn_of("p1"), "first bid")
    turn_of("p1").get_by_role("button", name="Bid the minimum: 0 units").click()
    turn_of("p2").locator('input[name="bid"]').fill("30")
    pages["p2"].get_by_role("button", name="Place bid").click()
    check_page(turn_of("p3"), "a later bid")
    pages["p3"].close()
    turn_of("p1").locator('input[name="bid"]').fill("35")
    pages["p1"].get_by_role("button", name="Place bid").click()
    expect(pages["p1"].locator("[data-error]")).to_contain_text("from 40 to 100")
    pages["p1"].get_by_role("button", name="Bid the minimum: 40 units").click()
    turn_of("p2").get_by_role("button", name="Drop out for good").click()
    pages["p2"].locator("[data-warning]").get_by_role("button", name="Drop out for good").click()
    expect(pages["p1"].locator(".facts-result")).to_contain_text("140 units")
    expect(pages["p2"].locator(".facts-result")).to_contain_text("Bidder 1 for 40 units")
    check_page(pages["p1"], "sold")
