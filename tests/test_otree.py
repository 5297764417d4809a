"""An oTree 6 server in its own environment runs an experiment with a Parley game in the middle."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from playwright.sync_api import Browser, Page, expect

from config.postgres import PrivatePostgres
from config.supervisor import ROOT
from deploy.otree_demo.server import Otree
from tests import walking
from tests.examples import blocks

pytestmark = [pytest.mark.browser, pytest.mark.otree]

STACKS = ("sqlite",)
"""The connection to oTree does not depend on Parley's database."""
STUDY = "otree-demo"
MINUTE = 60
LOSS = "10%"
"""The quiz's correct answer: the share of the money lost per round."""


@pytest.fixture(scope="session", autouse=True)
def program() -> Path:
    """Return oTree's program, installed if missing; OTREE_PROGRAM can name another one."""
    named_program = os.environ.get("OTREE_PROGRAM")
    if not named_program:
        process = subprocess.run([ROOT / "deploy/setup/otree.sh"], capture_output=True, text=True)
        if process.returncode:
            reason = (process.stderr.strip() or "no message").splitlines()[-1]
            pytest.skip(f"oTree cannot be installed here: {reason}")
    return Path(named_program) if named_program else ROOT / ".venv-otree" / "bin" / "otree"


@dataclass(frozen=True)
class Experiment:
    """oTree and Parley, configured for each other.

    Attributes:
        alone: oTree's wide export, made while its only session contained only the app `parley`.
    """

    server: Otree
    alone: list[list[str]]

    def session(self, config: str = "with_parley") -> str:
        """Create a session for two through oTree's REST API; return its session-wide link."""
        session_config = {"session_config_name": config, "num_participants": 2}
        return str(request(self.server, "POST", "/api/sessions", json=session_config).json()["session_wide_url"])

    def export(self, name: str, **parameters: str) -> list[list[str]]:
        """Return one of oTree's own exports."""
        return list(csv.reader(io.StringIO(self.exported(name, **parameters))))

    def exported(self, name: str, **parameters: str) -> str:
        """Return one of oTree's own exports as a file's text."""
        return request(self.server, "GET", f"/api/{name}", params=parameters).raise_for_status().text

    def rows(self, name: str = "export_app", **parameters: str) -> list[dict[str, str]]:
        """Return one of oTree's exports of the app as dictionaries."""
        header, *rows = self.export(name, app="parley", **parameters)
        return [dict(zip(header, row, strict=True)) for row in rows]

    def player(self, code: str) -> dict[str, str]:
        """Return a participant's row in oTree's export of the app."""
        return next(row for row in self.rows() if row["participant.code"] == code)

    def turns(self, code: str) -> list[dict[str, str]]:
        """Return the turns of a participant's match in oTree's custom export."""
        return [row for row in self.rows("export_app_custom") if row["participant"] == code]


def connect(server: Otree, stack: Any) -> dict[str, str]:
    """Let the study be this server's, creating it if needed; return the server's settings."""
    study = {"purpose": "study", "stage": {"quiz": True}}
    settings: dict[str, str] = stack.call("deploy.otree_demo.study.make_study", server.url, server.rest_key, **study)
    return settings


def start_experiment(server: Otree, stack: Any) -> Experiment:
    """Start the server with an empty database, and create the study to which it sends participants."""
    server.prepare(parley=stack.url, **connect(server, stack))
    server.start()
    experiment = Experiment(server, alone=[])
    experiment.session("parley_alone")
    experiment.alone.extend(experiment.export("export_wide"))
    return experiment


@pytest.fixture(scope="module")
def experiment(program: Path, stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Experiment]:
    server = Otree(tmp_path_factory.mktemp("otree"), program)
    try:
        yield start_experiment(server, stack)
    finally:
        server.stop()


