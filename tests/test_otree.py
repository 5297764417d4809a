"""A real oTree 6 server, from its own environment, with a game in Parley in the middle of its experiment."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from config.supervisor import ROOT
from deploy.otree_demo.server import Otree
from tests import walking

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STACKS = ("sqlite",)
"""How oTree is spoken to does not depend on Parley's database."""
CONFIG = "with_parley"


@pytest.fixture(scope="module")
def program() -> Path:
    """oTree's own environment, made where there is none; another can be named by OTREE_PROGRAM."""
    named = os.environ.get("OTREE_PROGRAM")
    if not named:
        made = subprocess.run([ROOT / "deploy/setup/otree.sh"], capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"oTree cannot be installed here: {made.stderr[-500:]}")
    return Path(named) if named else ROOT / ".venv-otree" / "bin" / "otree"


@pytest.fixture
def experiment(stack, program: Path, tmp_path: Path) -> Iterator[Otree]:
    """oTree beside Parley, each knowing the other."""
    server = Otree(tmp_path / "otree", program)
    server.prepare(parley=stack.url, **stack.call("deploy.otree_demo.study.make_study", server.url, server.rest_key))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def session_wide_link(experiment: Otree) -> str:
    """A new session of two, made through oTree's REST interface."""
    wanted = {"session_config_name": CONFIG, "num_participants": 2}
    made = httpx.post(f"{experiment.url}/api/sessions", json=wanted, timeout=30).raise_for_status().json()
    return str(made["session_wide_url"])


def export(experiment: Otree, name: str) -> list[dict[str, str]]:
    """One of oTree's own exports of the app."""
    answer = httpx.get(f"{experiment.url}/api/{name}", params={"app": "parley"}, timeout=30).raise_for_status()
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


def begin(browser: Browser, link: str) -> Page:
    """A participant comes by the session-wide link and answers the survey before the game."""
    page = browser.new_context().new_page()
    page.set_default_timeout(walking.TURN)
    page.goto(link)
    page.locator('input[value="sometimes"]').check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("link", name="Go to the game")).to_be_visible()
    return page


def play(page: Page, role: str) -> None:
    """The whole way through Parley, to its last page."""
    page.get_by_role("link", name="Go to the game").click()
    walking.consent_and_name(page)
    walking.read_instructions(page)
    if role == "alice":
        walking.expect_turn(page, "offer")
        walking.offer(page, "5000", "5000", role=role)
    else:
        walking.expect_turn(page, "answer")
        walking.answer(page, "accept")
    walking.expect_over(page)
    walking.go_on(page)
    page.locator('main input[type="radio"]').first.wait_for()


def answer_quiz(page: Page) -> None:
    """Any answer ends the way."""
    page.locator('main input[type="radio"]').first.check()
    page.locator('main button[type="submit"]').click()
    expect(page.get_by_role("link", name="Back to the experiment")).to_be_visible()


def finish(page: Page) -> None:
    """What comes after the game in oTree."""
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def moves(rows: list[dict[str, str]]) -> list[tuple[str, Any]]:
    return [(row["role"], json.loads(row["move"])) for row in rows]


def test_two_participants_go_from_otree_through_parley_and_back(browser, stack, experiment):
    link = session_wide_link(experiment)
    people = {role: begin(browser, link) for role in ("alice", "bob")}

    # Nobody comes past the game, by the button or by the address of a later page.
    people["alice"].get_by_role("button", name="I have finished").click()
    expect(people["alice"].get_by_text("not finished yet")).to_be_visible()
    for role, page in people.items():
        play(page, role)
        answer_quiz(page)
        page.get_by_role("link", name="Back to the experiment").click()
        finish(page)

    turns = export(experiment, "export_app_custom")
    players = export(experiment, "export_app")
    assert [row["player.parley_role"] for row in players] == ["alice", "bob"]
    for row in players:
        owed = int(row["player.parley_base_cents"]) + int(row["player.parley_bonus_cents"])
        assert round(float(row["player.payoff"]) * 100) == owed > 0
        mine = [turn for turn in turns if turn["participant"] == row["participant.code"]]
        assert [turn["number"] for turn in mine] == [str(i) for i in range(1, len(mine) + 1)]
        (offerer, offer), (answerer, answer) = moves(mine)
        assert (offerer, offer["alice_gain"], offer["bob_gain"]) == ("alice", 5000, 5000)
        assert (answerer, answer) == ("bob", {"decision": "accept"})


def test_a_result_reaches_an_otree_that_was_down_when_the_game_ended(browser, stack, experiment):
    link = session_wide_link(experiment)
    page = begin(browser, link)
    play(page, "alice")
    experiment.stop()
    answer_quiz(page)
    back = page.get_by_role("link", name="Back to the experiment").get_attribute("href")
    page.context.close()  # the participant does not come back: Parley sends the result by itself
    stack.call("tests.deeds.await_attempt")
    experiment.start()
    code = str(back).rpartition("/")[2]
    assert stack.call("tests.deeds.await_delivery") > 1
    stack.halt("web")
    try:
        again = browser.new_context().new_page()
        again.goto(str(back))
        finish(again)  # with what was sent: nothing can be asked now
    finally:
        stack.restart("web")
    (row,) = [row for row in export(experiment, "export_app") if row["participant.code"] == code]
    assert row["player.parley_ending"] in ("completed", "failed_quiz")


def test_a_participant_who_closed_the_game_goes_on_where_they_were(browser, stack, experiment):
    page = begin(browser, session_wide_link(experiment))
    waiting = page.url
    page.get_by_role("link", name="Go to the game").click()
    walking.consent_and_name(page)
    instructions = page.url
    page.goto(waiting)
    page.get_by_role("link", name="Go to the game").click()
    expect(page.locator('input[name="code_word"]')).to_be_visible()
    assert page.url == instructions
