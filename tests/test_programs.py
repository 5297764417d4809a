"""Researchers' own programs play on a live stack, against each other and against people, with the client's example."""

from __future__ import annotations

import csv
import json
import runpy
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from config.supervisor import ROOT
from exports.verify import verify
from studies.tests import kit
from tests import researching
from tests.photographs import photograph
from tests.researching import press
from tests.test_collecting import wait_until_done

CLIENT = ROOT / "clients" / "python"
EXAMPLE = runpy.run_path(str(CLIENT / "example_agent.py"))["decide"]
MATCHES = 10


@contextmanager
def playing(url: str, secret: str, decide: Any, **options: Any) -> Iterator[None]:
    """Let a program play until the end of the block."""
    sys.path.insert(0, str(CLIENT))
    try:
        from parley_client import play
    finally:
        sys.path.remove(str(CLIENT))
    stop = threading.Event()
    player = threading.Thread(target=play, args=(url, secret, decide), kwargs={"stop": stop, **options})
    player.start()
    try:
        yield
    finally:
        stop.set()
        player.join()


def clumsy(seat: Any) -> Any:
    """Send garbage first; then play as the example does."""
    if not seat.problem:
        return {"nonsense": True}
    return EXAMPLE(seat)


def greet(chat: Any) -> str | None:
    return None if chat["lines"] else f"Hello from {chat['role']}"


def test_documentation_shows_the_example():
    assert (CLIENT / "example_agent.py").read_text() in (ROOT / "docs" / "programs.md").read_text()


def test_client_stays_small():
    lines = [line for path in (CLIENT / "parley_client").glob("*.py") for line in path.read_text().splitlines()]
    assert 0 < len(lines) <= 300


@pytest.mark.slow
@pytest.mark.services
def test_ten_matches_of_two_programs(stack):
    first, second = (stack.call("tests.actions.new_program", name) for name in ("first", "second"))
    with playing(stack.url, first, EXAMPLE, socket=True), playing(stack.url, second, clumsy, version="7"):
        config = json.dumps({"rounds": 4})
        agents = "program:first,program:second"
        plan = ["--game", "bargaining", "--config", config, "--agents", agents, "--seed", "1", "--no-same"]
        stack.manage("collect", "programs", *plan, "--repetitions", str(MATCHES // 2), "--no-wait", "--json")
        now = wait_until_done(stack, "programs", seconds=120)
    assert (now["status"], now["finished"], now["failed"]) == ("done", MATCHES, 0)
    assert stack.call("tests.actions.count_complete_matches", "programs")["replayed"] == MATCHES
    calls = stack.call("tests.actions.program_calls", "collection:programs")
    assert calls["program:second"]["rule_break"] == calls["program:second"]["move"] > 0
    assert set(calls["program:first"]) == {"move"}


@pytest.mark.slow
@pytest.mark.services
def test_ten_people_play_a_program(stack, tmp_path):
    secret = stack.call("tests.actions.new_program", "third")
    agent = kit.agent("program:third", fallback="fair")
    stack.launch_study(
        {
            "slug": "program-people",
            "title": "People and a program",
            "agents": {"mine": agent, "fair": kit.agent("script:fair")},
            "seats": {"alice": "person", "bob": "mine"},
            "chat": {},
        }
    )
    with playing(stack.url, secret, EXAMPLE, socket=True, talk=greet):
        paths = [stack.reach_first_turn("program-people") for _person in range(MATCHES)]
        stack.kill("worker")  # another goes on with the turns it has asked about
        for path in paths:
            while stack.move(path, "random", patience=60):
                pass
    matches = stack.call("tests.actions.ended_matches", "program-people")
    assert matches == [["finished", []]] * MATCHES  # nobody else moved for the program
    folder = stack.call("tests.actions.export_dataset", "program-people", str(tmp_path / "data"), ["csv", "jsonl"])
    assert verify(Path(folder)) == []
    calls = list(csv.DictReader((Path(folder) / "llm_calls.csv").open()))
    assert {(call["endpoint"], call["model"]) for call in calls} == {("program", "third")}
    messages = list(csv.DictReader((Path(folder) / "chat.csv").open()))
    assert [message["text"] for message in messages] == ["Hello from bob"] * MATCHES


@pytest.mark.slow
@pytest.mark.browser
def test_a_program_is_created_and_chosen_in_the_editor(stack, page: Page):
    researching.sign_in(stack, page, "/admin/programs/program/add/")
    page.get_by_label("Name").fill("my-agent")
    photograph(page, "new program")
    press(page, "Save")
    secret = page.get_by_label("Secret of program “my-agent”").input_value()
    assert httpx.get(f"{stack.url}/api/v1/seats", headers={"Authorization": f"Bearer {secret}"}).json() == {"seats": []}
    photograph(page, "secret of a program")
    page.get_by_role("link", name="All programs").click()
    photograph(page, "programs")
    page.get_by_role("link", name="my-agent").click()
    photograph(page, "program")
    page.get_by_role("button", name="New secret").click()
    assert page.get_by_label("Secret of program “my-agent”").input_value() != secret
    page.goto(f"{stack.url}/admin/studies/study/add/")
    researching.begin(page)
    researching.part(page, "Agents")
    page.get_by_label("Played by").first.select_option("!my-agent")
    page.get_by_text("How it is asked").click()
    expect(page.get_by_label("Seconds per move")).to_be_visible()
    expect(page.get_by_label("Temperature")).to_have_count(0)
    photograph(page, "agent that is a program")
    researching.save(page)
    draft = stack.call("tests.actions.draft_of", researching.slug_of(page))
    assert {"program": "my-agent"} in draft["agents"].values()