def start_participant(browser: Browser, link: str) -> Page:
    """Enter through the session-wide link and answer the survey before the game."""
    page = browser.new_context().new_page()
    page.set_default_timeout(walking.TURN)
    page.goto(link)
    page.locator('input[value="sometimes"]').check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("link", name="Go to the game")).to_be_visible()
    return page


def return_link(page: Page) -> str:
    """Return the link on the last page in Parley that leads back to oTree."""
    return str(page.get_by_role("link", name="Back to the experiment").get_attribute("href"))


def code_of(return_url: str) -> str:
    return return_url.rpartition("/")[2]


def play(page: Page, role: str) -> None:
    """Go through Parley to its last page."""
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
    walking.press_continue(page)
    page.locator('main input[type="radio"]').first.wait_for()


def answer_quiz(page: Page) -> None:
    """Answer the question after the game correctly."""
    walking.answer_quiz(page, option=LOSS)
    expect(page.get_by_role("link", name="Back to the experiment")).to_be_visible()


def finish(page: Page) -> None:
    """Go through the rest of the experiment in oTree."""
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def moves(rows: list[dict[str, str]]) -> list[tuple[str, Any]]:
    return [(row["turn_role"], json.loads(row["move"])) for row in rows]


def test_two_participants_play_in_parley_and_return(browser, stack, experiment, tmp_path):
    link = experiment.session()
    people = {role: start_participant(browser, link) for role in ("alice", "bob")}

    # Nobody can skip the game.
    people["alice"].get_by_role("button", name="I have finished").click()
    expect(people["alice"].get_by_text("not finished yet")).to_be_visible()
    codes = {}
    for role, page in people.items():
        play(page, role)
        answer_quiz(page)
        codes[role] = code_of(return_link(page))
        page.get_by_role("link", name="Back to the experiment").click()
        finish(page)
        page.context.close()

    players = {role: experiment.player(code) for role, code in codes.items()}
    for role, row in players.items():
        assert row["player.parley_role"] == role
        cents = int(row["player.parley_base_cents"]) + int(row["player.parley_bonus_cents"])
        assert round(float(row["player.payoff"]) * 100) == cents > 0
        own_turns = experiment.turns(codes[role])
        assert [turn["turn"] for turn in own_turns] == [str(i) for i in range(1, len(own_turns) + 1)]
        (offerer, offer), (answerer, answer) = moves(own_turns)
        assert (offerer, offer["alice_gain"], offer["bob_gain"]) == ("alice", 5000, 5000)
        assert (answerer, answer) == ("bob", {"decision": "accept"})

    # Parley's own wide export agrees with it, under exactly oTree's header.
    wide_export = Path(
        stack.call("tests.actions.export_dataset", STUDY, str(tmp_path / "d"), ["otree"]), "all_apps_wide.csv"
    )
    with wide_export.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == experiment.alone[0]
    by_match = {
        row["parley.1.player.parley_match"]: row for row in (dict(zip(header, row, strict=True)) for row in rows)
    }
    for row in players.values():
        row_in_parley = by_match[row["player.parley_match"]]
        for name in ("role", "payoff", *(name[7:] for name in row if name.startswith("player.parley_"))):
            assert row_in_parley[f"parley.1.player.{name}"] == row[f"player.{name}"], name
        assert row_in_parley["participant.payoff"] == row["participant.payoff"]
        assert row["participant.code"] not in wide_export.read_text(), "oTree's participant codes stay in oTree"


@pytest.fixture
def in_pairs(stack, experiment: Experiment) -> Iterator[Experiment]:
    """Launch a version of the study in which two people play with each other."""
    alone = stack.call("tests.actions.draft_of", STUDY)
    pairs = {"factors": {}, "seats": {"*": "person"}, "agents": {}, "ready": 0}
    stack.call("tests.actions.launch_again", STUDY, pairs)
    yield experiment
    stack.call("tests.actions.launch_again", STUDY, {name: alone[name] for name in ("factors", "agents", "journey")})


