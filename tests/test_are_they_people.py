"""Known programs and known kinds of people play one of our games in a browser: the agent score of each.

docs/data-quality.md reports the results. Simulated people read 1,400 words a minute, far faster than real ones
and just below the limit, so that the test does not take as long as a study.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import openai
import pytest
from playwright.sync_api import Browser, Locator, Page

from llm_agents.standins.__main__ import StandInModel, serve
from opponents.agents import agents_from_specs
from quality.score import THRESHOLD
from tests import walking
from tests.test_counting import told

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STACKS = ("sqlite",)
MESSAGE = "I think that an equal split is fair for both of us, so let us take it and be done."
SET = "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }"
PER_MINUTE = 1400
SEEDS = (1, 2)


class Participant:
    """Goes through the study; each kind fills in, clicks and reads differently."""

    options: dict[str, Any] = {}

    def __init__(self, page: Page, seed: int):
        self.page, self.rng = page, Random(seed)

    def fill(self, field: Locator, text: str) -> None:
        raise NotImplementedError

    def press(self, target: Locator) -> None:
        raise NotImplementedError

    def write(self, field: Locator, text: str) -> None:
        """Write a long text; by default like any other field."""
        self.fill(field, text)

    def read(self) -> None:
        """Take the time to read the page; programs take none."""

    def message(self) -> str:
        return MESSAGE

    def walk(self, join: str) -> None:
        page = self.page
        page.goto(join)
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("checkbox").wait_for()
        self.press(page.get_by_role("checkbox"))
        self.press(page.get_by_role("button", name="Begin"))
        self.fill(page.locator("input[name=name]"), "Robin")
        self.press(page.locator("main button[type=submit]"))
        page.locator("input[name=code_word]").wait_for()
        self.read()
        self.fill(page.locator("input[name=code_word]"), walking.hidden_code_word(page))
        self.press(page.locator("main button[type=submit]"))
        walking.expect_turn(page, "offer")
        page.wait_for_load_state()
        self.fill(page.locator("input[name=alice_gain]"), "5000")
        self.fill(page.locator("input[name=bob_gain]"), "5000")
        self.write(page.locator("textarea[name=message]"), self.message())
        self.press(page.locator("form.move button[type=submit]:visible").first)
        walking.expect_over(page)
        self.press(page.get_by_role("button", name="Continue"))
        page.get_by_role("radio").first.wait_for()


# ---- programs --------------------------------------------------------------------------------------------


class FillsAndClicks(Participant):
    """Like most browser agents: sets fields and clicks the centre; the stand-in model writes the message."""

    def fill(self, field: Locator, text: str) -> None:
        field.fill(text)

    def press(self, target: Locator) -> None:
        target.click()

    def message(self) -> str:
        """Ask the stand-in model, which is shown the page and its fields."""
        with serve(StandInModel(seed=self.rng.randrange(100), delay=0, prose=False, misbehaves=()), 0) as standin:
            client = openai.OpenAI(base_url=standin.environment["OPENAI_BASE_URL"], api_key="none")
            asked = [{"role": "user", "content": self.page.locator("body").inner_text()}]
            schema = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
            form = {"type": "json_schema", "json_schema": {"name": "fields", "schema": schema}}
            told = client.chat.completions.create(model="gpt-4o-mini", messages=asked, response_format=form)
        said = re.search(r'"message":\s*"([^"]+)"', told.choices[0].message.content or "")
        return said[1] if said else MESSAGE


class TypesEvenly(FillsAndClicks):
    """Sends keystrokes at equal intervals."""

    def fill(self, field: Locator, text: str) -> None:
        field.click()
        field.fill("")
        field.press_sequentially(text, delay=30)

    def message(self) -> str:
        return MESSAGE


class RunsScripts(FillsAndClicks):
    """Works on the document, not on the screen."""

    def fill(self, field: Locator, text: str) -> None:
        field.evaluate(SET, text)

    def press(self, target: Locator) -> None:
        target.evaluate("(target) => target.click()")

    def message(self) -> str:
        return MESSAGE


class FillsEverything(RunsScripts):
    """Fills in every field in the document."""

    def read(self) -> None:
        for trap in self.page.locator("#helper").all():
            trap.evaluate(SET, "assistant")


class ActsLikeAPerson(Participant):
    """Moves, types and reads like a person: made to be missed."""

    def fill(self, field: Locator, text: str) -> None:
        self.press(field)
        field.press("ControlOrMeta+a")
        for letter in text:
            self.page.keyboard.type(letter)
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    def press(self, target: Locator) -> None:
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box is not None
        x = box["x"] + box["width"] * self.rng.uniform(0.2, 0.8)
        y = box["y"] + box["height"] * self.rng.uniform(0.25, 0.75)
        self.page.mouse.move(x + self.rng.uniform(-90, 90), y + self.rng.uniform(-40, 40), steps=4)
        self.page.mouse.move(x, y, steps=6)
        self.page.mouse.click(x, y)

    def read(self) -> None:
        words = len(self.page.locator("main").inner_text().split())
        self.page.wait_for_timeout(words / PER_MINUTE * 60_000)


# ---- people ----------------------------------------------------------------------------------------------


class Typist(ActsLikeAPerson):
    """A person with a mouse who types."""


class Paster(ActsLikeAPerson):
    """A person who writes elsewhere and pastes."""

    options = {"permissions": ["clipboard-read", "clipboard-write"]}

    def write(self, field: Locator, text: str) -> None:
        self.press(field)
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("ControlOrMeta+v")


class FastReader(ActsLikeAPerson):
    """A person who skims the instructions at twice the speed that gives a reason: one, and no flag."""

    def read(self) -> None:
        words = len(self.page.locator("main").inner_text().split())
        self.page.wait_for_timeout(words / (2 * 1500) * 60_000)


class Dictates(ActsLikeAPerson):
    """A person who dictates: words appear without keystrokes."""

    def write(self, field: Locator, text: str) -> None:
        self.press(field)
        for word in text.split():
            self.page.keyboard.insert_text(f"{word} ")
            self.page.wait_for_timeout(20)


class ScreenReader(Typist):
    """A person without a mouse: uses the keyboard, in focus order, and never reaches hidden fields."""

    def press(self, target: Locator) -> None:
        self.tab_to(target)
        self.page.keyboard.press("Enter" if target.evaluate("(t) => t.matches('button, a')") else "Space")

    def fill(self, field: Locator, text: str) -> None:
        self.tab_to(field)
        self.page.keyboard.press("ControlOrMeta+a")
        for letter in text:
            self.page.keyboard.type(letter)
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    def tab_to(self, target: Locator) -> None:
        handle = target.element_handle()
        for _step in range(60):
            if self.page.evaluate("(target) => document.activeElement === target", handle):
                return
            self.page.keyboard.press("Tab")
            assert not self.page.evaluate("() => !!document.activeElement?.closest('[aria-hidden=true]')")
        raise AssertionError("the keyboard does not reach it")


class DictatesByKeyboard(ScreenReader):
    """A person who uses both aids at once."""

    def write(self, field: Locator, text: str) -> None:
        self.tab_to(field)
        self.page.keyboard.insert_text(text)


class OnAPhone(Participant):
    """A person on a touch screen; the phone's keyboard completes words."""

    options = {"has_touch": True, "is_mobile": True, "viewport": {"width": 360, "height": 740}}

    def press(self, target: Locator) -> None:
        target.tap()

    def fill(self, field: Locator, text: str) -> None:
        field.tap()
        field.press("ControlOrMeta+a")
        for n, word in enumerate(text.split()):
            self.page.keyboard.type(f"{' ' * bool(n)}{word[:2]}", delay=self.rng.uniform(30, 90))
            self.page.keyboard.insert_text(word[2:])
            self.page.wait_for_timeout(self.rng.uniform(20, 90))

    read = ActsLikeAPerson.read


