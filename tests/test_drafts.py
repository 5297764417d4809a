"""A participant sees in a browser how an answer is being written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.tests import kit
from tests.photographs import photograph

pytestmark = pytest.mark.browser
STACKS = ("sqlite",)
PITCH = "I <b>promise</b>: this one is good. " * 12


@pytest.fixture
def waiting_path(stack: Any) -> Iterator[str]:
    """Yield the path of a participant's page who waits for a seller while no worker runs."""
    stack.halt("worker")
    slug = stack.launch_study(
        {
            "slug": f"drafts-{os.urandom(3).hex()}",
            "title": "Drafts",
            "game": "persuasion",
            "config": {"message_type": "text"},
            "roles": ["bob"],
            "agents": {"vllm:model": kit.agent("vllm:model", **{"appears": "typed", "cap_study": 1.0})},
            "via": "open",
        }
    )
    yield stack.reach_first_turn(slug, role="bob")
    stack.restart("worker")


def call(stack: Any, name: str, *arguments: Any) -> None:
    stack.call(f"tests.drafting.{name}", *arguments)


def test_draft_grows_is_retracted_and_replaced_by_the_move(stack: Any, page: Page, waiting_path: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    with page.expect_event("websocket") as connecting:
        page.goto(stack.url + waiting_path)
    connecting.value.wait_for_event("framereceived", timeout=15_000)
    draft, writing = page.locator("[data-draft]"), page.locator("[data-writing]")
    expect(draft).to_have_text("")
    expect(writing).to_be_hidden()
    height = page.locator("#screen").bounding_box()["height"]
    photograph(page, "1-waiting")

    call(stack, "begin", waiting_path)
    call(stack, "add", waiting_path, '{"reasoning": "he trusts 1234", "price": 77, "message": "')
    expect(writing).to_be_visible()
    expect(writing).to_contain_text("is writing")
    call(stack, "add", waiting_path, PITCH[:20])
    expect(draft).to_have_text(PITCH[:20].strip())
    photograph(page, "2-begun")
    call(stack, "add", waiting_path, PITCH[20:])
    expect(draft).to_have_text(PITCH.strip())
    assert draft.locator("b").count() == 0
    assert "1234" not in page.content()
    assert draft.evaluate("e => e.scrollTop + e.clientHeight >= e.scrollHeight - 1")
    assert page.locator("#announcer").inner_text().count("promise") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#screen").bounding_box()["height"] == height
    photograph(page, "3-grown")

    call(stack, "retract", waiting_path)
    expect(writing).to_be_hidden()
    expect(draft).to_have_text("")
    assert page.locator("#screen").bounding_box()["height"] == height

    call(stack, "add", waiting_path, '{"message": "Another')
    expect(draft).to_have_text("Another")
    notice = page.locator("[data-next]")
    expect(notice).to_contain_text("within 2 minutes, the game ends")
    expect(notice).to_be_visible(timeout=15_000)
    assert page.locator("#screen").bounding_box()["height"] == height
    photograph(page, "4-long-wait")

    call(stack, "commit", waiting_path, {"message": "Another <i>pitch</i>"})
    expect(page.locator(".persuasion-pitch")).to_contain_text("Another <i>pitch</i>")
    expect(page.locator(".waiting")).to_have_count(0)
    call(stack, "add", waiting_path, " late")
    page.wait_for_timeout(500)
    assert "late" not in page.locator("#screen").inner_text()
    photograph(page, "5-committed")