def joined_as_documented(folder: Path) -> Any:
    """Return the table that the documentation's example makes of the exports in a folder."""
    (example,) = [block for block in blocks(ROOT / "docs" / "otree.md", "python") if "merge" in block.code]
    names: dict[str, Any] = {}
    with contextlib.chdir(folder):
        exec(example.code, names)
    return names["joined"]


def test_otree_participants_meet_in_one_lobby(browser, stack, in_pairs, tmp_path):
    link = in_pairs.session()
    waiting_pages = [start_participant(browser, link) for _number in range(2)]
    for page in waiting_pages:
        page.get_by_role("link", name="Go to the game").click()
        walking.consent_and_name(page)
        walking.read_instructions(page)
    for page in waiting_pages:
        expect(page.get_by_text("(you)", exact=True)).to_be_visible(timeout=walking.TURN)
    offers = [page for page in waiting_pages if page.get_by_text("Alice (you)").count()]
    (alice,) = offers
    (bob,) = [page for page in waiting_pages if page is not alice]
    walking.offer(alice, "6000", "4000", role="alice")
    walking.expect_turn(bob, "answer")
    walking.answer(bob, "accept")
    results, codes = {}, []
    for role, page in {"alice": alice, "bob": bob}.items():
        walking.expect_over(page)
        walking.press_continue(page)
        answer_quiz(page)
        code = code_of(return_link(page))
        page.get_by_role("link", name="Back to the experiment").click()
        finish(page)
        page.context.close()
        codes.append(code)
        results[role] = in_pairs.player(code)
        assert moves(in_pairs.turns(code))[-1] == ("bob", {"decision": "accept"}), "both players' moves"
    assert results["alice"]["player.parley_match"] == results["bob"]["player.parley_match"] != ""
    assert {role: row["player.parley_role"] for role, row in results.items()} == {"alice": "alice", "bob": "bob"}
    payoffs = {role: float(row["player.parley_payoff"]) for role, row in results.items()}
    assert payoffs == {"alice": 6000, "bob": 4000}
    assert all(float(row["player.payoff"]) > 0 for row in results.values())
    matches = in_pairs.rows("export_app_custom", function_name="custom_export_matches")
    assert {row["participant"]: (row["role"], row["opponent"]) for row in matches if row["participant"] in codes} == {
        codes[0]: ("alice", "human"),
        codes[1]: ("bob", "human"),
    }

    # The documented join gives each of the two exactly one row of each file, though they share a match.
    (tmp_path / "parley.csv").write_text(in_pairs.exported("export_app", app="parley"))
    stack.call("tests.actions.export_dataset", STUDY, str(tmp_path / "dataset"), ["csv"])
    joined = joined_as_documented(tmp_path)
    pair = joined[joined["participant.code"].isin(codes)]
    assert len(pair) == 2 and pair["person"].nunique() == 2
    assert list(pair["player.parley_participant"]) == list(pair["participant"])
    assert pair["player.parley_match"].nunique() == 1


def kill_and_restart(browser: Browser, stack: Any, experiment: Experiment, *, min_seconds: float) -> tuple[int, float]:
    """Kill oTree before a game ends, and restart it after at least `min_seconds` seconds and two failed attempts.

    Return how many attempts were needed to send the result, and how long oTree was down.
    """
    link = experiment.session()
    page, waiting_page = start_participant(browser, link), start_participant(browser, link)
    play(page, "alice")
    experiment.server.kill()
    killed_at = time.monotonic()
    answer_quiz(page)
    return_url = return_link(page)
    page.context.close()  # the participant does not return, so Parley must send the result
    stack.call("tests.actions.await_failed_attempts", 2)
    time.sleep(max(0.0, min_seconds - (time.monotonic() - killed_at)))
    experiment.server.start()
    seconds_down = time.monotonic() - killed_at
    attempts = stack.call("tests.actions.await_delivery", patience=240)
    stack.halt("web")
    try:
        page_after = browser.new_context().new_page()
        page_after.goto(return_url)
        finish(page_after)  # oTree uses the result that was sent; it cannot ask for it now
        page_after.context.close()
        waiting_page.get_by_role("button", name="I have finished").click()
        expect(waiting_page.get_by_text("nothing is lost")).to_be_visible()
        waiting_page.context.close()
    finally:
        stack.restart("web")
        deadline = time.monotonic() + MINUTE
        while not stack.is_healthy() and time.monotonic() < deadline:
            time.sleep(0.1)
    row = experiment.player(code_of(return_url))
    assert row["player.parley_ending"] == "completed"
    assert float(row["player.payoff"]) > 0
    assert len(experiment.turns(code_of(return_url))) == 2
    return attempts, seconds_down


