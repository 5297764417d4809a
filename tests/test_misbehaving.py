"""A person plays against a misbehaving model in a browser; the game continues, or ends with pay, within the limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import slow_except
from games import registry
from games.play import configure
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.misbehaviours import (
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
from studies.tests import kit

pytestmark = pytest.mark.browser
GAMES = [key for key in registry.keys() if len(configure(registry.get(key), {}).roles()) > 1]
"""Games in which a person can have an opponent. The effect of a failing model does not depend on the game."""
STACKS = ("sqlite",)
"""The pages' content does not depend on the database."""
LIMIT = 8.0
"""Seconds that a study gives its opponent for a move."""
TIMEOUT = 1000 * (LIMIT + 20)
"""Milliseconds within which the person must see the result, with a margin for a dozen pages on a slow machine."""
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
QUICK = ("hung", "broken", "wrong-types", "declines")
"""One misbehaviour of each kind: no answer, an HTTP error, an unusable answer, a refusal."""
SLOW_KINDS = tuple(kind for kind in MISBEHAVIOURS if kind not in QUICK)
CASES = [
    ("bargaining", QUICK),
    ("bargaining", SLOW_KINDS),
    *((game, tuple(MISBEHAVIOURS)) for game in GAMES if game != "bargaining"),
]
SETTINGS = {"call_seconds": 2.0, "limit_seconds": LIMIT, "retries": 1, "tries_after_first": 1, "appears": "typed"}


@pytest.fixture(scope="module")
def standins() -> Iterator[dict[str, str]]:
    """Run a stand-in server for each misbehaviour; yield their addresses."""
    with ExitStack() as servers:
        yield {
            kind: f"http://127.0.0.1:{servers.enter_context(OpenAIStandIn([answer])).port}/v1"
            for kind, answer in MISBEHAVIOURS.items()
        }


def move_against(stack, standins: dict[str, str], game: str, kind: str, script: str = "") -> str:
    """Make a person's first move against a misbehaving model; return the path of their page.

    Each study has its own endpoint, so that failures in one neither open another's circuit nor close its admission.
    """
    slug = f"{kind}-{game}-{'script' if script else 'end'}".replace("_", "-")
    stack.call("tests.actions.add_endpoint", slug, standins[kind])
    fallback = {"fallback": "script"} if script else {}
    scripts = {"script": kit.agent(f"script:{script}")} if script else {}
    stack.launch_study(
        {
            "slug": slug,
            "title": kind,
            "game": game,
            "seats": {configure(registry.get(game), {}).roles()[0]: "person", "*": f"{slug}:any"},
            "agents": {f"{slug}:any": kit.agent(f"{slug}:any", **SETTINGS, **fallback), **scripts},
        }
    )
    path = stack.reach_first_turn(slug)
    stack.move(path, "random")
    return path


def reach_the_end(page: Page, kind: str) -> None:
    """Wait until the game ends, and continue to the last page if the game's page is still open."""
    ending = page.get_by_role("heading", name="The game could not continue", level=1)
    continue_button = page.get_by_role("button", name="Continue")
    expect(ending.or_(continue_button).first, kind).to_be_visible(timeout=TIMEOUT)
    if continue_button.is_visible():
        continue_button.click()
    expect(ending, kind).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize(("game", "kinds"), slow_except(CASES, CASES[:1]))
def test_misbehaving_model_ends_the_game_with_pay(stack, standins, browser: Browser, game: str, kinds: tuple[str, ...]):
    context = browser.new_context()
    pages = {}
    for kind in kinds:
        path = move_against(stack, standins, game, kind)
        pages[kind] = context.new_page()
        pages[kind].goto(stack.url + path)
    for kind, page in pages.items():
        reach_the_end(page, kind)
        expect(page.locator("main"), kind).to_contain_text("$2.00")
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", slow_except(GAMES, ("bargaining",)))
def test_fallback_script_continues_the_game(stack, standins, browser: Browser, game: str):
    context = browser.new_context()
    for kind in ("hung", "broken", "wrong-types"):
        page = context.new_page()
        page.goto(stack.url + move_against(stack, standins, game, kind, script=registry.get(game).default_script))
        next_form = page.locator("form.move").first
        continue_button = page.get_by_role("button", name="Continue")
        expect(next_form.or_(continue_button).first, kind).to_be_visible(timeout=TIMEOUT)
        assert "could not continue" not in page.locator("main").inner_text(), kind
    context.close()