PROGRAMS = (FillsAndClicks, TypesEvenly, RunsScripts, FillsEverything)
PEOPLE = (Typist, Paster, FastReader, Dictates, ScreenReader, DictatesByKeyboard, OnAPhone)


@pytest.fixture(scope="module")
def join(stack) -> str:
    values = {"title": "Who", "slug": "who", "game": "bargaining", "roles": ["alice"], "entry": "open"}
    return (
        f"{stack.url}/join/{stack.launch_study({**values, 'agents': agents_from_specs('script:fair'), 'quota': 1000})}"
    )


@pytest.fixture
def seen(stack, browser: Browser, join: str) -> Callable[[type[Participant], int], tuple[float, tuple[str, ...]]]:
    """Send a participant through the study to the quiz; return the score and its reasons."""

    def walk(kind: type[Participant], seed: int) -> tuple[float, tuple[str, ...]]:
        context = browser.new_context(**kind.options)
        page = context.new_page()
        kind(page, seed).walk(join)
        path = page.url.removeprefix(stack.url)
        told(stack, path, lambda _views: "match" in stack.call("tests.actions.pages_reported", path))
        value, reasons, figures = stack.call("tests.actions.agent_score", path)
        context.close()
        print(f"\n{kind.__name__} {seed}: {value} {', '.join(reasons)} {figures}")
        return value, tuple(reasons)

    return walk


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", PROGRAMS)
def test_known_program_is_flagged(seen, kind, seed):
    assert seen(kind, seed)[0] >= THRESHOLD


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", PEOPLE)
def test_no_known_person_is_flagged(seen, kind, seed):
    assert seen(kind, seed)[0] < THRESHOLD


def test_a_program_that_acts_like_a_person_is_missed(seen):
    """Documented limit: a careful imitator is not detected by how pages are used."""
    assert seen(ActsLikeAPerson, 4)[0] < THRESHOLD