@pytest.mark.slow
def test_result_reaches_otree_after_a_crash(browser, stack, experiment):
    attempts, _seconds_down = kill_and_restart(browser, stack, experiment, min_seconds=0)
    assert attempts > 2


@pytest.mark.slow
def test_participant_continues_after_closing_either_page(browser, stack, experiment):
    page = start_participant(browser, experiment.session())
    context, waiting_url = page.context, page.url
    page.get_by_role("link", name="Go to the game").click()
    walking.consent_and_name(page)
    instructions = page.url

    # Parley's page is closed, and then oTree's too.
    page.close()
    page = context.new_page()
    page.goto(waiting_url)
    page.get_by_role("link", name="Go to the game").click()
    expect(page.locator('input[name="code_word"]')).to_be_visible()
    assert page.url == instructions
    context.close()

    # The participant continues in another browser, through oTree's own link for returning.
    code = max(experiment.rows(), key=lambda row: row["participant.time_started_utc"])["participant.code"]
    page = browser.new_context().new_page()
    page.goto(f"{experiment.server.url}/InitializeParticipant/{code}")
    page.get_by_role("link", name="Go to the game").click()
    expect(page.locator('input[name="code_word"]')).to_be_visible()
    assert page.url == instructions
    page.context.close()


@pytest.mark.slow
def test_repeated_links_results_and_pages_count_once(browser, stack, experiment):
    page = start_participant(browser, experiment.session())
    link = str(page.get_by_role("link", name="Go to the game").get_attribute("href"))
    waiting_url = page.url
    play(page, "alice")
    answer_quiz(page)
    last_url, return_url = page.url, return_link(page)
    code = code_of(return_url)
    stack.call("tests.actions.await_delivery")
    page.goto(return_url)
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    first_result = experiment.player(code)
    ledger, enrolments = stack.call("tests.actions.ledger", STUDY), stack.call("tests.actions.count_enrolments", STUDY)

    # Opening the same link again, here or in another browser, leads to the last page and starts no second game.
    for browsing in (page, browser.new_context().new_page()):
        browsing.goto(link)
        assert browsing.url == last_url
        expect(browsing.get_by_role("link", name="Back to the experiment")).to_be_visible()
    # The same result arrives again through oTree's REST API, and then a forged, better one.
    sent = stack.call("tests.actions.otree_vars", STUDY, code)
    for posted in (sent, {name: {**RESULT, "payoff_cents": 99_900} for name in sent}):
        request(experiment.server, "POST", f"/api/participant_vars/{code}", json={"vars": posted}).raise_for_status()
    # The participant opens Play again, and Done twice.
    page.goto(waiting_url)
    page.goto(return_url)
    finish(page)
    page.goto(return_url)
    page.context.close()

    now = experiment.player(code)
    for name in ("player.payoff", "participant.payoff", "player.parley_match", "player.parley_base_cents"):
        assert now[name] == first_result[name]
    assert len(experiment.turns(code)) == 2
    assert stack.call("tests.actions.ledger", STUDY) == ledger
    assert stack.call("tests.actions.count_enrolments", STUDY) == enrolments


