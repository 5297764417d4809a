"""A person waits in the browser for a model that misbehaves: the game goes on, or ends with pay, within the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from games import registry
from llm_agents.twins import OpenAITwin
from llm_agents.twins.misbehaviours import (
    CutStream,
    Disconnect,
    Drip,
    Empty,
    Failure,
    Hang,
    Malformed,
    Refusal,
    Slow,
    WrongModel,
    WrongTypes,
)

pytestmark = pytest.mark.browser
STACKS = ("sqlite",)
"""What a page shows does not depend on the database."""
LIMIT = 8.0
"""Seconds that a study gives its opponent for a move."""
WITHIN = 1000 * (LIMIT + 20)
"""Milliseconds within which the person must know; the rest is for a slow machine with a dozen open pages."""
MISBEHAVIOURS: dict[str, Any] = {
    "hung": Hang(60),
    "busy": Failure(429, retry_after=60),
    "broken": Failure(500),
    "hangs-up": Disconnect(),
    "cut": CutStream(),
    "dripping": Drip(2.0),
    "no-protocol": Malformed(),
    "wrong-types": WrongTypes(),
    "declines": Refusal(),
    "silent": Empty(),
    "unknown": WrongModel(),
    "late": Slow(30, "{}"),
}
ASKING = {"call_seconds": 2.0, "limit_seconds": LIMIT, "retries": 1, "tries_after_first": 1, "appears": "typed"}


@pytest.fixture(scope="module")
def twin(stack) -> Iterator[OpenAITwin]:
    """A server that misbehaves in the way that the model's name says, known to the stack as "twin"."""
    with OpenAITwin(lambda request: MISBEHAVIOURS[request["model"]]) as serving:
        stack.call("tests.deeds.keep_endpoint", "twin", f"http://127.0.0.1:{serving.port}/v1")
        yield serving


def sit_opposite(stack, game: str, kind: str, **asking) -> str:
    """A person has made the first move against this model; the path of their page."""
    slug = f"{kind}-{game}-{'script' if asking else 'end'}".replace("_", "-")
    stack.launch_study(
        {
            "slug": slug,
            "title": kind,
            "game": game,
            "roles": ["alice"],
            "agent": f"twin:{kind}",
            "asking": {**ASKING, **asking},
            "entry": "codes",
        }
    )
    path = stack.sit_down(slug)
    stack.move(path, "random")
    return path


@pytest.mark.parametrize("game", registry.keys())
def test_every_misbehaviour_ends_with_pay_and_says_so(stack, twin, browser: Browser, game: str):
    context = browser.new_context()
    pages = {}
    for kind in MISBEHAVIOURS:
        path = sit_opposite(stack, game, kind)
        pages[kind] = context.new_page()
        pages[kind].goto(stack.url + path)
    for kind, page in pages.items():
        heading = page.get_by_role("heading", level=1)
        expect(heading, kind).to_have_text("Your opponent could not go on", timeout=WITHIN)
        expect(page.locator("main"), kind).to_contain_text("$2.00")
    context.close()


@pytest.mark.parametrize("game", registry.keys())
def test_with_a_scripted_player_behind_it_the_game_goes_on(stack, twin, browser: Browser, game: str):
    script = registry.get(game).sparring
    context = browser.new_context()
    pages = {}
    for kind in ("hung", "broken", "wrong-types"):
        path = sit_opposite(stack, game, kind, script=script)
        pages[kind] = context.new_page()
        pages[kind].goto(stack.url + path)
    for kind, page in pages.items():
        expect(page.locator("form.move, main form button").first, kind).to_be_visible(timeout=WITHIN)
        assert page.get_by_role("heading", level=1).filter(has_text="failed").count() == 0
    context.close()
