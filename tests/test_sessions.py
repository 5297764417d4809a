"""A room starts a scheduled session together: in browsers, and as a crowd."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.accessibility import violations
from tests.photographs import PHONE, photograph
from tests.researching import sign_in
from tests.session_crowd import crowd

STACKS = ("sqlite", "postgres")
WITHIN = 5.0
"""Seconds between the first and the last person's start."""
QUIET_LOAD = 2.0
"""The load average up to which the first pages are timed: unlike the news of the start, they cost processor time."""
PATIENCE = 20_000
ROOM = 12


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_200_people_start_within_seconds_and_those_without_a_place_are_told(stack):
    is_quiet = os.getloadavg()[0] < QUIET_LOAD
    started = crowd(stack, "crowd", people=210, places=200)
    print(f"late {started.late:.1f} s, told within {started.told[-1]:.1f} s, begun within {started.begun[-1]:.1f} s")
    assert (len(started.begun), started.listed) == (200, 10)
    assert started.told[-1] <= WITHIN
    assert not is_quiet or started.begun[-1] - started.begun[0] <= WITHIN


def new_session(stack: Any, desk: Page, slug: str, **fields: str) -> str:
    """Create a session on the researcher's page; return its code."""
    desk.goto(stack.url + stack.call("tests.session_crowd.sessions_path", slug))
    for label, value in fields.items():
        desk.get_by_label(label.replace("_", " "), exact=False).fill(value)
    desk.get_by_role("button", name="Create session").click()
    return desk.url.rstrip("/").rpartition("/")[2]


@pytest.mark.slow
@pytest.mark.browser
def test_a_room_joins_by_code_starts_at_once_and_sees_its_results(stack, browser: Browser, page: Page):
    slug = f"room-{os.urandom(3).hex()}"
    stack.launch_study({"slug": slug, "title": "Room", "agents": "script:fair", "via": "open", "quota": 50})
    desk = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(stack, desk, stack.call("tests.session_crowd.sessions_path", slug))
    photograph(desk, "sessions")
    assert not violations(desk)
    code = new_session(stack, desk, slug, Places="1", Start="2030-12-01T09:00", Seats="PC 1")
    assert re.fullmatch(r"\w{6}", code)

    page.set_viewport_size(PHONE)
    page.goto(f"{stack.url}/s/")
    photograph(page, "session entrance")
    page.get_by_label("Code of the session").fill(code.lower())
    page.get_by_role("button", name="Enter").click()
    photograph(page, "session seat")
    page.get_by_label("Your seat").select_option("PC 1")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="You have a place")).to_be_visible()
    photograph(page, "session waiting")
    assert not violations(page)

    row = desk.locator("#m-here tr", has_text="PC 1")
    expect(row).to_contain_text("has a place", timeout=PATIENCE)
    photograph(desk, "session screen")
    assert not violations(desk)
    projector = desk.context.new_page()
    projector.goto(f"{desk.url}projector/")
    expect(projector.get_by_text(code, exact=True)).to_be_visible()
    photograph(projector, "session projector")
    assert not violations(projector)

    desk.get_by_role("link", name="Change").click()
    photograph(desk, "session changed")
    assert not violations(desk)
    desk.get_by_label("Start", exact=False).fill("2030-12-02T10:30")
    desk.get_by_role("button", name="Change session").click()
    expect(page.get_by_text("The start has been changed.")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("2 December 2030, 10:30")).to_be_visible()
    photograph(page, "session moved")
    desk.get_by_role("button", name="Start now").click()
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible(timeout=PATIENCE)
    expect(projector.get_by_text("started")).to_be_visible(timeout=PATIENCE)
    desk.close()


@pytest.mark.slow
@pytest.mark.browser
def test_a_waiting_list_reads_its_position_and_the_room_its_results(stack, browser: Browser, page: Page):
    slug = f"room-{os.urandom(3).hex()}"
    stack.launch_study({"slug": slug, "title": "Room", "agents": "script:fair", "via": "open", "quota": 50})
    desk = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(stack, desk, stack.call("tests.session_crowd.sessions_path", slug))
    seats = "\n".join(f"PC {number}" for number in range(1, ROOM + 2))
    code = new_session(stack, desk, slug, Places=str(ROOM), Start="", Seats=seats)
    stack.call("tests.session_crowd.fill_room", code, ROOM)
    page.goto(f"{stack.url}/s/{code}/?seat=PC {ROOM + 1}")
    expect(page.locator("#position")).to_have_text("1")
    photograph(page, "session waiting list")

    desk.goto(f"{desk.url}results/")
    expect(desk.get_by_text(f"{ROOM} people").first).to_be_visible()
    photograph(desk, "session results")
    assert not violations(desk)
    desk.go_back()
    with desk.expect_popup() as opened:
        desk.get_by_role("button", name="Receipt list").click()
    receipts = opened.value
    expect(receipts.get_by_role("cell", name="PC 12")).to_be_visible()
    photograph(receipts, "session receipts")
    receipts.emulate_media(media="print")
    photograph(receipts, "session receipts printed")
    desk.close()