@pytest.mark.parametrize(("per_point", "points"), [(0.01, "193.0"), (0.001, "1930.0"), (1.0, None)])
def test_points_pay_exact_cents_or_the_session_is_refused(points_server, per_point, points):
    session_config = {
        "session_config_name": "parley_alone",
        "num_participants": 1,
        "modified_session_config_fields": {"real_world_currency_per_point": per_point},
    }
    answer = request(points_server, "POST", "/api/sessions", json=session_config)
    if points is None:
        assert answer.status_code == 500 and is_logged(points_server, "no payoff is worth one cent")
        return
    code = enter_session(points_server, answer.json()["session_wide_url"])
    send_result(points_server, code, RESULT)
    assert "The game is over" in (page := current_page(points_server, code))
    assert "$1.93" in page and "193 points" not in page, "points are those of the game"
    row = Experiment(points_server, alone=[]).player(code)
    assert (row["player.payoff"], row["participant.payoff"]) == (points, points)


KEY = "k" * 64
TURN = {"number": 1, "role": "alice", "move": {}, "by": None, "seconds": 1.5}
MATCH = {
    **{"match": "m1", "game": "bargaining", "role": "alice", "opponents": {"bob": "fair"}, "payoff": 5000.0},
    **{"moved_by": [], "turns": [TURN]},
}
RESULT = {
    **{"state": "finished", "ending": "completed", "participant": "p-1", "cell": 2, "role": "alice"},
    **{"payoff_cents": 193, "base_cents": 100, "bonus_cents": 93, "currency": "USD", "matches": [MATCH]},
}
"""The result of a participant who has played."""


def request(server: Otree, method: str, path: str, **options: Any) -> httpx.Response:
    """Return oTree's response, following redirects."""
    # Loading certificates, which are not needed here, would take longer than the request.
    options |= {"follow_redirects": True, "timeout": 30, "verify": False}
    return httpx.request(method, f"{server.url}{path}", headers={"otree-rest-key": server.rest_key}, **options)


def enter_session(server: Otree, link: str) -> str:
    """Enter through the session-wide link; return the new participant's code."""
    return request(server, "GET", link.removeprefix(server.url)).url.path.split("/")[2]


def send_result(server: Otree, code: str, result: dict[str, Any]) -> None:
    """Send a participant's result to oTree as Parley does."""
    post_result(server, code, [sign(code, result)])


def sign(code: str, result: dict[str, Any], **claims: str) -> str:
    """Return a result signed for a participant."""
    own_claims = {"aud": "otree:result", "study": "nowhere", "sub": code, "round": "parley/1", "result": result}
    return jwt.encode({**own_claims, **claims}, KEY, "HS256")


def post_result(server: Otree, code: str, posted: Any) -> None:
    """Post anything at all as a participant's result."""
    request(server, "POST", f"/api/participant_vars/{code}", json={"vars": {"parley/1": posted}}).raise_for_status()


def current_page(server: Otree, code: str) -> str:
    """Return the page that a participant is on."""
    return request(server, "GET", f"/InitializeParticipant/{code}").text


def advance(server: Otree, session: str, code: str, *, pages: int) -> None:
    """Advance a participant as the experimenter does on the session's monitor."""
    for _i in range(pages):
        request(server, "POST", f"/AdvanceSession/{session}", data={"selected_participant": code}).raise_for_status()


def test_only_a_result_that_parley_signed_for_the_participant_is_paid(points_server):
    session_config = {"session_config_name": "parley_alone", "num_participants": 2}
    session = request(points_server, "POST", "/api/sessions", json=session_config).raise_for_status().json()
    code, other_code = (enter_session(points_server, session["session_wide_url"]) for _i in range(2))
    link = re.search(r"token=([\w.-]+)", current_page(points_server, code))
    assert link is not None
    for forged in (
        {**RESULT, "payoff_cents": 99_900},
        [{**RESULT, "payoff_cents": 99_900}],
        [jwt.encode({"aud": "otree:result", "sub": code, "round": "parley/1", "result": RESULT}, "f" * 64, "HS256")],
        [sign(other_code, RESULT)],
        [sign(code, RESULT, round="parley/2")],
        [sign(code, RESULT, study="another")],
        [sign(code, RESULT, aud="parley:play")],
        [link[1]],
        ["", "..", "ä.ö.ü"],
        "nonsense",
    ):
        post_result(points_server, code, forged)
        assert "Go to the game" in current_page(points_server, code), forged
        assert "completed" not in request(points_server, "GET", f"/AdminReport/{session['code']}").text
    send_result(points_server, code, RESULT)
    assert "$1.93" in current_page(points_server, code)


@pytest.mark.slow
def test_play_continues_without_a_click(browser, points_server):
    """Such as after the end of the time in the lobby, in which the participant closed Parley's page."""
    page = browser.new_context().new_page()
    page.clock.install()
    page.goto(new_session(points_server))
    code = page.url.split("/")[4]
    page.clock.run_for(11_000)
    expect(page.get_by_role("link", name="Go to the game")).to_be_visible()
    send_result(points_server, code, {**RESULT, "ending": "no_partner", "matches": []})
    page.clock.run_for(11_000)
    expect(page.get_by_text("Your game ended early")).to_be_visible()
    page.context.close()
    row = next(row for row in Experiment(points_server, alone=[]).rows() if row["participant.code"] == code)
    assert (row["player.parley_participant"], row["player.parley_match"]) == ("p-1", ""), "the key for joining"


def test_every_match_of_a_journey_is_exported(points_server):
    code = enter_session(points_server, new_session(points_server))
    taken_over = {**MATCH, "match": "m2", "moved_by": ["clock", "script:fair"], "payoff": None}
    send_result(points_server, code, {**RESULT, "matches": [MATCH, taken_over]})
    assert "$1.93" in current_page(points_server, code)
    exported = Experiment(points_server, alone=[])
    matches = exported.rows("export_app_custom", function_name="custom_export_matches")
    columns = ("parley_participant", "cell", "number", "match", "opponent", "moved_by", "payoff")
    assert [tuple(row[name] for name in columns) for row in matches if row["participant"] == code] == [
        ("p-1", "2", "1", "m1", "fair", "", "5000.0"),
        ("p-1", "2", "2", "m2", "fair", "clock, script:fair", ""),
    ]
    assert [row["match"] for row in exported.turns(code)] == ["m1", "m2"]
    assert exported.player(code)["player.parley_match"] == "m2", "the last one"


def test_links_say_what_the_session_asks_for(points_server):
    fields = {"parley_cells": [4, 2], "parley_meet": "anyone"}
    link = new_session(points_server, num_participants=3, modified_session_config_fields=fields)
    said = [claims_of(current_page(points_server, enter_session(points_server, link))) for _i in range(3)]
    assert [claims["cell"] for claims in said] == [4, 2, 4]
    assert {(claims["session"], claims["group"], claims["meet"]) for claims in said} == {
        (said[0]["session"], 1, "anyone")
    }
    assert len({claims["sub"] for claims in said}) == 3 and {claims["round"] for claims in said} == {"parley/1"}


def claims_of(page: str) -> dict[str, Any]:
    """Return the claims of the link to Parley on a page."""
    (token,) = re.findall(r"token=([\w.-]+)", page)
    return jwt.decode(token, KEY, algorithms=["HS256"], audience="parley:play")


def new_session(server: Otree, **options: Any) -> str:
    """Create a session with the game alone; return its session-wide link."""
    options = {"session_config_name": "parley_alone", "num_participants": 1, **options}
    return str(request(server, "POST", "/api/sessions", json=options).raise_for_status().json()["session_wide_url"])


def test_a_session_that_could_not_work_is_refused(experiment):
    """The command runs beside the server, which can therefore answer Parley's test."""
    key = experiment.server.environment["PARLEY_LINK_KEYS"].partition(":")[2]
    for changes, reason in [
        ({}, ""),
        ({"OTREE_AUTH_LEVEL": ""}, "Set OTREE_AUTH_LEVEL=STUDY"),
        ({"OTREE_URL": ""}, "lacks OTREE_URL"),
        ({"OTREE_URL": "http://127.0.0.1:9"}, "not an address of the study's"),
        ({"PARLEY_LINK_KEYS": f"{STUDY}:{key[::-1]}"}, f"accept the key for {STUDY}"),
        ({"PARLEY_LINK_KEYS": f"another:{key}"}, "accept the key for another"),
        ({"PARLEY_LINK_KEYS": key}, "no key for the study"),
        ({"PARLEY_URL": "http://127.0.0.1:9"}, "cannot be reached at http://127.0.0.1:9"),
        ({"PARLEY_URL": experiment.server.url}, "is PARLEY_URL correct?"),
    ]:
        command = [experiment.server.program, "create_session", "parley_alone", "1"]
        environment = {**experiment.server.environment, **changes}
        made = subprocess.run(command, cwd=experiment.server.folder, env=environment, capture_output=True, text=True)
        assert (made.returncode == 0) == (not reason), made.stderr[-2000:]
        assert reason in made.stderr and key not in made.stderr, made.stderr[-2000:]


@pytest.mark.slow
def test_late_results_of_advanced_participants_are_paid(points_server):
    session_config = {"session_config_name": "with_parley", "num_participants": 2}
    session = request(points_server, "POST", "/api/sessions", json=session_config).raise_for_status().json()
    early_code, late_code = (enter_session(points_server, session["session_wide_url"]) for _i in range(2))
    advance(
        points_server, session["code"], early_code, pages=2
    )  # past the survey and Play, to the survey after the game
    advance(points_server, session["code"], late_code, pages=3)

    # One result arrives before the last page. The other arrives after it and is recorded by the report.
    send_result(points_server, early_code, RESULT)
    advance(points_server, session["code"], early_code, pages=1)
    assert "$1.93" in current_page(points_server, early_code)
    report = f"/AdminReport/{session['code']}"
    assert "Parley did not answer" in request(points_server, "GET", report).text, "the other result is missing"
    send_result(points_server, late_code, {**RESULT, "matches": [{**MATCH, "turns": [TURN, {"number": 2}]}]})
    assert request(points_server, "GET", report).status_code == 500
    send_result(points_server, late_code, RESULT)
    for _i in range(2):
        assert request(points_server, "GET", report).text.count("completed") == 2
    experiment = Experiment(points_server, alone=[])
    rows = {row["participant.code"]: row for row in experiment.rows()}
    turns = experiment.rows("export_app_custom")
    for code in (early_code, late_code):
        assert (rows[code]["player.payoff"], rows[code]["participant.payoff"]) == ("193.0", "193.0")
        assert [turn["turn"] for turn in turns if turn["participant"] == code] == ["1"]


def test_otree_bots_skip_the_game(points_server):
    session_config = {"session_config_name": "parley_alone", "num_participants": 1, "case_number": 0}
    session = (
        request(points_server, "POST", "/create_browser_bots_session", json=session_config).raise_for_status().text
    )
    (bot,) = request(points_server, "POST", f"/api/get_session/{session}", json={}).json()["participants"]
    assert "Go to the game" not in current_page(points_server, bot["code"])
    assert Experiment(points_server, alone=[]).player(bot["code"])["player.parley_ending"] == ""


def is_logged(server: Otree, text: str, *, patience: float = 30) -> bool:
    """Return whether the server logs this text in time."""
    deadline = time.monotonic() + patience
    while text not in server.log() and time.monotonic() < deadline:
        time.sleep(0.1)
    return text in server.log()


class SilentParley(BaseHTTPRequestHandler):
    """A Parley that accepts sessions and then answers nothing."""

    def do_GET(self) -> None:
        is_test = self.path.startswith("/api/v1/connection/")
        self.send_response(200 if is_test else 503)
        self.end_headers()
        self.wfile.write(b'{"problems": []}' if is_test else b"")

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def points_server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Otree]:
    """Run oTree as `otree startproject` sets it up, with payoffs in points, while Parley does not answer."""
    parley = ThreadingHTTPServer(("127.0.0.1", 0), SilentParley)
    threading.Thread(target=parley.serve_forever, daemon=True).start()
    server = Otree(tmp_path_factory.mktemp("points"), program)
    server.prepare(parley=f"http://127.0.0.1:{parley.server_port}", link_keys=f"nowhere:{KEY}")
    settings = server.folder / "settings.py"
    settings.write_text(settings.read_text().replace("USE_POINTS = False", "USE_POINTS = True"))
    server.environment["OTREE_SKIP_CSRF"] = "1"  # the tests press the monitor's button without loading its page
    server.start()
    try:
        yield server
    finally:
        server.stop()
        parley.shutdown()
        parley.server_close()


@pytest.mark.slow
def test_the_demo_takes_free_ports_and_prints_its_passwords(program, tmp_path):
    """Another program has the usual ports."""
    taken = [socket.socket() for _port in range(2)]
    for port, held in zip((8000, 8001), taken, strict=True):
        with contextlib.suppress(OSError):  # then something else has it
            held.bind(("127.0.0.1", port))
            held.listen()
    command = [sys.executable, "-m", "deploy.otree_demo.serve"]
    environment = {**os.environ, "PARLEY_DATA": str(tmp_path), "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}"}
    demo = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert demo.stdout is not None
    try:
        printed = "".join(iter(demo.stdout.readline, "Stop with Ctrl+C.\n"))
        addresses = dict(re.findall(r"^(oTree|Parley)[^:]*: (http://127\.0\.0\.1:\d+)", printed, re.MULTILINE))
        assert addresses.keys() == {"oTree", "Parley"} and not {"8000", "8001"} & set(re.findall(r":(\d+)", printed))
        assert httpx.get(f"{addresses['oTree']}/demo").status_code == 200
        otree_password, parley_password = re.findall(r"user admin, password (\S+)", printed)
        with httpx.Client(base_url=addresses["oTree"], follow_redirects=True) as otree:
            login_page = otree.get("/sessions")
            csrf_token = dict(re.findall(r'name="(csrf\w*)" value="(\d+)"', login_page.text))
            assert login_page.url.path == "/login" and csrf_token
            otree.post("/login", data={"username": "admin", "password": otree_password, **csrf_token})
            assert otree.get("/sessions").url.path == "/sessions"
        with httpx.Client(base_url=addresses["Parley"], follow_redirects=True) as parley:
            parley.get("/admin/login/")
            csrf_token = {"csrfmiddlewaretoken": parley.cookies["csrftoken"]}
            parley.post("/admin/login/", data={"username": "admin", "password": parley_password, **csrf_token})
            assert parley.get("/admin/").url.path == "/admin/"
    finally:
        demo.terminate()
        demo.wait(timeout=MINUTE)
        for held in taken:
            held.close()


@pytest.mark.slow
def test_result_reaches_otree_on_postgresql_after_an_outage(browser, stack, program, experiment, tmp_path):
    database = PrivatePostgres(durable=True)
    server = Otree(tmp_path / "otree", program, database_url=database.start())
    try:
        attempts, seconds_down = kill_and_restart(browser, stack, start_experiment(server, stack), min_seconds=MINUTE)
    finally:
        server.stop()
        database.stop()
        connect(experiment.server, stack)  # the study was connected to another server
    assert seconds_down >= MINUTE and attempts > 2
